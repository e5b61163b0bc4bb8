--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: vector; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;


--
-- Name: EXTENSION vector; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';


--
-- Name: note_stray_blob(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.note_stray_blob() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO stray_blobs (key, noted_at) VALUES (OLD.blob_key, now()) ON CONFLICT (key) DO NOTHING;
    RETURN NULL;
END
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: agent_versions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agent_versions (
    agent_id text NOT NULL,
    version integer NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    config jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_versions_version_check CHECK ((version > 0))
);


--
-- Name: agents; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agents (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    config jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT agents_version_check CHECK ((version > 0))
);


--
-- Name: api_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.api_keys (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text,
    name text NOT NULL,
    scope text NOT NULL,
    secret_hash bytea NOT NULL,
    secret_hint text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'runtime'::text, 'operator'::text, 'admin'::text])))
);


--
-- Name: bun_migration_locks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bun_migration_locks (
    id bigint NOT NULL,
    table_name character varying
);


--
-- Name: bun_migration_locks_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.bun_migration_locks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: bun_migration_locks_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.bun_migration_locks_id_seq OWNED BY public.bun_migration_locks.id;


--
-- Name: bun_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.bun_migrations (
    id bigint NOT NULL,
    name character varying,
    group_id bigint,
    migrated_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);


--
-- Name: bun_migrations_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.bun_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: bun_migrations_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.bun_migrations_id_seq OWNED BY public.bun_migrations.id;


--
-- Name: chunks; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.chunks (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    source_id text NOT NULL,
    index integer NOT NULL,
    content text NOT NULL,
    token_count integer NOT NULL,
    heading text NOT NULL,
    page_start integer NOT NULL,
    page_end integer NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    model text NOT NULL,
    embedding public.vector NOT NULL,
    CONSTRAINT chunks_index_check CHECK ((index >= 0))
);


--
-- Name: data_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.data_keys (
    id uuid NOT NULL,
    tenant_id text,
    master_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT data_keys_master_key_id_check CHECK ((master_key_id <> ''::text))
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    seq bigint NOT NULL,
    tenant_id text NOT NULL,
    event_id text NOT NULL,
    workspace_id text NOT NULL,
    type text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    relayed_at timestamp with time zone,
    "position" bigint,
    traceparent text DEFAULT ''::text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL
);


--
-- Name: events_position; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.events_position
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: events_position; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.events_position OWNED BY public.events."position";


--
-- Name: events_seq_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.events ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: idempotency_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency_keys (
    tenant_id text NOT NULL,
    caller_id text NOT NULL,
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    claim_id text NOT NULL,
    lease_until timestamp with time zone,
    answer bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_keys_caller_id_check CHECK ((caller_id <> ''::text)),
    CONSTRAINT idempotency_keys_check CHECK ((num_nonnulls(lease_until, answer) = 1)),
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_key_hash_check CHECK ((octet_length(key_hash) = 32))
);


--
-- Name: page_token_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.page_token_key (
    only_row boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    CONSTRAINT page_token_key_only_row_check CHECK (only_row),
    CONSTRAINT page_token_key_secret_check CHECK ((octet_length(secret) = 32))
);


--
-- Name: provider_credentials; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.provider_credentials (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    kind text NOT NULL,
    provider text NOT NULL,
    name text NOT NULL,
    base_url text NOT NULL,
    account_id text NOT NULL,
    default_model text NOT NULL,
    api_key bytea NOT NULL,
    api_key_hint text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT provider_credentials_kind_check CHECK ((kind = ANY (ARRAY['model'::text, 'stt'::text, 'tts'::text, 'telephony'::text]))),
    CONSTRAINT provider_credentials_provider_check CHECK ((provider <> ''::text))
);


--
-- Name: session_connection_numbers; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.session_connection_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: session_connections; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session_connections (
    session_id text NOT NULL,
    channel text NOT NULL,
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    node_id text NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT session_connections_channel_check CHECK ((channel = ANY (ARRAY['voice'::text, 'chat'::text])))
);


--
-- Name: sessions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sessions (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    agent_version integer NOT NULL,
    user_id text NOT NULL,
    modality text NOT NULL,
    status text NOT NULL,
    end_reason text DEFAULT ''::text NOT NULL,
    config jsonb NOT NULL,
    overrides jsonb NOT NULL,
    voice_stack_override jsonb NOT NULL,
    dynamic_variables jsonb NOT NULL,
    secret_variables bytea,
    variables_hash text NOT NULL,
    token_expires_at timestamp with time zone NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    turn_count integer DEFAULT 0 NOT NULL,
    input_tokens integer DEFAULT 0 NOT NULL,
    output_tokens integer DEFAULT 0 NOT NULL,
    tool_calls integer DEFAULT 0 NOT NULL,
    max_duration_seconds integer NOT NULL,
    idle_timeout_seconds integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    last_activity_at timestamp with time zone NOT NULL,
    dropped_at timestamp with time zone,
    ended_at timestamp with time zone,
    running_turn_id text,
    running_until timestamp with time zone,
    ending_at timestamp with time zone,
    ending_status text DEFAULT ''::text NOT NULL,
    ending_reason text DEFAULT ''::text NOT NULL,
    CONSTRAINT sessions_check CHECK (((running_turn_id IS NULL) = (running_until IS NULL))),
    CONSTRAINT sessions_check1 CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
    CONSTRAINT sessions_idle_timeout_seconds_check CHECK ((idle_timeout_seconds > 0)),
    CONSTRAINT sessions_max_duration_seconds_check CHECK ((max_duration_seconds > 0)),
    CONSTRAINT sessions_modality_check CHECK ((modality = ANY (ARRAY['voice'::text, 'voice+text'::text, 'text'::text]))),
    CONSTRAINT sessions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'failed'::text])))
);


--
-- Name: signing_keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.signing_keys (
    kid text NOT NULL,
    public_key bytea NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone
);


--
-- Name: source_attachments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_attachments (
    agent_id text NOT NULL,
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    usage_mode text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT source_attachments_usage_mode_check CHECK ((usage_mode = ANY (ARRAY['auto'::text, 'prompt'::text])))
);


--
-- Name: sources; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sources (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    media_type text NOT NULL,
    size_bytes bigint NOT NULL,
    sha256 text NOT NULL,
    blob_key text NOT NULL,
    status text NOT NULL,
    stage text DEFAULT ''::text NOT NULL,
    progress integer DEFAULT 0 NOT NULL,
    force_ocr boolean DEFAULT false NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    heartbeat_at timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    page_count integer DEFAULT 0 NOT NULL,
    chunk_count integer DEFAULT 0 NOT NULL,
    embedding_model text DEFAULT ''::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone,
    traceparent text DEFAULT ''::text NOT NULL,
    request_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT sources_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'inline'::text]))),
    CONSTRAINT sources_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
    CONSTRAINT sources_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT sources_stage_check CHECK ((stage = ANY (ARRAY[''::text, 'parsing'::text, 'ocr'::text, 'chunking'::text, 'embedding'::text]))),
    CONSTRAINT sources_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'ready'::text, 'failed'::text])))
);


--
-- Name: stray_blobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.stray_blobs (
    key text NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    condemned boolean DEFAULT false NOT NULL
);


--
-- Name: tenants; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tenants (
    id text NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_plan_check CHECK ((plan <> ''::text))
);


--
-- Name: tombstones; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tombstones (
    tenant_id text NOT NULL,
    id text NOT NULL,
    deleted_at timestamp with time zone NOT NULL
);


--
-- Name: tool_attachments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tool_attachments (
    agent_id text NOT NULL,
    tool_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    enabled boolean NOT NULL,
    max_calls_per_session integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT tool_attachments_max_calls_per_session_check CHECK ((max_calls_per_session >= 0))
);


--
-- Name: tool_call_counts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tool_call_counts (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    tool_id text NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT tool_call_counts_calls_check CHECK ((calls >= 0))
);


--
-- Name: tool_calls; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tool_calls (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text,
    turn_id text,
    tool_id text NOT NULL,
    slug text NOT NULL,
    input jsonb NOT NULL,
    output text NOT NULL,
    status_code integer DEFAULT 0 NOT NULL,
    latency_ms integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone NOT NULL
);


--
-- Name: tools; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tools (
    id uuid NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    slug text NOT NULL,
    description text NOT NULL,
    kind text NOT NULL,
    config jsonb NOT NULL,
    auth_header bytea,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT tools_kind_check CHECK ((kind = ANY (ARRAY['http'::text, 'mcp'::text])))
);


--
-- Name: turns; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.turns (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    index integer NOT NULL,
    user_text text NOT NULL,
    agent_text text NOT NULL,
    status text NOT NULL,
    messages json NOT NULL,
    citations jsonb NOT NULL,
    model text DEFAULT ''::text NOT NULL,
    input_tokens integer DEFAULT 0 NOT NULL,
    output_tokens integer DEFAULT 0 NOT NULL,
    metrics jsonb NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    error_message text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT turns_index_check CHECK ((index >= 0)),
    CONSTRAINT turns_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
);


--
-- Name: webhook_attempts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_attempts (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint_id text NOT NULL,
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code integer DEFAULT 0 NOT NULL,
    error text DEFAULT ''::text NOT NULL,
    request_headers jsonb NOT NULL,
    response_headers jsonb NOT NULL,
    response_body text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    duration_ms integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    CONSTRAINT webhook_attempts_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT webhook_attempts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text])))
);


--
-- Name: webhook_deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_deliveries (
    id bigint NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint_id text NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    event_seq bigint,
    test_body bytea,
    status text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    lease_until timestamp with time zone,
    queued_until timestamp with time zone,
    once boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_check CHECK ((num_nonnulls(event_seq, test_body) = 1)),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.webhook_deliveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: webhook_endpoints; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.webhook_endpoints (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    status text NOT NULL,
    disabled_reason text DEFAULT ''::text NOT NULL,
    consecutive_failures integer DEFAULT 0 NOT NULL,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    secret bytea NOT NULL,
    secret_hint text NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);


--
-- Name: workspaces; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.workspaces (
    id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    kb_used_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT workspaces_kb_used_bytes_check CHECK ((kb_used_bytes >= 0)),
    CONSTRAINT workspaces_name_check CHECK ((name <> ''::text))
);


--
-- Name: bun_migration_locks id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bun_migration_locks ALTER COLUMN id SET DEFAULT nextval('public.bun_migration_locks_id_seq'::regclass);


--
-- Name: bun_migrations id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bun_migrations ALTER COLUMN id SET DEFAULT nextval('public.bun_migrations_id_seq'::regclass);


--
-- Data for Name: agent_versions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agent_versions VALUES ('agt_01m7yah60jy1kyr5pt472vss6w', 1, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 05:51:09.867521+00');
INSERT INTO public.agent_versions VALUES ('agt_01m7yah60jy1kyr5pt472vss6w', 2, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 05:51:09.876211+00');


--
-- Data for Name: agents; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agents VALUES ('agt_01m7yah60jy1kyr5pt472vss6w', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'Ada', 2, '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 05:51:09.867521+00', '2026-11-21 05:51:09.876211+00');


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys VALUES ('key_01m7yah5zd6q3b5zbn1meq441n', 'ten_01m7yah5zavajrt7ga5ww9fnp6', NULL, 'operator', 'operator', '\x986f870e4c0820cda70e48f48475758c1d27abcfb840b41cca4545cb6555a2de', 'HQ3K', '2026-11-21 05:51:09.805436+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7yah5zd6q3b5zbn1ndf1psj', 'ten_01m7yah5zavajrt7ga5ww9fnp6', NULL, 'runtime', 'runtime', '\x420f6763484eb2e7427a846cdf3355f443a9bb61551a599d75d48f3cda2ce487', 'AG2m', '2026-11-21 05:51:09.805772+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7yah5zej9y3ypqefmjrc2gz', 'ten_01m7yah5zavajrt7ga5ww9fnp6', NULL, 'read', 'read', '\x2ab92309811d3d385c830f8d7daf4a29d74c779c7f6a07a02eb554e919923c10', '1afN', '2026-11-21 05:51:09.806057+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7yah5zavajrt7ga5zccmctk', 'ten_01m7yah5zavajrt7ga5ww9fnp6', NULL, 'first key', 'admin', '\x0b089291934f0df4fac43884cd0a02c1c80a05d1c0300d5f3315eff62edd20f7', 'YYE4', '2026-11-21 05:51:09.802012+00', NULL, '2026-11-21 05:51:09.829082+00');


--
-- Data for Name: bun_migration_locks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bun_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bun_migrations VALUES (1, '0001', 1, '2026-11-21 05:51:09.198995+00');
INSERT INTO public.bun_migrations VALUES (2, '0002', 1, '2026-11-21 05:51:09.20959+00');
INSERT INTO public.bun_migrations VALUES (3, '0003', 1, '2026-11-21 05:51:09.229211+00');
INSERT INTO public.bun_migrations VALUES (4, '0004', 1, '2026-11-21 05:51:09.255083+00');
INSERT INTO public.bun_migrations VALUES (5, '0005', 1, '2026-11-21 05:51:09.277748+00');
INSERT INTO public.bun_migrations VALUES (6, '0006', 1, '2026-11-21 05:51:09.308504+00');
INSERT INTO public.bun_migrations VALUES (7, '0007', 1, '2026-11-21 05:51:09.313784+00');
INSERT INTO public.bun_migrations VALUES (8, '0008', 1, '2026-11-21 05:51:09.318311+00');
INSERT INTO public.bun_migrations VALUES (9, '0009', 1, '2026-11-21 05:51:09.324525+00');
INSERT INTO public.bun_migrations VALUES (10, '0010', 1, '2026-11-21 05:51:09.325566+00');
INSERT INTO public.bun_migrations VALUES (11, '0011', 1, '2026-11-21 05:51:09.330597+00');


--
-- Data for Name: chunks; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.chunks VALUES ('chk_01m7yah66ajcwqsfqnr76hh93z', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'src_01m7yah62e3s0vwd0r69wsqjaj', 0, 'Handbook

Refunds

A refund is paid within fourteen days after the parcel has come back.', 20, 'Handbook > Refunds', 0, 0, 0, 88, 'parlance-lexical-hash-512', '[0.001256701,-0.0322887,0,0,0,0.010449271,-0.007863639,0.01342972,-0.007863639,0.019659098,0,-0.052013084,0.01342972,0.019659098,0,0,-0.03785478,0,-0.052013084,-0.0022528144,0.01342972,0,-0.01342972,0,0.02442506,0,0.02290083,0,0.007863639,-0.008742525,0,0,-0.06935078,0,0,0,0.01342972,-0.17337695,0.01342972,-0.052013084,-0.004760873,0.01342972,0,0.007818895,-0.17337695,0.008668847,-0.02442506,0.02442506,-0.033285744,0.015682535,0.007863639,0.008742525,0,0,-0.007818895,0,-0.0047659623,0.032353986,-0.01342972,0,0.01342972,0,0,0,0,0.007863639,-0.01342972,0.038850892,0,-0.019659098,0,0,0,0.15994723,-0.007863639,0,-0.007863639,0.015682535,0,0.08503331,-0.007200343,0,0,-0.052013084,-0.04969168,-0.027855555,0,0.021293359,0.01342972,0,0,0,0,-0.2935527,0.019659098,0,0,0,0.018858979,0,-0.007863639,0,0,0,-0.03308882,-0.01342972,0.01342972,0,-0.17337695,-0.007863639,-0.032243956,0,-0.008668847,0.007863639,-0.021293359,-0.033285744,0,0,0,0,0,0.007863639,-0.008668847,0,0.008668847,0.007863639,-0.007863639,-0.06935078,0.021293359,0,0,0,0.052013084,0,0,-0.02442506,-0.0062293774,0.01342972,0,-0.007863639,0,0,0.03785478,-0.010990251,0,0.01342972,0,0,0,0,-0.01342972,0,0,0,-0.03308882,0,0,0.025230268,0,-0.02685944,-0.015682535,0.0022528144,0,-0.2935527,-0.008668847,-0.01342972,-0.01342972,0.01342972,0.02442506,0,0,0,0,0.052013084,0,0.052013084,0,0,0,0.10163948,0,-0.01342972,0.01342972,0,-0.007863639,0,0.082780495,0.01342972,0,-0.01342972,0.03136507,0.015682535,0,-0.15994723,0,0,0,0.05592106,0,0.052013084,0,0,-0.007863639,0.007863639,0,0.014425834,0.015682535,0.045673676,0.01342972,0,0.007863639,-0.043344237,0.021293359,-0.01342972,-0.02442506,0,-0.014425834,0,0.023546174,-0.0009961134,0,0.015682535,0.015682535,0.057579163,0,0,0,0,0,0.052013084,-0.019659098,0.015682535,0.004760873,-0.02442506,0,0,0.06935078,0,0.007863639,-0.033285744,0,-0.007818895,0,-0.01342972,0,0,-0.01342972,0.016532486,0.17337695,-0.007863639,0,0.05987672,0,0,-0.014425834,0.007863639,0,0,-0.01342972,0,0.01342972,0.14552139,0,0.1655133,0,0,0,-0.053668242,0,0.007863639,0,-0.015682535,0,0,0.03308882,-0.052013084,0,0,0.015682535,0,0,0.008668847,0,-0.17337695,-0.01342972,0,0,0.12136386,0.01342972,0,0.007863639,-0.17337695,0,0,0,0,0,0.02442506,0,0,-0.019659098,0,-0.015682535,-0.02442506,0,0.0062293774,-0.016532486,0.01342972,0,0.01342972,0.01342972,-0.10402617,0.0062293774,0.01342972,-0.03785478,0.019659098,-0.016532486,-0.2935527,0,0,0,0,0.01342972,0,0,0.01342972,0,0.007863639,0,0.057579163,0.014425834,-0.007863639,0,0,0,-0.015682535,0.03785478,0.015727278,-0.016532486,-0.18680666,0,0.015682535,0.007863639,-0.015682535,0.007863639,0,-0.019659098,0,0,0,0.07411165,0.052013084,-0.021293359,0,0,0,0,-0.008668847,0.007863639,-0.01342972,0,0,0,0,-0.01342972,0.008668847,-0.02685944,-0.01342972,0.02442506,-0.007863639,-0.027522737,0,0,0,0,-0.02442506,0,-0.007863639,0.29129988,0,0,-0.015682535,0,-0.014425834,-0.007863639,0.15994723,0,-0.0068675256,-0.02442506,0.01099534,0.029112255,0,0,0,0.01342972,0,-0.015727278,0,0,-0.007863639,0,0.0016342618,0,0,0,0,-0.01342972,0,0.052013084,0,0,0,0.015682535,0,-0.01342972,0,0.007863639,0.031438746,-0.0055660815,0,0.02442506,-0.18124059,0,0,0.01342972,-0.0022528144,0,-0.01342972,0,0.030108368,-0.014425834,0,-0.052013084,0,0,0,0,-0.01342972,-0.014425834,0,-0.007863639,-0.09144934,0,0,0,0.015682535,0,-0.007863639,0.01342972,0.05683192,0.007863639,-0.02685944,0.044149444,0,0.02685944,0,0.0055660815,0.01342972,0.019659098,0,0.007863639,-0.01342972,0,-0.008668847,-0.01342972,0,0,-0.0512845,0.015682535,0.008668847,-0.01342972,0,0,-0.036285806,0,0,0,0,0,0.17337695,-0.015682535,-0.007863639,0.0322887,0.015727278,-0.007863639,0.01342972,-0.02442506,0.03136507,-0.01342972,0,0,0,0.007863639,0,0.01342972,0.06935078,0,0.014425834,-0.01342972,-0.019659098,-0.008668847,-0.015682535,0,-0.007863639,0,0,-0.01342972,-0.01342972,-0.015682535,0,0,0.18990943]');


--
-- Data for Name: data_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.data_keys VALUES ('01a1fca8-97cf-741c-8ea1-51088dc18588', NULL, 'local:73f8a7a5f989f0e4', '\x20ea9e93fe95b9c0580185a9ebbbce2b127f44045fc38e1a2541624c473da053f1c410eb4d3a5950c7ad98182ab399493325b5ed718e6242b07c6cd9', '2026-11-21 05:51:09.774261+00', NULL);
INSERT INTO public.data_keys VALUES ('01a1fca8-982d-7d78-b2c9-ae98a51f3c61', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'local:73f8a7a5f989f0e4', '\x71fce431a9ecb54c36f9299aa814d25aa2d271b705b156201f6b9375c6cce6ccb66c4df94f988674f88c17dd07a00ef2a2c5b8cdf2e57fed077349ec', '2026-11-21 05:51:09.869437+00', NULL);


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'evt_01m7yah62k6qgdjch5pssgya1b', 'ws_01m7yah5zavajrt7ga5xvst48w', '_source.queued', 'src_01m7yah62e3s0vwd0r69wsqjaj', '\x7b2274797065223a225f736f757263652e717565756564222c226576656e745f6964223a226576745f30316d3779616836326b367167646a6368357073736779613162222c2274656e616e745f6964223a2274656e5f30316d37796168357a6176616a727437676135777739666e7036222c22776f726b73706163655f6964223a2277735f30316d37796168357a6176616a72743767613578767374343877222c22637265617465645f6174223a22323032362d31312d32315430353a35313a30392e3930353331315a222c2264617461223a7b7d7d', '2026-11-21 05:51:09.905311+00', '2026-11-21 05:51:09.910268+00', NULL, '', 'req_01m7yah62d45zksjrajb12wj6z');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'evt_01m7yah66j9a2e96kwxd6dnfa2', 'ws_01m7yah5zavajrt7ga5xvst48w', 'kb.source_ingested', 'src_01m7yah62e3s0vwd0r69wsqjaj', '\x7b2274797065223a226b622e736f757263655f696e676573746564222c226576656e745f6964223a226576745f30316d3779616836366a3961326539366b77786436646e666132222c2274656e616e745f6964223a2274656e5f30316d37796168357a6176616a727437676135777739666e7036222c22776f726b73706163655f6964223a2277735f30316d37796168357a6176616a72743767613578767374343877222c22637265617465645f6174223a22323032362d31312d32315430353a35313a31302e3033303531325a222c2264617461223a7b22736f757263655f6964223a227372635f30316d37796168363265337330767764307236397773716a616a222c226e616d65223a2268616e64626f6f6b2e6d64222c226b696e64223a22696e6c696e65222c226d656469615f74797065223a22746578742f6d61726b646f776e222c22737461747573223a227265616479222c2273697a655f6279746573223a39342c22706167655f636f756e74223a302c226368756e6b5f636f756e74223a312c22656d62656464696e675f6d6f64656c223a227061726c616e63652d6c65786963616c2d686173682d353132222c226475726174696f6e5f6d73223a32302c2272656164795f6174223a22323032362d31312d32315430353a35313a31302e3033303531325a227d7d', '2026-11-21 05:51:10.030512+00', '2026-11-21 05:51:10.034991+00', 1, '', 'req_01m7yah62d45zksjrajb12wj6z');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (3, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'evt_01m7yah67bq7d19rebv6rvrhrq', 'ws_01m7yah5zavajrt7ga5xvst48w', 'post_call_transcription', 'ses_01m7yah67bq7d19rebv6rvrhrq', '\x7b2274797065223a22706f73745f63616c6c5f7472616e736372697074696f6e222c226576656e745f6964223a226576745f30316d3779616836376271376431397265627636727672687271222c2274656e616e745f6964223a2274656e5f30316d37796168357a6176616a727437676135777739666e7036222c22776f726b73706163655f6964223a2277735f30316d37796168357a6176616a72743767613578767374343877222c22637265617465645f6174223a22323032362d31312d32315430353a35313a31302e3038313938385a222c2264617461223a7b226167656e745f6964223a226167745f30316d3779616836306a79316b79723570743437327673733677222c22636f6e766572736174696f6e5f6964223a227365735f30316d3779616836376271376431397265627636727672687271222c2273657373696f6e5f6964223a227365735f30316d3779616836376271376431397265627636727672687271222c22737461747573223a22646f6e65222c22757365725f6964223a22616461222c227472616e736372697074223a5b7b22726f6c65223a226167656e74222c226d657373616765223a2248656c6c6f2041646121222c227475726e5f6964223a227475726e5f30316d3779616836376b78333166336761777a386d3463666137222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a22486f77206c6f6e6720646f6573206120726566756e642074616b653f222c227475726e5f6964223a227475726e5f30316d3779616836376a6a6771306e6a737238737a3078706877222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a2246726f6d20e2809c68616e64626f6f6b2e6d64e2809d202848616e64626f6f6b205c753030336520526566756e6473293a20e2809c4120726566756e6420697320706169642077697468696e20666f75727465656e2064617973206166746572207468652070617263656c2068617320636f6d65206261636b2ee2809d222c227475726e5f6964223a227475726e5f30316d3779616836376a6a6771306e6a737238737a3078706877222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c2272657472696576616c223a7b22656c61707365645f74696d65223a302e3030337d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030357d7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a222f746f6f6c206f726465725f737461747573207b5c226f726465725c223a5c2231375c227d222c227475726e5f6964223a227475726e5f30316d37796168363776376a306b793338366d7667616d376263222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a226f726465725f73746174757320616e7377657265643a207b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d37796168363778796b736a6b686b3132687436747367795c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d222c227475726e5f6964223a227475726e5f30316d37796168363776376a306b793338366d7667616d376263222c22746f6f6c5f63616c6c73223a5b7b22726571756573745f6964223a2263616c6c5f30316d37796168363778796b736a6b686b313268743674736779222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22706172616d735f61735f6a736f6e223a227b5c226f726465725c223a5c2231375c227d222c22746f6f6c5f6861735f6265656e5f63616c6c6564223a747275657d5d2c22746f6f6c5f726573756c7473223a5b7b22726571756573745f6964223a2263616c6c5f30316d37796168363778796b736a6b686b313268743674736779222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22726573756c745f76616c7565223a227b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d37796168363778796b736a6b686b3132687436747367795c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d5c6e222c2269735f6572726f72223a66616c73652c22746f6f6c5f6c6174656e63795f6d73223a307d5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c22746f6f6c73223a7b22656c61707365645f74696d65223a302e3030317d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030327d7d2c22696e746572727570746564223a66616c73657d5d2c226d65746164617461223a7b2273746172745f74696d655f756e69785f73656373223a313739353234303237302c2263616c6c5f6475726174696f6e5f73656373223a302c227465726d696e6174696f6e5f726561736f6e223a22656e6465645f62795f617069222c226d61696e5f6c616e6775616765223a22656e222c22746578745f6f6e6c79223a747275652c227475726e5f636f756e74223a332c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22636f6e766572736174696f6e5f696e6974696174696f6e5f636c69656e745f64617461223a7b2264796e616d69635f7661726961626c6573223a7b226e616d65223a22416461227d7d2c226861735f617564696f223a66616c73652c226861735f757365725f617564696f223a66616c73652c226861735f726573706f6e73655f617564696f223a66616c73652c227472756e6361746564223a66616c73652c227472616e7363726970745f75726c223a22222c226167656e745f76657273696f6e223a322c226d6f64616c697479223a2274657874227d7d', '2026-11-21 05:51:10.081988+00', '2026-11-21 05:51:10.084403+00', 2, '', 'req_01m7yah680d2w0x1np8ghgrcme');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\x9927af39a03afd0f26a43d6afc1da373bc2a78de2e1b9c3f3b75a36eaffe0119', '\x77acd0334ffc85764b39c313092a6b8a2a682f01c9d0d05b659ce7adde58e62f', '01a1fca8-9812-70a5-aee5-4a6e299ffc1c', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c61ca8bf428fb77371010b0b6a0e7137391661930c1d3e466c1a2dc539d40dc88d596cbd8d43606722940aa348fc3e073946e03499838aa6817f8912f15c1a638f94980affb65b39742df542cfe1c7792f320c108988bd2c34a4ecdee0a163af9a3dd85601491bd53ef1fcaa14bd9f1012db6c6565586676ae91ebe59e1deae2d3edaf7ac6a6fee7f4b91f2356e2e632f0a0929d2382a61fd3131a027cd0be22449e96bbb9e3dd9fd4f072c4b632e340b97a65fb82c7d61f09314add6c4c3ff80ea568723b97bbc8a18ff7ca916e48115395966467e63b439fcf1638e90e5324da707fc9affa15b8b5706d69fc0251613ab74b44ede7c6a21f593ea7c285c858a43e7ad843a7f1c2e2ad1a79758acf093e7c4437d220cd1c74c8850744dd61676552b1ddb66d9c3ddc33b988c303575b995fa159d6a9e2682590df1f8374c3936533e866be2b027d38662d05f1129749c57b2418c4f7c016e74b79992dfc296c790d0a6f2b99c29de278110dc9f02d5d623f5bd53c141ac5dc3e80c8c3218ee33c3b329f767cc3b0f548485d28af3cc1437d812f5e364790b124fa0f83e7298425e5ca3d5324e6ff2e9df3eb8bc0749f2b07bb096488166a90f6ab1c5cd8bbbdc61d4b0e6978a4bdd60b2b04bde04229b0ed042bd537ecf47e7884023cce64453f6507ee2acc0f1017b138acba4fdd0d118f327e82eb486538324ec275921e644a65c82f254a6ed82ca232f6c925f1ebdc69872f5420cf01ef41dbc9513ca4c0bd4ba23f8ebc9113968f270952ea85972c72d5bc15130030b71e81a4910ce1fd6b3f199660bc8e0bf345f2a8cee9e911a7d8a2b7d8c780c98946b98c0e4a0236945f26619c10d979b00f7c22586878c1685f7c78128c3d53af481cc6370ff06108f40b7b1b6a45bb79fc59a0b0e66fb2a068ef9a56cb6cad167a6345c4c94e9ac7d118b94bc591a81ed2d2b4cd102ca583c633250070882519de831632ae62107cb0dfe2cacbf3b55c49e862218b11ccdec286cd805a3a227bfcb933664fe76f99b21b945a3c3584a9d6ad257cd1ac32051be1e60edd0105bc6db9c086ddcd67b4fea11dd3a21cdf8867020afbd16b8768aff1cda6289eeff387fa239d0a9bcf9f0b91b0a8fcfb662f59985891a0fc2da1da1167cb27a556a1f727a670a7fa93c5b10fc7fba522d2026a9eb0f5550dadb3524fc0e1e4f3a551054b0cd7fd0ecaa663d91055732bb56712ab4f894384fa7014d320b349d92cf6962cd5c4f612b821ce3e654f5f0073a68678bdee460c32222d46012dec585f2b378827ac2a4008d3ba06c2333caf5fcabc9cfe58057c3658e0e8734bd448003abfc34cef6207b85ce12a55bf2e7d61ee7efce089fd96f5c418a3f19d6b628af0f6eb338d8ee466443a8692ccd19768db9c802a117bba8ee80945719f0cd6745e92e991b0f0b3f50e014c84b0a6db9e73be4eaf95860d31112431ea55cadcfed890cdd2c9bebf6b62d', '2026-11-21 05:51:09.842038+00', '2026-11-22 05:51:09.842038+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\xda6f698b721d25b64df6d9581f0a103cb66de18903c0c2154ba5c3d5130fc168', '\x6467893a8e0206bfce371b71a8d7c63519a935b030d763b61b932c60d1e9cfe9', '01a1fca8-9836-7140-b70d-3d0f1e268eb3', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c61cc68147253c3e79980b9f4446f9f1e8cbb766aff74377ff64dae75b1becb896c841f6474da721cab154751300461587fa82664feacc32eee97cebca1ee964c5f0b8ec19227bf278e1b5260a0f8b8476370e57821dfc9b7f2a44a19a84f632a98b657b1c62514904a7c19a56944a6d5a5c440b3de36581a2e0b608afb289ba07e1f80b44a9b3c29716b2b6e3d19af3d4d9ff396865852a222b68c9a6309efbeb330767cfe75e04d7f3ec9b013eb9165ef52cbe2c090450b71ba28201617159dafbda63ef143fd2c2468e3a92111bcbf343139133fc51b8f6e31c9bf03945fec37d0a2e05d8bd18fdb02aa891808357572745baa13a18308194a1e275c1cbc4b4c8043999989652652a25b774f0c53bf7bdf16e5169af5769a68673898c8cbe95eb306e7b9cc83f4af2c07472180db46f895d5c57dea8888265fbb4b3108dee9612c1d084cec4c883abf840b6d37fd9fd938215d9a891ec32caad06afac5aea37ff4dcce17eccb1a77260c673ac4aa75178254fefe8e6ec85ed080800e43aca118058128535706e0d2ab4208582812c8d6fd81673f122de6a5202c5ac4cadce17f6397899411a48108c4bcb925e61ef38fb5fb06cd38b09441326ecd10485858c9f1afe91b55d54eadafe02bd71e4eb87160ccb85c152b27391651a27157aa300d1efe01d5a23de8ede0502ed1c17a091be62313c3a035a159a27435e223cc37a47face1a3278c99cbae355795ea754fdbd2ff00dd47f7e4e66d9f33643285406e636f93afe652e8190a03e39cbfa5dc43d1815d42a5582890f34d8ad76f20a977d7beb3eb9f919626c0552d8e5818de49e4c0eaf9510f187c9e77582681465249c7d2b5e0930e06d1b5eb068d98e9bb7c541f116d5d09d61427e88750faadb7e235792f49ad420b23ad3049034aa3f5699b86ba932cfaab1f266c15d7b5a0bc529a963046e378b90f523714c2cd71d015daa41dbbb9618c9edae3e5839a978ff83a9ae5912b2e0aa5a2805ac3917cbdfc36', '2026-11-21 05:51:09.87808+00', '2026-11-22 05:51:09.87808+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\xf0f035b401eb0dfae8131a4d9b61c6c3ad0d8c838f26d457fa0f29ee19d572ad', '\x1ce26727b09e499dc0a73c4c1ea2d1e3724af139a87d6f7354e38a144d3a6be8', '01a1fca8-9839-7528-9061-404c5cbcca17', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c615934ab28463381630759fe8a98e29ba906287a520b3feb29d546837d5a5d1cb661267898e0c98041b9082e560876190df0732911912401f1ee4e3474db19627b2c67937a5f0a5d59a43075e6c7af9846160e65eaa2290339d1114ef07928d6fd7c5a6980155c3d47aa764cf8bd3b1fde882eb227dc7c394cebdd1d676a636bfac0ce6934c6852fa18265b5840de2945962eef96e3c0e9f074bb74382d4c836d69bf3d62461c5d16b2e20c50250bb48f785a10661da0bc6a50094fd53e4184517796229a02347f8d963daa7f051cd4abe6984c41d58adf70f84374ff5b0995552f26e8a1a2c00567c6fa7cbf3ddd1c620e7c2d8b74e04379481553be90087d103e6052bce81c831f9fc0d6bd14d15eee518ff7671e8292214986562036b6b874f10b746151ea7925a985ab99ceacb96268bfe2ccd21748ba6f1841f4f30df7548b663f4b5a81399c23085ef2e6548acef9a59c0fe4671dcdf0ccb0c5edfc78b39532fe472ae4e4f86b1a89b8757f6c60ee18e19f5e5a632d1d41bca75f212af91765535b7e3d9dbfec477775e97f8da0326e796458faa70e8a127378f621363e2f1e5dc02d1ede24e922365dd147e773fe4d7310a8e5c3643c339b12ed9d8df2d2adef7c37972c083a26d4ac2858b26d40140d08ecf5b7dfff5fbd5920a2072305e19a3718ad1c3265fe04c0652767f60cbd4c90abad6761b467e2178e905b7cb9779b948e9a9c1f9d76cdd30a0f31270ac8261a6c9b78141ff3197faefbd70def02e3fb350f85d49c274d60960077eaeeb9b7b999eac9316b97b8e3874eee7c0ec63c0b0afa19e7082515ebf11206b429a4c461c5503793c7fad8660482cea68fb1d27d6b45bb7821a5ec4d572cf832092b9ffb30339e70f480528d1ad585b1e4618eaa80e3509e41c55dc4413fb3e2fdbcda3473f70dd7c0b96b85fe30cb7a60405f746bcb206ef67584b1dcc575c1a897b41f3f94a84db8000649ce52d1010506123cded14e033ca3a466ffa5ef83ad234562e2f88cadb6d8be247c080b18c9417b4ee6bd3ae7c5ce09faa970a2a5d0bbebad9f3f6aee53580fe5acc4a32792734d218e289c05dfbfa745bc5ae5c4efc365106fbd5e5119759f928dcf07e04634a21873689c247869404fba8c0b3e24da10c499e932aa76e0ea80da8c8ef3d70412f56195fd976ccf25e1dfb50f140e3d5705f6bb71934309c2680a288974660a2393a31f407d6703aee3fb85c63ce96a9e589003f7f27c49063956680aed7e51f03afa4e67c44a9a69e3cd7f554eb051f11e35f874428d1b21f1801ee3f92cf79d508654a17ccd395c02a3ebd77890a3df7b91a92670b112be53b1933fcc065326b358a789fbfb798d0448330b14ed108f36604f354535c639547abaaf0e855c949e9ea6ea5978dda57dfea', '2026-11-21 05:51:09.881337+00', '2026-11-22 05:51:09.881337+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\xead8b48eecb0da9a2c67e8b4f697f01a3b6d27d3f9381b90bfbfa8a21b7494d1', '\x4faad9bca666be587ee2dd4688d3bb67cbe870c7321cc991e84c21b99fc92d94', '01a1fca8-9846-7701-8ec7-90763c0f0acc', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c615e65bfa02ef4b9520450eb024a31ae4e5c1feae0f628ce45a0a74b659ebf0a5f393fa0a41cb9b54327cf41d2b8113ae5aa05c4500731b5b06038b911f094ddbf1fb7a92b25c29d1a4bca0653a712956ce111df9d07557194413de77507f5f24b03e27b455de50ab926b7ec0aa657e9b1e1a4b042680a41f1f1990669832e50727d6dc305d6121779f62175155d204f2e486bd69cbfcaafbf8d4858e93bbb3664a29cd036ab43f0dafeb00db157c266be1f95c99e56fd2709d7483e6d942d4de9eff2afc43aafb07defad27ea32e589c4cca77e29be973fdb8c6e8627c0eafdc7824b87f53db0d6679c7b8aa7eda45fcf2c32101af8a293df566bdcbc5f14c4f3874d29eab1ee5ec20e1ec5883d85e95d66bd5650db4dcb2938fc09ea8cb6ef78def167c0a932fff9b7bf556de98467bca64e2907112e869b73fde3254617e82447869bb3b8758a6b4f73783d04d01cd97427862e86bafe17c9fe363231342480a625665600721c8e7dfe3d29067b8501df62a657c79e9708b40c2270079d640fe8549eff24f575536e9806f2253b14de8203dd1ead29307c08ae', '2026-11-21 05:51:09.894457+00', '2026-11-22 05:51:09.894457+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\xbaba35cb04f11cd8aca8b3ad42792a205078e41719717a2996c8ca211e1536ed', '\x8ee28bf3abfcd9f5780bc379e303b90d8de486de8d2c535e38fd95283b85df17', '01a1fca8-984a-7815-9842-711427616d5d', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c611fe27662e83fac108e8231e80f623a6853556ac740d9d22309be2904df8e4c8dca80e5480dd2875554049983c991400d1544f9cd9cd34a67b4070a682b6a84a26ada66d7de4494a4a229355f823e016be31408e9b15509bc37267101ed82ad06cb918765c9f79471ed1ab57b98404d374441999ffee1ed3089e9df3a03861836536b3f05d636fa070ebff5db29854955739af5d384167300e839ce4b0f2300cc2e1ac5f4581f7f10737e8159894af12b76234dd17a42e4f970eaa0d5ac264b0963378bc4750547668b5ccf36bf634354de363e1f876bb52a6eff21c8949f184532c2e3d2795398c0bdb1b1bcd4682b30688f0e94ce1a34a0c4a8ccac64dba3f2e0773e5ed07f91aafe25225fb60d20915b5cf2532057e4d7a85bfb413abcc9a92e33047ac6c8d324f71f06dd608ce88666f00ed465d49a52762fdf1f398f2c637d3cd608dfb083733c8d73a0ad67ac997506db52b335209de4cefe3c4d2e16cdf1adee8d8e01a3db374696926da9be305e635ee1de891092a4a259fa8431344fbf130cfbe4c08fb60690594dfb937c25e08ca883cbb771d15135bb6509e1c1832b886f1307f69938b65e569fea568a32cb61d2e6bdab28828824c33d9f5a1400faf80f98a243e5fb215625cf62c7b522f65532197ecf8d15c354596cd185b055096009757e86c89f41d5b40952f3adde01695215e6b4111077a77af2bcf50c76f428fe3b1e43fbdefcd7194c5d1351825a1613ed2e3ac10d67a280a4a399ba1451942624513d6c38a2027412bf88ab69b62a419e7a6618f90433f9a221fdf04c3d706a6e01f3179c4d2fbea5d7dfba83fcf47a2832d715cbe8b49ce9e8b3d9d31daa1680e058384128a80b1cd4254948510ab3fdeb99130dc666909f325989c19a0f4809afade4b808568b3f87d3bf58a7d6e2eb6cf086985e000d', '2026-11-21 05:51:09.898528+00', '2026-11-22 05:51:09.898528+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\x401996aba2ac20fb9bc8576064bbf08de65109462fecbe3f738f0eeabf1a8f0e', '\xe0763ad3487c090af40c6217e7ccb2aead89f6d5b2798b74e032cfd46a5fd25d', '01a1fca8-984e-7341-9fff-e57fd54f3283', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c618dd8b55350965af2e7ddbc94c9b65fba453ef5aec7b0dd3f652edb3547245522bb8c5732871c82308b68c7a8771ee86d598eeacc9ad3d1175c78e9c5d2cfefb3e75099e5606bd47c50ed5de32ef67d9688d42cc0171aa64417a7ff8a02170e9e4658df268d1311dc910b1d737b8f1874e2b3da556434c66cdffd31c34b5149a3dfb01982d6c8bfea57a940f1d0e86f36d09272f57ab352082b3119d4de5a82ef7ed3459cdea6d0a363931dcafd3c45cea9a7ce6aca92f73060cd58c57864979b2734e54978ac643acda7fa30b728b0be086acccb5ac8809e3acb2e440b66e60218a7761caf197013ec08e87b358ea9fad8f95b241094037aae1244e4b43f0a45e1f1e92b06ece5923600de96902548e755feb7c563983669e9f036d30bbd7d98db6c51ee4ed2e74f5c83688bbeb37ace6048edaba739cbddd1ba7d43f8ccc706e9a9974e756945467a8c310afcf3451f2a8f6809a34f61f3d269fbebfa0d8373f88240397215a1412e74fedd3e6d67aa589bc48090df7f92ab70533f6b968f4b155e69ab4aa1263b444a15938b0c29f2df2602cff25311a0e8f1e7bc359b889ae0928a696d21a0d5e80ad6150161e3bdcee85e5f60a6dfd4c455334fe91a9bb9ddbc4158f1f5f21658f71f9742280ef0163fc6b5c0e2f79116167f3165f1843d2b896fc16aab91ab496cd9afec494b798edc6639d0f31b4d90f2fe5877f67f875a3a09988b2173f537b6119261ceb695eaf4b721cce501c522f61553de80f15bbeb4d28be558610f270f123ec341e5e948be8cbc7e9f363113d15b7fd2b8acedb1121f170ad5bb0e3582815530ef93978d767e51e9daf369cb770fd7d4e65f92c9f4190be4e380de541b1a6f6e972023dfccf4acb5538406338b0092c41c3e941ad3bc59676185ee1e838af91264', '2026-11-21 05:51:09.902212+00', '2026-11-22 05:51:09.902212+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'key_01m7yah5zavajrt7ga5zccmctk', '\xe3bc418dea189270ee3dfa5f2be75c8a3678b4c84181d313ba11799663fe80a8', '\x58c8c4da9e65afcde6a5be60320279173747a05496ecacdc4b7f48e1f39d888a', '01a1fca8-98e3-7d0f-ba2d-3a313d53925b', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c61bf54de1fd9c523468103ae17a7e7b88b1e47e5dede17447b0074adef9a8cc77310c0a01292ff6a589e75e3ce9ce25535800659d0027088c2bac1d2c6d2b1b08a99e858ca81ef5d939a1aed80f4b81cfb07d243ba0979b9ece5077833cbc5a630a9782f4edf83c980ab2d91ef323a8e51c3ffbec83cebb1a07db4d31246bab5d877e67a8722f26437c9ce4de82b75098a7b9e3fc90d2aedd21b713e1ee2d27dc9c8e3abcc287038eebb54cd96b125d4e55f52153189793248c8d52891e20ef950649f699502f4068d43c1cddf9d2b97fed06dd6c911bf7415febd366543b536601458ab140d422457f4ce81dae7515d3d45f3c3522e10195d5e8da0d7304e91063036d59168064b8bcf88bfc610a310ad49e421233512fdc29462e983ab9e9ecd604e04cb79ea729b9250bc920f69b5a34e99a8e211fef5641e506d019f0a45033530a4cee4ec72fb45a6ad9020bddaf572cc094509937b77d6f3c1ce9340694bab9c879c59867859b4daf2c6b9cacbb36f11047494b89f339228243b99a1fb38417da43b8167b6844e9a1285dbd6825e3740', '2026-11-21 05:51:10.051854+00', '2026-11-22 05:51:10.051854+00');


--
-- Data for Name: page_token_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.page_token_key VALUES (true, '\xe460a576bd16528db4559b710b90f9ea2132d7e74fe09efce7c5dd5cced5713b');


--
-- Data for Name: provider_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider_credentials VALUES ('cred_01m7yah62cg8vqp3fqj14wh30m', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'tts', 'openai', 'recorded', 'https://speech.example/v1', '', '', '\x0201a1fca8982d7d78b2c9ae98a51f3c6118606714c8326ce26938e89c3b7637845ddac5124010485966c1bed1af9899bf09a2f27e3020ea38', '', '2026-11-21 05:51:09.900756+00', '2026-11-21 05:51:09.900756+00');


--
-- Data for Name: session_connections; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('ses_01m7yah67bq7d19rebv6rvrhrq', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'agt_01m7yah60jy1kyr5pt472vss6w', 2, 'ada', 'text', 'completed', 'ended_by_api', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '{}', '{}', '{"name": "Ada"}', '\x0201a1fca8982d7d78b2c9ae98a51f3c6183de27d411ba538b7d44ac24f143e1f2529f2eed03f0f507343cfea98010caeb90ee2d0f80e6328d081c328bb22ab99bd6937c490c8eb4e535fd', 'b7a784cf64e3e09cc38ef6d78ff18fe0b769c93698f8b1639eb8ac3588ec35ff', '2026-11-21 06:06:10.059126+00', 'en', 3, 0, 0, 1, 3600, 1800, '2026-11-21 05:51:10.059126+00', '2026-11-21 05:51:10.066692+00', '2026-11-21 05:51:10.079454+00', NULL, '2026-11-21 05:51:10.081988+00', NULL, NULL, NULL, '', '');


--
-- Data for Name: signing_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.signing_keys VALUES ('485c42c0042c977e', '\x485c42c0042c977e676cedae8d1b099fa6d501cc0038eb419180a2b8846d8c0c', '\x0201a1fca897cf741c8ea151088dc18588f5e0b624d1251f3fbf04e04c525bce6bbbe689340cb80081855fbe3f80bca55398f2c28a5b841dee7ffd1ceda96ca8d3facfa4719e3daba2cebb443d', '2026-11-21 05:51:10.059126+00', NULL);


--
-- Data for Name: source_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_attachments VALUES ('agt_01m7yah60jy1kyr5pt472vss6w', 'src_01m7yah62e3s0vwd0r69wsqjaj', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'auto', '2026-11-21 05:51:10.054532+00');


--
-- Data for Name: sources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sources VALUES ('src_01m7yah62e3s0vwd0r69wsqjaj', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'handbook.md', 'inline', 'text/markdown', 94, 'e4418b2a2edd42f7d3203d8749179c416be923802050276db04d3a0483a8c12f', 'ws_01m7yah5zavajrt7ga5xvst48w/7s7i6uk4zqydp3jjahmnjvhwrx', 'ready', '', 100, false, '', '2026-11-21 05:51:10.030512+00', 1, '2026-11-21 05:51:09.905311+00', NULL, 0, 1, 'parlance-lexical-hash-512', '', '', '2026-11-21 05:51:09.905311+00', '2026-11-21 05:51:10.030512+00', '2026-11-21 05:51:10.030512+00', '', 'req_01m7yah62d45zksjrajb12wj6z');


--
-- Data for Name: stray_blobs; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tenants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tenants VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'Acme', 'enterprise', '2026-11-21 05:51:09.802012+00', '2026-11-21 05:51:09.802012+00');


--
-- Data for Name: tombstones; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tombstones VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'agt_01m7yah6870gxqfk1vgp1qgbsx', '2026-11-21 05:51:10.089341+00');


--
-- Data for Name: tool_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_attachments VALUES ('agt_01m7yah60jy1kyr5pt472vss6w', '01a1fca8-9839-79fa-a9e1-539632ed1116', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', true, 3, '2026-11-21 05:51:09.896484+00', '2026-11-21 05:51:09.896484+00');


--
-- Data for Name: tool_call_counts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_call_counts VALUES ('ten_01m7yah5zavajrt7ga5ww9fnp6', 'ses_01m7yah67bq7d19rebv6rvrhrq', '01a1fca8-9839-79fa-a9e1-539632ed1116', 1);


--
-- Data for Name: tool_calls; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_calls VALUES ('call_01m7yah67xyksjkhk12ht6tsgy', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'ses_01m7yah67bq7d19rebv6rvrhrq', 'turn_01m7yah67v7j0ky386mvgam7bc', '01a1fca8-9839-79fa-a9e1-539632ed1116', 'order_status', '{"order": "17"}', '{"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m7yah67xyksjkhk12ht6tsgy"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}
', 200, 0, 1, '', '', '2026-11-21 05:51:10.077918+00');


--
-- Data for Name: tools; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tools VALUES ('01a1fca8-9839-79fa-a9e1-539632ed1116', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'order_status', 'Tells where an order is.', 'http', '{"method": "POST", "webhook_url": "http://127.0.0.1:38597/orders", "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}, "timeout_seconds": 20, "response_max_bytes": 262144}', '\x0201a1fca8982d7d78b2c9ae98a51f3c61e1e91099d3ad5d36d01b28c7034889088f583e478f09eb7d20e5b35a03561cd65a6f307e17afd03f8e19a3b8c9e5feb5f48b', '2026-11-21 05:51:09.891621+00', '2026-11-21 05:51:09.891621+00');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES ('turn_01m7yah67kx31f3gawz8m4cfa7', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'ses_01m7yah67bq7d19rebv6rvrhrq', 0, '', 'Hello Ada!', 'completed', '[{"role":"assistant","item_id":"item_01m7yah67kx31f3gawz8xt1mqs","text":"Hello Ada!"}]', '[]', '', 0, 0, '{"tools_ms": 0, "total_ms": 0, "retrieval_ms": 0, "model_first_token_ms": 0}', '', '', '2026-11-21 05:51:10.066692+00', '2026-11-21 05:51:10.066692+00');
INSERT INTO public.turns VALUES ('turn_01m7yah67jjgq0njsr8sz0xphw', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'ses_01m7yah67bq7d19rebv6rvrhrq', 1, 'How long does a refund take?', 'From “handbook.md” (Handbook > Refunds): “A refund is paid within fourteen days after the parcel has come back.”', 'completed', '[{"role":"user","item_id":"item_01m7yah67mqr3qgz9a8yd1pkv0","text":"How long does a refund take?"},{"role":"assistant","item_id":"item_01m7yah67s89vfx5kqcsb6py6m","text":"From “handbook.md” (Handbook \u003e Refunds): “A refund is paid within fourteen days after the parcel has come back.”","at":5}]', '[{"quoted": true, "excerpt": "Handbook\n\nRefunds\n\nA refund is paid within fourteen days after the parcel has come back.", "heading": "Handbook > Refunds", "chunk_id": "chk_01m7yah66ajcwqsfqnr76hh93z", "source_id": "src_01m7yah62e3s0vwd0r69wsqjaj", "similarity": 0.4719051735457682, "source_name": "handbook.md"}]', 'extractive', 0, 0, '{"tools_ms": 0, "total_ms": 5, "retrieval_ms": 3, "model_first_token_ms": 1}', '', '', '2026-11-21 05:51:10.066692+00', '2026-11-21 05:51:10.07384+00');
INSERT INTO public.turns VALUES ('turn_01m7yah67v7j0ky386mvgam7bc', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'ses_01m7yah67bq7d19rebv6rvrhrq', 2, '/tool order_status {"order":"17"}', 'order_status answered: {"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m7yah67xyksjkhk12ht6tsgy"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}', 'completed', '[{"role":"user","item_id":"item_01m7yah67w34fz2zr61fy3j2ax","text":"/tool order_status {\"order\":\"17\"}"},{"role":"assistant","calls":[{"id":"call_01m7yah67xyksjkhk12ht6tsgy","item_id":"item_01m7yah67xyksjkhk12jn92dyp","name":"order_status","arguments":{"order":"17"}}],"at":1},{"role":"tool","item_id":"item_01m7yah67xyksjkhk12jn92dyp","text":"{\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m7yah67xyksjkhk12ht6tsgy\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}\n","call_id":"call_01m7yah67xyksjkhk12ht6tsgy","result":{"tool_id":"01a1fca8-9839-79fa-a9e1-539632ed1116","status_code":200,"attempts":1,"started_at":"2026-11-21T05:51:10.077918Z"},"at":2},{"role":"assistant","item_id":"item_01m7yah67zfx9wdt2xky242qng","text":"order_status answered: {\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m7yah67xyksjkhk12ht6tsgy\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}","at":2}]', '[]', 'extractive', 0, 0, '{"tools_ms": 1, "total_ms": 2, "retrieval_ms": 0, "model_first_token_ms": 1}', '', '', '2026-11-21 05:51:10.07573+00', '2026-11-21 05:51:10.079451+00');


--
-- Data for Name: webhook_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_attempts VALUES ('dlv_01m7yah69htr0avp99ncgbj21j', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'we_01m7yah61p67hx9rgx0mtq9520', 1, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m7yah66j9a2e96kwxd6dnfa2", "Content-Type": "application/json", "X-Parlance-Event": "kb.source_ingested", "Webhook-Signature": "v1,EH1ww0FQxI3KCf2WD+J8Up4HNOrw3uHqe2rsE1CSBrQ=", "Webhook-Timestamp": "1795240270", "X-Parlance-Event-Id": "evt_01m7yah66j9a2e96kwxd6dnfa2", "X-Parlance-Signature": "sha256=681b5a4271ff8992d2b3b5b44763e3a660197bb3e275a8c33b01c0429f7c92f7", "X-Parlance-Timestamp": "1795240270"}', '{"Date": "Sat, 21 Nov 2026 05:51:10 GMT", "Content-Length": "0"}', '', '2026-11-21 05:51:10.129864+00', 3, NULL);
INSERT INTO public.webhook_attempts VALUES ('dlv_01m7yah69j4d2qgh83kg2dccqy', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'we_01m7yah61p67hx9rgx0mtq9520', 2, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m7yah67bq7d19rebv6rvrhrq", "Content-Type": "application/json", "X-Parlance-Event": "post_call_transcription", "Webhook-Signature": "v1,jEy7jwpuh/ywmRIWpP7nFxm4359U9QBvps8vGRj344o=", "Webhook-Timestamp": "1795240270", "X-Parlance-Event-Id": "evt_01m7yah67bq7d19rebv6rvrhrq", "X-Parlance-Signature": "sha256=ed22cb269f29ca22816037cefb9b3deb51af435dd463da7f1189b715e95cb42a", "X-Parlance-Timestamp": "1795240270"}', '{"Date": "Sat, 21 Nov 2026 05:51:10 GMT", "Content-Length": "0"}', '', '2026-11-21 05:51:10.130049+00', 3, NULL);


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'we_01m7yah61p67hx9rgx0mtq9520', 'evt_01m7yah66j9a2e96kwxd6dnfa2', 'kb.source_ingested', 2, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-21 05:51:10.036067+00');
INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'we_01m7yah61p67hx9rgx0mtq9520', 'evt_01m7yah67bq7d19rebv6rvrhrq', 'post_call_transcription', 3, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-21 05:51:10.086105+00');


--
-- Data for Name: webhook_endpoints; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_endpoints VALUES ('we_01m7yah61p67hx9rgx0mtq9520', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'ws_01m7yah5zavajrt7ga5xvst48w', 'https://127.0.0.1:33663', '{post_call_transcription,kb.source_ingested}', 'recorded', 'enabled', '', 0, '2026-11-21 05:51:10.136597+00', NULL, '\x0201a1fca8982d7d78b2c9ae98a51f3c61d333a972a653a3b71a584a89027468d698962bfbe4d32b4896c5a42885baff3263039046af437f8ac4aafdb683a0a345a4b6d500af5240a1cef4e2656ca5dc578fd72c420d0e649e83618fa69900', '3BE=', NULL, NULL, '2026-11-21 05:51:09.879646+00', '2026-11-21 05:51:09.879646+00');


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workspaces VALUES ('ws_01m7yah5zavajrt7ga5xvst48w', 'ten_01m7yah5zavajrt7ga5ww9fnp6', 'default', 94, '2026-11-21 05:51:09.802012+00', '2026-11-21 05:51:09.802012+00');


--
-- Name: bun_migration_locks_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.bun_migration_locks_id_seq', 1, false);


--
-- Name: bun_migrations_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.bun_migrations_id_seq', 11, true);


--
-- Name: events_position; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.events_position', 2, true);


--
-- Name: events_seq_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.events_seq_seq', 3, true);


--
-- Name: session_connection_numbers; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.session_connection_numbers', 1, false);


--
-- Name: webhook_deliveries_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.webhook_deliveries_id_seq', 2, true);


--
-- Name: agent_versions agent_versions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_versions
    ADD CONSTRAINT agent_versions_pkey PRIMARY KEY (agent_id, version);


--
-- Name: agents agents_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);


--
-- Name: agents agents_workspace_id_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_workspace_id_id_key UNIQUE (workspace_id, id);


--
-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


--
-- Name: api_keys api_keys_secret_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash);


--
-- Name: bun_migration_locks bun_migration_locks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bun_migration_locks
    ADD CONSTRAINT bun_migration_locks_pkey PRIMARY KEY (id);


--
-- Name: bun_migration_locks bun_migration_locks_table_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bun_migration_locks
    ADD CONSTRAINT bun_migration_locks_table_name_key UNIQUE (table_name);


--
-- Name: bun_migrations bun_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.bun_migrations
    ADD CONSTRAINT bun_migrations_pkey PRIMARY KEY (id);


--
-- Name: chunks chunks_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (id);


--
-- Name: chunks chunks_source_id_index_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_source_id_index_key UNIQUE (source_id, index);


--
-- Name: data_keys data_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (id);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (seq);


--
-- Name: events events_tenant_id_event_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_event_id_key UNIQUE (tenant_id, event_id);


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, caller_id, key_hash);


--
-- Name: page_token_key page_token_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.page_token_key
    ADD CONSTRAINT page_token_key_pkey PRIMARY KEY (only_row);


--
-- Name: provider_credentials provider_credentials_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provider_credentials
    ADD CONSTRAINT provider_credentials_pkey PRIMARY KEY (id);


--
-- Name: session_connections session_connections_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_connections
    ADD CONSTRAINT session_connections_pkey PRIMARY KEY (session_id, channel);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: signing_keys signing_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (kid);


--
-- Name: source_attachments source_attachments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_attachments
    ADD CONSTRAINT source_attachments_pkey PRIMARY KEY (agent_id, source_id);


--
-- Name: sources sources_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (id);


--
-- Name: sources sources_workspace_id_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_workspace_id_id_key UNIQUE (workspace_id, id);


--
-- Name: stray_blobs stray_blobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.stray_blobs
    ADD CONSTRAINT stray_blobs_pkey PRIMARY KEY (key);


--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);


--
-- Name: tombstones tombstones_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: tool_attachments tool_attachments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_attachments
    ADD CONSTRAINT tool_attachments_pkey PRIMARY KEY (agent_id, tool_id);


--
-- Name: tool_call_counts tool_call_counts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_call_counts
    ADD CONSTRAINT tool_call_counts_pkey PRIMARY KEY (session_id, tool_id);


--
-- Name: tool_calls tool_calls_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_calls
    ADD CONSTRAINT tool_calls_pkey PRIMARY KEY (id);


--
-- Name: tools tools_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tools
    ADD CONSTRAINT tools_pkey PRIMARY KEY (id);


--
-- Name: turns turns_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (id);


--
-- Name: turns turns_session_id_index_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_session_id_index_key UNIQUE (session_id, index);


--
-- Name: webhook_attempts webhook_attempts_delivery_id_attempt_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_delivery_id_attempt_key UNIQUE (delivery_id, attempt);


--
-- Name: webhook_attempts webhook_attempts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (id);


--
-- Name: webhook_deliveries webhook_deliveries_endpoint_id_event_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_endpoint_id_event_id_key UNIQUE (endpoint_id, event_id);


--
-- Name: webhook_deliveries webhook_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);


--
-- Name: webhook_endpoints webhook_endpoints_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);


--
-- Name: webhook_endpoints webhook_endpoints_workspace_id_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_workspace_id_id_key UNIQUE (workspace_id, id);


--
-- Name: workspaces workspaces_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_pkey PRIMARY KEY (id);


--
-- Name: workspaces workspaces_tenant_id_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_tenant_id_id_key UNIQUE (tenant_id, id);


--
-- Name: agents_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agents_by_workspace ON public.agents USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: api_keys_by_tenant; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX api_keys_by_tenant ON public.api_keys USING btree (tenant_id, created_at DESC, id DESC);


--
-- Name: data_keys_by_master; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX data_keys_by_master ON public.data_keys USING btree (master_key_id, id);


--
-- Name: data_keys_current; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX data_keys_current ON public.data_keys USING btree (COALESCE(tenant_id, ''::text)) WHERE (retired_at IS NULL);


--
-- Name: events_feed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_feed ON public.events USING btree (tenant_id, workspace_id, "position") WHERE ("position" IS NOT NULL);


--
-- Name: events_unrelayed_internal; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_unrelayed_internal ON public.events USING btree (tenant_id, seq) WHERE ((relayed_at IS NULL) AND ("left"(type, 1) = '_'::text));


--
-- Name: events_unrelayed_public; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_unrelayed_public ON public.events USING btree (tenant_id, seq) WHERE ((relayed_at IS NULL) AND ("left"(type, 1) <> '_'::text));


--
-- Name: idempotency_keys_by_expiry; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_keys_by_expiry ON public.idempotency_keys USING btree (expires_at);


--
-- Name: provider_credentials_one; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX provider_credentials_one ON public.provider_credentials USING btree (workspace_id, kind, provider);


--
-- Name: session_connections_by_node; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX session_connections_by_node ON public.session_connections USING btree (node_id);


--
-- Name: session_connections_stale; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX session_connections_stale ON public.session_connections USING btree (seen_at);


--
-- Name: sessions_by_tenant; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_tenant ON public.sessions USING btree (tenant_id, created_at DESC, id DESC);


--
-- Name: sessions_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_by_workspace ON public.sessions USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: sessions_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sessions_open ON public.sessions USING btree (tenant_id, status, token_expires_at) WHERE (status = ANY (ARRAY['pending'::text, 'in_progress'::text]));


--
-- Name: source_attachments_by_source; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX source_attachments_by_source ON public.source_attachments USING btree (workspace_id, source_id);


--
-- Name: sources_by_blob; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sources_by_blob ON public.sources USING btree (blob_key);


--
-- Name: sources_by_bytes; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sources_by_bytes ON public.sources USING btree (workspace_id, sha256);


--
-- Name: sources_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sources_by_workspace ON public.sources USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: sources_unfinished; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX sources_unfinished ON public.sources USING btree (tenant_id, status, due_at) WHERE (status = ANY (ARRAY['queued'::text, 'processing'::text]));


--
-- Name: stray_blobs_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX stray_blobs_by_age ON public.stray_blobs USING btree (noted_at);


--
-- Name: tool_attachments_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_attachments_by_tool ON public.tool_attachments USING btree (workspace_id, tool_id);


--
-- Name: tool_calls_by_session; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_session ON public.tool_calls USING btree (session_id, started_at, id) WHERE (session_id IS NOT NULL);


--
-- Name: tool_calls_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_tool ON public.tool_calls USING btree (workspace_id, tool_id, started_at DESC, id DESC);


--
-- Name: tools_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tools_by_workspace ON public.tools USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: tools_slug; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX tools_slug ON public.tools USING btree (workspace_id, lower(slug));


--
-- Name: webhook_attempts_by_endpoint; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_attempts_by_endpoint ON public.webhook_attempts USING btree (endpoint_id, started_at DESC, id DESC);


--
-- Name: webhook_deliveries_by_event; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_by_event ON public.webhook_deliveries USING btree (event_seq);


--
-- Name: webhook_deliveries_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (tenant_id, endpoint_id, next_at) WHERE ((status = 'pending'::text) AND (next_at IS NOT NULL));


--
-- Name: webhook_deliveries_pending; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_deliveries_pending ON public.webhook_deliveries USING btree (endpoint_id) WHERE (status = 'pending'::text);


--
-- Name: webhook_endpoints_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX webhook_endpoints_by_workspace ON public.webhook_endpoints USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: workspaces_by_tenant; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX workspaces_by_tenant ON public.workspaces USING btree (tenant_id, created_at, id);


--
-- Name: sources sources_leave_blobs; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER sources_leave_blobs AFTER DELETE ON public.sources FOR EACH ROW EXECUTE FUNCTION public.note_stray_blob();


--
-- Name: agent_versions agent_versions_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agent_versions
    ADD CONSTRAINT agent_versions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;


--
-- Name: agents agents_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: api_keys api_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- Name: api_keys api_keys_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: chunks chunks_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


--
-- Name: data_keys data_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- Name: events events_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- Name: idempotency_keys idempotency_keys_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- Name: provider_credentials provider_credentials_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.provider_credentials
    ADD CONSTRAINT provider_credentials_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: session_connections session_connections_session_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_connections
    ADD CONSTRAINT session_connections_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;


--
-- Name: sessions sessions_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: source_attachments source_attachments_workspace_id_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_attachments
    ADD CONSTRAINT source_attachments_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents(workspace_id, id) ON DELETE CASCADE;


--
-- Name: source_attachments source_attachments_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_attachments
    ADD CONSTRAINT source_attachments_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


--
-- Name: sources sources_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: tombstones tombstones_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- Name: tool_attachments tool_attachments_workspace_id_agent_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_attachments
    ADD CONSTRAINT tool_attachments_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES public.agents(workspace_id, id) ON DELETE CASCADE;


--
-- Name: tool_calls tool_calls_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tool_calls
    ADD CONSTRAINT tool_calls_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: tools tools_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tools
    ADD CONSTRAINT tools_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: turns turns_session_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;


--
-- Name: webhook_attempts webhook_attempts_delivery_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_event_seq_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_event_seq_fkey FOREIGN KEY (event_seq) REFERENCES public.events(seq) ON DELETE CASCADE;


--
-- Name: webhook_deliveries webhook_deliveries_workspace_id_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES public.webhook_endpoints(workspace_id, id) ON DELETE CASCADE;


--
-- Name: webhook_endpoints webhook_endpoints_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: workspaces workspaces_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


