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

INSERT INTO public.agent_versions VALUES ('agt_01m7ydcmv9gzc8w9wfrjvb7p7m', 1, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 06:41:06.959148+00');
INSERT INTO public.agent_versions VALUES ('agt_01m7ydcmv9gzc8w9wfrjvb7p7m', 2, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 06:41:06.968405+00');


--
-- Data for Name: agents; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agents VALUES ('agt_01m7ydcmv9gzc8w9wfrjvb7p7m', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'Ada', 2, '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-21 06:41:06.959148+00', '2026-11-21 06:41:06.968405+00');


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys VALUES ('key_01m7ydcmthqjqd9yvpnpcbt5ea', 'ten_01m7ydcmtearxrvhwbsx17yvps', NULL, 'operator', 'operator', '\x42f1fd2d09abbba6fc6d9e4d86b3c8d67564993baca9d5abd25c68faef82f35d', 'L3PC', '2026-11-21 06:41:06.897021+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7ydcmthqjqd9yvpnrdpy4x5', 'ten_01m7ydcmtearxrvhwbsx17yvps', NULL, 'runtime', 'runtime', '\x5054538a46a6b65e2a82f324b0ae5a3abc86bd65792c59f396228601912e82b7', 'iAjs', '2026-11-21 06:41:06.897275+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7ydcmthqjqd9yvpnsgxype4', 'ten_01m7ydcmtearxrvhwbsx17yvps', NULL, 'read', 'read', '\x498e1dad7844cbbfc412268339b6ee8fb1b6b91d955b28c5943a3e67258d9bd2', 'EZFS', '2026-11-21 06:41:06.897675+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m7ydcmtearxrvhwbt1n2zgyz', 'ten_01m7ydcmtearxrvhwbsx17yvps', NULL, 'first key', 'admin', '\x36e596b95f26e7af71772e062351ec265ae89d4193048a637c0181b51ee58cc6', 'MNKx', '2026-11-21 06:41:06.894763+00', NULL, '2026-11-21 06:41:06.919784+00');


--
-- Data for Name: bun_migration_locks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bun_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bun_migrations VALUES (1, '0001', 1, '2026-11-21 06:41:06.570126+00');
INSERT INTO public.bun_migrations VALUES (2, '0002', 1, '2026-11-21 06:41:06.578641+00');
INSERT INTO public.bun_migrations VALUES (3, '0003', 1, '2026-11-21 06:41:06.596217+00');
INSERT INTO public.bun_migrations VALUES (4, '0004', 1, '2026-11-21 06:41:06.618714+00');
INSERT INTO public.bun_migrations VALUES (5, '0005', 1, '2026-11-21 06:41:06.644352+00');
INSERT INTO public.bun_migrations VALUES (6, '0006', 1, '2026-11-21 06:41:06.678205+00');
INSERT INTO public.bun_migrations VALUES (7, '0007', 1, '2026-11-21 06:41:06.682882+00');
INSERT INTO public.bun_migrations VALUES (8, '0008', 1, '2026-11-21 06:41:06.686907+00');
INSERT INTO public.bun_migrations VALUES (9, '0009', 1, '2026-11-21 06:41:06.692699+00');
INSERT INTO public.bun_migrations VALUES (10, '0010', 1, '2026-11-21 06:41:06.693671+00');
INSERT INTO public.bun_migrations VALUES (11, '0011', 1, '2026-11-21 06:41:06.698192+00');


--
-- Data for Name: chunks; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.chunks VALUES ('chk_01m7ydcn08djsfc73dp1w27r14', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'src_01m7ydcmxn2b9p27nr85knhe5g', 0, 'Handbook

Refunds

A refund is paid within fourteen days after the parcel has come back.', 20, 'Handbook > Refunds', 0, 0, 0, 88, 'parlance-lexical-hash-512', '[0.001256701,-0.0322887,0,0,0,0.010449271,-0.007863639,0.01342972,-0.007863639,0.019659098,0,-0.052013084,0.01342972,0.019659098,0,0,-0.03785478,0,-0.052013084,-0.0022528144,0.01342972,0,-0.01342972,0,0.02442506,0,0.02290083,0,0.007863639,-0.008742525,0,0,-0.06935078,0,0,0,0.01342972,-0.17337695,0.01342972,-0.052013084,-0.004760873,0.01342972,0,0.007818895,-0.17337695,0.008668847,-0.02442506,0.02442506,-0.033285744,0.015682535,0.007863639,0.008742525,0,0,-0.007818895,0,-0.0047659623,0.032353986,-0.01342972,0,0.01342972,0,0,0,0,0.007863639,-0.01342972,0.038850892,0,-0.019659098,0,0,0,0.15994723,-0.007863639,0,-0.007863639,0.015682535,0,0.08503331,-0.007200343,0,0,-0.052013084,-0.04969168,-0.027855555,0,0.021293359,0.01342972,0,0,0,0,-0.2935527,0.019659098,0,0,0,0.018858979,0,-0.007863639,0,0,0,-0.03308882,-0.01342972,0.01342972,0,-0.17337695,-0.007863639,-0.032243956,0,-0.008668847,0.007863639,-0.021293359,-0.033285744,0,0,0,0,0,0.007863639,-0.008668847,0,0.008668847,0.007863639,-0.007863639,-0.06935078,0.021293359,0,0,0,0.052013084,0,0,-0.02442506,-0.0062293774,0.01342972,0,-0.007863639,0,0,0.03785478,-0.010990251,0,0.01342972,0,0,0,0,-0.01342972,0,0,0,-0.03308882,0,0,0.025230268,0,-0.02685944,-0.015682535,0.0022528144,0,-0.2935527,-0.008668847,-0.01342972,-0.01342972,0.01342972,0.02442506,0,0,0,0,0.052013084,0,0.052013084,0,0,0,0.10163948,0,-0.01342972,0.01342972,0,-0.007863639,0,0.082780495,0.01342972,0,-0.01342972,0.03136507,0.015682535,0,-0.15994723,0,0,0,0.05592106,0,0.052013084,0,0,-0.007863639,0.007863639,0,0.014425834,0.015682535,0.045673676,0.01342972,0,0.007863639,-0.043344237,0.021293359,-0.01342972,-0.02442506,0,-0.014425834,0,0.023546174,-0.0009961134,0,0.015682535,0.015682535,0.057579163,0,0,0,0,0,0.052013084,-0.019659098,0.015682535,0.004760873,-0.02442506,0,0,0.06935078,0,0.007863639,-0.033285744,0,-0.007818895,0,-0.01342972,0,0,-0.01342972,0.016532486,0.17337695,-0.007863639,0,0.05987672,0,0,-0.014425834,0.007863639,0,0,-0.01342972,0,0.01342972,0.14552139,0,0.1655133,0,0,0,-0.053668242,0,0.007863639,0,-0.015682535,0,0,0.03308882,-0.052013084,0,0,0.015682535,0,0,0.008668847,0,-0.17337695,-0.01342972,0,0,0.12136386,0.01342972,0,0.007863639,-0.17337695,0,0,0,0,0,0.02442506,0,0,-0.019659098,0,-0.015682535,-0.02442506,0,0.0062293774,-0.016532486,0.01342972,0,0.01342972,0.01342972,-0.10402617,0.0062293774,0.01342972,-0.03785478,0.019659098,-0.016532486,-0.2935527,0,0,0,0,0.01342972,0,0,0.01342972,0,0.007863639,0,0.057579163,0.014425834,-0.007863639,0,0,0,-0.015682535,0.03785478,0.015727278,-0.016532486,-0.18680666,0,0.015682535,0.007863639,-0.015682535,0.007863639,0,-0.019659098,0,0,0,0.07411165,0.052013084,-0.021293359,0,0,0,0,-0.008668847,0.007863639,-0.01342972,0,0,0,0,-0.01342972,0.008668847,-0.02685944,-0.01342972,0.02442506,-0.007863639,-0.027522737,0,0,0,0,-0.02442506,0,-0.007863639,0.29129988,0,0,-0.015682535,0,-0.014425834,-0.007863639,0.15994723,0,-0.0068675256,-0.02442506,0.01099534,0.029112255,0,0,0,0.01342972,0,-0.015727278,0,0,-0.007863639,0,0.0016342618,0,0,0,0,-0.01342972,0,0.052013084,0,0,0,0.015682535,0,-0.01342972,0,0.007863639,0.031438746,-0.0055660815,0,0.02442506,-0.18124059,0,0,0.01342972,-0.0022528144,0,-0.01342972,0,0.030108368,-0.014425834,0,-0.052013084,0,0,0,0,-0.01342972,-0.014425834,0,-0.007863639,-0.09144934,0,0,0,0.015682535,0,-0.007863639,0.01342972,0.05683192,0.007863639,-0.02685944,0.044149444,0,0.02685944,0,0.0055660815,0.01342972,0.019659098,0,0.007863639,-0.01342972,0,-0.008668847,-0.01342972,0,0,-0.0512845,0.015682535,0.008668847,-0.01342972,0,0,-0.036285806,0,0,0,0,0,0.17337695,-0.015682535,-0.007863639,0.0322887,0.015727278,-0.007863639,0.01342972,-0.02442506,0.03136507,-0.01342972,0,0,0,0.007863639,0,0.01342972,0.06935078,0,0.014425834,-0.01342972,-0.019659098,-0.008668847,-0.015682535,0,-0.007863639,0,0,-0.01342972,-0.01342972,-0.015682535,0,0,0.18990943]');


--
-- Data for Name: data_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.data_keys VALUES ('01a1fcd6-532f-718c-bd6c-8eb93c6130ab', NULL, 'local:73f8a7a5f989f0e4', '\xa119f27f5388ec837191da092b348270d0ed528fe88d98ff85cf37a8fa434be31594baed793dbe24f8a94ad828745e225a3cf25a6db3635443f349d4', '2026-11-21 06:41:06.862553+00', NULL);
INSERT INTO public.data_keys VALUES ('01a1fcd6-5393-70e7-8b7d-94d0d6fb5d1e', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'local:73f8a7a5f989f0e4', '\xce7ae2e2427ddc71ea8b837455683d08a5809b6525a025b0d905bebf2ad7bbc68c60fb8d5c8f704edaecb5137ea6bf4494738d06d14da970bec5cd31', '2026-11-21 06:41:06.962766+00', NULL);


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'evt_01m7ydcmxtac3ejg5qhvhvnh2x', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', '_source.queued', 'src_01m7ydcmxn2b9p27nr85knhe5g', '\x7b2274797065223a225f736f757263652e717565756564222c226576656e745f6964223a226576745f30316d377964636d7874616333656a673571687668766e683278222c2274656e616e745f6964223a2274656e5f30316d377964636d746561727872766877627378313779767073222c22776f726b73706163655f6964223a2277735f30316d377964636d746561727872766877627430687a6a347974222c22637265617465645f6174223a22323032362d31312d32315430363a34313a30372e3030313233375a222c2264617461223a7b7d7d', '2026-11-21 06:41:07.001237+00', '2026-11-21 06:41:07.006384+00', NULL, '', 'req_01m7ydcmxm3agqqjbjnegvc7dj');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'evt_01m7ydcn0bqq6a386zcmrp56q6', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'kb.source_ingested', 'src_01m7ydcmxn2b9p27nr85knhe5g', '\x7b2274797065223a226b622e736f757263655f696e676573746564222c226576656e745f6964223a226576745f30316d377964636e3062717136613338367a636d727035367136222c2274656e616e745f6964223a2274656e5f30316d377964636d746561727872766877627378313779767073222c22776f726b73706163655f6964223a2277735f30316d377964636d746561727872766877627430687a6a347974222c22637265617465645f6174223a22323032362d31312d32315430363a34313a30372e30383036325a222c2264617461223a7b22736f757263655f6964223a227372635f30316d377964636d786e3262397032376e7238356b6e68653567222c226e616d65223a2268616e64626f6f6b2e6d64222c226b696e64223a22696e6c696e65222c226d656469615f74797065223a22746578742f6d61726b646f776e222c22737461747573223a227265616479222c2273697a655f6279746573223a39342c22706167655f636f756e74223a302c226368756e6b5f636f756e74223a312c22656d62656464696e675f6d6f64656c223a227061726c616e63652d6c65786963616c2d686173682d353132222c226475726174696f6e5f6d73223a392c2272656164795f6174223a22323032362d31312d32315430363a34313a30372e3038303632305a227d7d', '2026-11-21 06:41:07.08062+00', '2026-11-21 06:41:07.084942+00', 1, '', 'req_01m7ydcmxm3agqqjbjnegvc7dj');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (3, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'evt_01m7ydcn14tz5g1w6rr32hevpe', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'post_call_transcription', 'ses_01m7ydcn14tz5g1w6rr32hevpe', '\x7b2274797065223a22706f73745f63616c6c5f7472616e736372697074696f6e222c226576656e745f6964223a226576745f30316d377964636e3134747a3567317736727233326865767065222c2274656e616e745f6964223a2274656e5f30316d377964636d746561727872766877627378313779767073222c22776f726b73706163655f6964223a2277735f30316d377964636d746561727872766877627430687a6a347974222c22637265617465645f6174223a22323032362d31312d32315430363a34313a30372e3133393131365a222c2264617461223a7b226167656e745f6964223a226167745f30316d377964636d7639677a633877397766726a76623770376d222c22636f6e766572736174696f6e5f6964223a227365735f30316d377964636e3134747a3567317736727233326865767065222c2273657373696f6e5f6964223a227365735f30316d377964636e3134747a3567317736727233326865767065222c22737461747573223a22646f6e65222c22757365725f6964223a22616461222c227472616e736372697074223a5b7b22726f6c65223a226167656e74222c226d657373616765223a2248656c6c6f2041646121222c227475726e5f6964223a227475726e5f30316d377964636e3163746a6779707735616762723533797239222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a22486f77206c6f6e6720646f6573206120726566756e642074616b653f222c227475726e5f6964223a227475726e5f30316d377964636e3163746a6779707735616761637230393472222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a2246726f6d20e2809c68616e64626f6f6b2e6d64e2809d202848616e64626f6f6b205c753030336520526566756e6473293a20e2809c4120726566756e6420697320706169642077697468696e20666f75727465656e2064617973206166746572207468652070617263656c2068617320636f6d65206261636b2ee2809d222c227475726e5f6964223a227475726e5f30316d377964636e3163746a6779707735616761637230393472222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c2272657472696576616c223a7b22656c61707365645f74696d65223a302e3030347d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030397d7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a222f746f6f6c206f726465725f737461747573207b5c226f726465725c223a5c2231375c227d222c227475726e5f6964223a227475726e5f30316d377964636e31736a6867736770646d7074646877727063222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a226f726465725f73746174757320616e7377657265643a207b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d377964636e31766b6774663630333830326d6a643378685c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d222c227475726e5f6964223a227475726e5f30316d377964636e31736a6867736770646d7074646877727063222c22746f6f6c5f63616c6c73223a5b7b22726571756573745f6964223a2263616c6c5f30316d377964636e31766b6774663630333830326d6a64337868222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22706172616d735f61735f6a736f6e223a227b5c226f726465725c223a5c2231375c227d222c22746f6f6c5f6861735f6265656e5f63616c6c6564223a747275657d5d2c22746f6f6c5f726573756c7473223a5b7b22726571756573745f6964223a2263616c6c5f30316d377964636e31766b6774663630333830326d6a64337868222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22726573756c745f76616c7565223a227b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d377964636e31766b6774663630333830326d6a643378685c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d5c6e222c2269735f6572726f72223a66616c73652c22746f6f6c5f6c6174656e63795f6d73223a327d5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c22746f6f6c73223a7b22656c61707365645f74696d65223a302e3030337d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030357d7d2c22696e746572727570746564223a66616c73657d5d2c226d65746164617461223a7b2273746172745f74696d655f756e69785f73656373223a313739353234333236372c2263616c6c5f6475726174696f6e5f73656373223a302c227465726d696e6174696f6e5f726561736f6e223a22656e6465645f62795f617069222c226d61696e5f6c616e6775616765223a22656e222c22746578745f6f6e6c79223a747275652c227475726e5f636f756e74223a332c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22616e616c79736973223a6e756c6c2c22636f6e766572736174696f6e5f696e6974696174696f6e5f636c69656e745f64617461223a7b22636f6e766572736174696f6e5f636f6e6669675f6f76657272696465223a6e756c6c2c2264796e616d69635f7661726961626c6573223a7b226e616d65223a22416461227d7d2c226861735f617564696f223a66616c73652c226861735f757365725f617564696f223a66616c73652c226861735f726573706f6e73655f617564696f223a66616c73652c227472756e6361746564223a66616c73652c227472616e7363726970745f75726c223a22222c226167656e745f76657273696f6e223a322c226d6f64616c697479223a2274657874227d7d', '2026-11-21 06:41:07.139116+00', '2026-11-21 06:41:07.143122+00', 2, '', 'req_01m7ydcn21b1k9f69qgc8ze8z3');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\x4495c90a2915602777661587426fbc37339babb9d672d4d92b61c7be9e538bce', '\x1d4d16c53aadf78b85bdbd18b769bb1c71a6d14baa8c1e0f2fce307e44545add', '01a1fcd6-5369-70fe-b0bd-46d87b728c7b', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1e628d82fe1f99afc04ac1d762d87b71c0df31e0d39c62f0f7ecd531a228d649c5f0f568f91250bde364bd50212b3f94d01811b16dc80e3631f39e5eece1d305eb57839eceb61b8386492d149f4a295ed7aa686f16cf1317ca668abb2a45d18c136919e1882325229dc1f7d4591296d79bd96f651a4aedab77691e04af211e755f8185b8951e12f39217d4366e3deae72f96f24c7f6177ed8ebc83103e9578e92ac921c0e8213af87a302041b62af973dab83147ca6a17c4832cfc97097430558221d5db069ff19e2d90fe0b525d24f618cca155cbc0bbcef1c41910fcd8b38c298acf0a6cb1af4058187f5c4cf500683fdb7a9e132f165660872666dee6d009a3fb5e114262ca2c6e16ea251dc83fabc1a65f735301626f9cab7cced0d0ae48fefe46666a41be8087d727bb7ee5d4e729087401709f637606e71a6873ed1f78b2af4109d983fe0dd442f6aadf36aa29aa5a061d904171c8d3b509a500820539d25a0ea88a6fe341cc6a15f12375608b243f441794b657d9f0af631affa06db8bc1fbebd1781680a26952140df45028122bdc331a5fc33d6f5a09ebc0e5ce4465e6beb8d25db4cb49f142a9ac180386e11b0bd1375627b4c5d5aeb2002cec9fb2789ecaadb4798ff1b8ab9899b610a356864e18d78ae015df267f2bfba5603f983dd143267964e1e5fe58332b2f43d9f575a3cc42ba821ee2b9fc2fa0a2cc612586fd2ce97228b20528fb4180c2abcfe9c51ef823b5f76333c7dfe6fb9927ff0fec19a1d55900b06aabec463f96e2812766706fef75c2826d8fd005cfdd1b919b5df700ff4195e5856f54e3aa440c504a4797b39eb4099aa1fa0048d607ab263cd7eb5f77b7058b2af3104042e3cfba59610b468449683800a37535f35bd0418949aec57546d433dc83b15fee0a72c827d93cdccc4ec49b9c286ea562b55c4d9e3604bb0e0f4a25a6381f68dcfe11ed57e32e9c06112254280034847e27af862839765031af52a109b0a1412c814f9ecc82a84cefa3aad9cf055d506325afe74bd8ff9e2e493c59b71245042d1cbff9ed78b49e82989aac421a0c60c5625bc9c9defce4719bd93f4915346de6469ad5bee3d280687a96c780adc2ddbff86dbd3cbe8fc6f628e24b8b7ed9ee85e3424bb0585c531cf218ed2fc897b4a493c3c5ba942b054172da02e880a46995a3336738c082a38a3885c653d9a90f254923aafe79ed45ce6c9604831c5644fca8d6dda02724e7a880ebf666be9996c90cb50792358de859055a497b3dab9fe27baeb90aa2e2d7271a11f543f47e99515a6b430f69a399798708f7afd88f56d0e6660b9689b5ae37634cd9b85c733584f051d1fc062ad275cc35a7828df60b2bdeb0a3879bd2b3ffb77a256f93428ffa4af01656440c4ac272aba3c1415521932735f7bbd707d2362afc2445f2c745872a328b12462d5cd0b9693b87a7ad3ccd1cf9f03fbeab4c5ae761228128c4835a686ce72d3dccd21ad925bb0eb101e0a5a947907164c8572d9bdece7b44688dc2e3e1859c653e5233099a832c59bb0ab9e429cfd776e442751086a4ffe41981b8229144eae8052cee92cd09f85', '2026-11-21 06:41:06.921063+00', '2026-11-22 06:41:06.921063+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\x931f454b6080697beebb6eb1ac913e2be91055e0c28ccfb8aa1f53819c1bf0e5', '\x329c7a0d25c0d498ed839f3d7e2c5cc8ddce5446b0184402cc88731d6b5fd3b7', '01a1fcd6-5399-7bd0-89d3-ffb572608d3b', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1e255ab91ce074a1188a006252f51c7ec1a11fffbaaabc08f4b111e0997f97d2aa47ae69cdd7db52f1da5c3ad1bb86d9eb1dbe15dc54d6759437f876003063b129e8e97e6a42d94c3213bab4e4a293c0ca3ff415c8516afe52b213400d953c2b5bff657d206e352509adb1659a91eeab58ae82ea9179ea6cfd8349bc1176614c9f61349634a47cefbc43524855c31d5bec47964077470579166d5af385e3b7e721bebfe3d8538a2afc38a7b97aa6f0b0051a59171b66b66e0567fd568f00583a0270a9d1db0fba98f1549e3f5cc32eeb35344699505379573e44c5670b582b131d4cd8f8c399e7e491325e1b27f4ae60faaaad612540c0f8adefea6e594ec375776172f60666f4c44f0730bee76ca4d7cdc4d3984df7a788285c971ef88d595fbc283341fb972ec015a2bcb3198f8cbe32d47dc21a5f8843d63d9adddac9fa85dfc4103c615d9d9867b67727455edb48764bd7ef3846b8ac8e29c90748fea4b4b1097c1ece2f1b5094898a1fe175bda1cffa2b2fbcab27a90531412b0f2b930d3754753044bcb83f74a104b3284a82ffb4969ee1bde0abc602443e6de2c72ae56bccbb304d202e453949fffaa8d3cd5a0f59d0c6c44e337f1d8532ff72752dd4736d72f3d4e2e6e5130f44307f23e666a14a49feb39a2934c0e056d62055162b17432d3a04504e1cb8214836239e3c49fffba7416d33ad21645c04544efe3c4eb991950966f5362e5bfedb9228801bb15d4cd5dc79bab4a6c3f4cb211b2b528e64a633b5850be9dc88316acad1d3f0cd6f401078bdd29eefdb53d07fc44079635931683f51e453e066b63dd7129a0ec93291c7c0871f9871c362eee19e09b798fe6ea4e6dc9924c3ebe2e68e4cac0466d9af4414cafaf6e4aae3022392146d20a9bad2505459684207d0522b3074d2ed3f5814f394cd91894abe6af26b93db6bc58203ca5701d0ae5aab414910e8ac7e11fbdd3c203dfecadaf0a53dfd165523d714799cad7acf1058507f64920125af9e90b738fb0b2c2634a7814579b88c81f411d399fcea34fbbc7ba06b3c896b8ee2248b8ceb6f8de6665d04c9f7d96f180dfcfb91d1534fd8a4772de3ceeea11190d1', '2026-11-21 06:41:06.969773+00', '2026-11-22 06:41:06.969773+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\xcfe7c31c87c60431fee46dbad1117a16c88f6356696b07a9023a51a8ff7c72ff', '\xec3a91ba73ab95c926010435aa3356c80e8c709fded63f46955b10e3d5a7cbff', '01a1fcd6-539c-7c98-9f1f-527f2bb4a0f8', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1ee2fa73161c97cc1f95c9911db9d439ed561f46f85b9be9981b857f1cf5826ea7b7888c3171b94168d0e8c637df71f4aa791c432934090b5d7ddcd33b35dad65e51b032a5d7e663eae22bbe951ebfb4f7e6f01be4b739ff70148d470b4f4ce9ed7e496aabb2285f917edc7cb149ec15d8f0f9b53bfb4aa131f937ede2a822cf50917ff81505f2c68b47a39513fbba91a5da5b83c431d514a7114a64786f772cbf18a75ceb0d19c8a6c09aaf6f93db7a22b25b2b679917644a1f3c5b552493eb794cf5758ed199bdcbf5a31c9afd277aecde2797ecde15a378f823c4782eb36adccd54dc94898b22cae2d5f41284be7b6e0f88cb3d079eaab700d8ac6a9c880a5ee2fe14825d249144b7d2459d2ddb07036a3ac4a1f05f5e18eb85f69492574ba92360dded07363ede94e2d0bd86f0c8236c37b11facdac977a2a57025dbcfc6eabf2ced57de28deb4079b908a4cd78a54550abbfec6d6d4e5dfb8dd926e81fc998348e5be7f0225eb0934688a1aa7ae197986a9c24bcefc0dd53eecd21276cbd4e8786402fde6285da147c26e40232acaebeda207cce77dcbcf31e97712266f3fe7dd62d4651e5843fe3989a53dc7800f50858373c7ea02f3f98c906d52caadddc065df2cfee1b042c77dc96e89848dfc5b1c1c20c3c20edf4825103e5e8ebec9bc81ba93acea60b83c3d7b943a87ee85eedf83bcbe5b0e1ed0c094b73d3d3cbbd5be1e5ec9aa29234a22459948f140d941e969584333642f732ca574e463d23739c846c6bcad16b77d92e997ef90f52161f4aed5ce046bc3e567290828e3295e645186c5b93b71d85daba1fbc5c1f7221cf1ab1f0c18f1ae11b982711bdbb4616436200ee0ddd27594f7a2fead154d4d6168194a4e9e0fa2e288b17f029f2da97888dca6cc0f32d2503232c548c44794c5bf797a6d25afd9903923d2775b6c27f13b438a7b108e40d658a69a8a1b1ad2a0a16e3ad93cca6fe5b995f5e308cf0163841b002e84e413c321bb2ba1bdd9ebf0890f77b5ca505b1693b87f9260fde03730a4cf863268fc913acaae6f867018cf2baa7edaa3fa5ed6788543d4c1e14e8823906aae51240224c60ecf7755001168c13406df824489080a6902b34d46606787ce4f7f769dda1e8b25b7248c6a62deef34caa72554651ce07715fdc747962d1215256363a3456e3d0c428a31a4e1a73ea95ad97bbcc8d657bd27a820347efdd440c0df8655c177ceea805b2712fdae29ad09c160da96d5bb82818ffe685a4224c7e86da0de833eed3678bb3a6a6f78be6f4dcd7b532ec82841810f6440b8b3a7ea2a5a7805a0028dd07e0c10112c9d241cb10edc3c1b0a2e109578f3658afcd9f534dcb95729958b4567a244415c7722159cf1b7e182acad81568db823b95a371e3d093f15338e5e3e45c712ac773d056eab8a3a7a7dbb19ebfd8332344cdb8441ba21a1e9ede2ba0c9d6d90ccba66', '2026-11-21 06:41:06.972824+00', '2026-11-22 06:41:06.972824+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\x22a686b1f1934b8e3cb5de1deb4441524b799e6671991e8a5a39e72d0f156618', '\x42233a198d5a88a98e211dadddda2cb1b1fdbf8d8e85ed0472e6618bd9258c33', '01a1fcd6-53a5-77b7-adfb-2978198980f4', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1ea6afe8aeb1baad06dd530730572607411a077d561eadfb70cdb400ae1aaa486d0a838c83a9a0cd51a3ef1e8e7dc54a5230dcd151786ea35da570a5d89b27a2a32beb19566fcd56bce1d314e4555f5413c0fcf0fd2cb3fffdd0a6593edca5f1cc49dadeb36d907f833de2315fa019c1f4ffbba971ba3b151f86fb72500cf158895359eb9f4ea4d0cc0f4f727b60862b18fb006d199e835fd8e613bb1c6407b140711aa6192e7e64433186212009286ea97b415ad5024a22e60845e3780ed618cb0804b6c5ab0fdd3eb9fc4dd0c129d01ae2563751d46ed675a04f9a7fdefdab3d94eef8ad7d904996d092e25e3bc252cf597de05862442b07e8c195d8cc34431e30cf1b8144b95a37ae9a5ab2cdd5c051322a9acedd5faa402c7a4f8261906e4226c39a265cb331c3145b380f73e999694be7f16395513a0ade7de86ff45ebd391d7ef616f709af7cf00a5bc3640fcfc4f54bd995aac7f3c12ec4abc4b90a8f48484624278cb554e4748c354174e46029093c66b49cdee74a24af757137da3527f42e1beab31ba33083c4d6e1f998745109a1b8e797c5ee4fabf5', '2026-11-21 06:41:06.981504+00', '2026-11-22 06:41:06.981504+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\xf87fa1dc0d6109d2798abe9fdf6b71ab005769eb6760d4e6f56db5d864c8e378', '\xccde2d3c316ec5f0ab2b605758b2f9cb8ee575a00c41d49d271d0aa4eabe4a00', '01a1fcd6-53b1-7095-8970-1a16b32e877b', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1ec157a1d1fdbea5cd1b1f83c46edfbf9f231393d95f712fb1a6188cc08fafc5708be0ab4867d2129b645648d3a1fcd84dc8858bc40c0479acca69293560a7b1e53995d9b6ca7b246195efa6f470dfb752a3e77bae709b1ea2ef2fa5e417546adba2fbd41d1531e9c3bdd2f7d40fc58172b2778564b557b42f8a84d6ef99d30411da82fdba3353f2fd9e2c00b95c9a1ef527fbbdb4766beea025cdc08b5c813a19f61f8ae716fbca32cf6eb1f24c72db8ec78365253218723fa0bcb331f2c0953c9ba8e82f039a5741531ea693f173a1ce16151911c78ce78e852801808f9028bae9a0ab19db9b352d71357f74b702f4bf8d0ec416b6d4acef622ee42c3604ef73a5bf80701e4376dab34965b74cfad97e3da7fe92249f5cbefdda863a090b8db48988dabce02750071bc21bfe770258724647bbd34c7b9db8a00f726d2532dc3c4b0df455105bb6edbdcf9caf11ced5ff037ef4e8b520a070131055a9fa3902d2517e5ec41acef95b68cdad9cefd2b3913825c5f0f1292f42d0366d9fdc1d7c2d843e13e71375e6dd4022f3705141fb3d3a8b2c1c7c406999eadac89ddee93b21ac1c166fa6896cd9a9dfffbc78d7de11ccf3e4a9d92a6316092d7cc29b43a81dd12fa5be520bb0479d5c32c9ad4f04f6b9fa0d92bde7876ae2fb0c47b970d211b171842bbf05e48cf276123aaa4a0c83aaa4552478169a1c0a1145d10d5941a46ce48da6d4c609d6f2698719ee1a3d62a42866d17852370e9530ab1a2c1949ecc7a9231dc61163ee4c6c1e23a690e6ed5b283545b71367cbea8201092ca861565adc0093552f2948dd4604493841bf7f807116d7499d9411659999214c35703b3bb2be308fc82edec384fdd894e685ae5735cf3c77aff071c2cec83c0d58e97251c6875e8c5fa1438e9c0ba6bd13fe6208c52355f7eb6f14c93ce0', '2026-11-21 06:41:06.993037+00', '2026-11-22 06:41:06.993037+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\xfcf215ea536a136c6066a49aece62addbd3cde4ae11b46cae73e8320c3b79da0', '\x582fe6366f5d998475e40dabb0f38a1948f0c746872309415a78b69287ddf68e', '01a1fcd6-53b5-73d4-a330-ef1565904919', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1e5400d62ee8240a8191f9f93d339c2ecc5dfd79bf560fc8bc04fb812ff938661a30ec8db647cba836b5888657249d1cedc4f864ccf24631b47b5a5d2c36ec059f36de0a504397b0fe2a07db8f14202c584502434a3db3001a135f5b5bb3b1276bf6478f77c8cef419863a776fa81d9b1fdc2671f345655a89fe0cee3b2aceb4c65937a5f877fe3002fe58828e432f2dbf8653bb83781eeed7798b5158e23493b4a6e17c2c57106200f8bf33b634213d6e81e8cf648e520e22815929caeee88de1c593452a12272896c7e45c6c1cba30ab8e16a6a3d707427f1483a8b29b1fef1da1c0003f08a59e21139ec94acd50f06f3180e264aed349942c029c07de0de0ac1c980a546ff13a1c4ecffa41306a9a85ced37163682eec71d693af1dcb22db4977231d5b68066784ac662975314f82d1599c66b395e143e861c316f854f0db630602fcee0646337fdb40e5233f6a177e33ea5809abdce18dc3c2cceb896cee1fcefe8fa616112cc4a228a8a2109d7ebb31441f16a70bd321884022a3efceac28452ccfd59cdda7b1a07507793659d5e56eb5d5965925fa43cff18b797a9b3413cb31962cd8fc98ab512c77e9080cd68be58f9aaee0d6d3aa568c2097daaa7389e718ce8f1093d7f2e00b6b86720558383361a3fe10035a9dd06eb1e915037fac2bd5a36e7b2f747265f6c59c85fd1ee0cebe7b02aadb764419426635e96ab5de11c22c9bb837f2067dcace27f98c40bb308df9e16985c53077b2edc7f6fbfcf94e74ad9658f10c6a0d566afebccea47a7133548466aa7411a566df34c171b54867763e5eba3c32e57038dfc04f11a8a0e5070c929eddd0e13931d941f6f08cf0154bdd3bd5e23e6bbe0cd808763754ba5bd88d5b532cca21c4e96cf00b93764b7f00ffd3371effc1f11e565d44c1b19fa26ed0436be2d473c3a6d61bef1aa821401fe5477ffc1bb1bf8535cb23600f2dda4bbf98d130a98027eae32767d6285557696bb55f73d1f81213183fd632', '2026-11-21 06:41:06.99725+00', '2026-11-22 06:41:06.99725+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'key_01m7ydcmtearxrvhwbt1n2zgyz', '\xe690a0acb2930d0c8707bd3631b22d728a6cb3867b417156bc26014209a4e483', '\x4ae3642bdfc653c6e676dd903bded3e938d409ea204d5aea750a3112fa5c43a0', '01a1fcd6-5412-79f2-8323-3fffeaf99237', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1e697f655c94f3c44552c29ce23457ee42f4d726102da49219477614639b0c1f1c5c46420dc1c4a3858ad71804a459f49b6a05295f62a70d16cfe8b1f65914a2316eb7a2a7cd3aef503e23044bc4592c46ca469462f2b369fdbe5f7f49c03025d872ab0c038d3c370f1d0523f076e7e5a59b42806e8b582cdedef502b28d1de0ddcc2168a37aecc5a52776f678ef3934f4e1dfe3dbd8c9ad6aa69e2c811bd534b0973b97f8a3d28ecab09f7d4b4ef6eb462fb1d7e5b1c618ac53fca78dcd70528fcb8ced3d71b3d087f8dee0223e517763268c03cbf0c9995dc1e45434d21e7277d28bd5cbdcac8d359cbc71497b3f4e1c5741829b270d5cd5fda536f35eef14bd90cc4dfd64f7e807221bcda1b7fc48bd7bcea363f215cb2f36964a7c95e73503676c161f976ca61852830c1d346855fd903f38525b27916ef0dc6790111dbf8dcecc20f55ab6c1012ba1b105cec7b126dae41fa0a373b984e89238d9c9060c629f05a447f28b220f3361c4b06f940229ea1d383e86dc9f5ea18f7e38f2a53fc40043d67ae398022108a39978ef94759be2d5', '2026-11-21 06:41:07.09065+00', '2026-11-22 06:41:07.09065+00');


--
-- Data for Name: page_token_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.page_token_key VALUES (true, '\x4cf8a09b0fa4781ee00468c54cbb6b64d0f6fedb51d8fe95dc0b69f51637ee06');


--
-- Data for Name: provider_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider_credentials VALUES ('cred_01m7ydcmxk6kxhpsn54bdcnkt0', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'tts', 'openai', 'recorded', 'https://speech.example/v1', '', '', '\x0201a1fcd6539370e78b7d94d0d6fb5d1e833d48be19bc2b776ce2f67a424544ffcee45ae67022852bf41d36de866fb42ba7409c410cbe0c34', '', '2026-11-21 06:41:06.995886+00', '2026-11-21 06:41:06.995886+00');


--
-- Data for Name: session_connections; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('ses_01m7ydcn14tz5g1w6rr32hevpe', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'agt_01m7ydcmv9gzc8w9wfrjvb7p7m', 2, 'ada', 'text', 'completed', 'ended_by_api', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "similarity"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '{}', '{}', '{"name": "Ada"}', '\x0201a1fcd6539370e78b7d94d0d6fb5d1ed96461fd698f9955eae45b35eda9f29cb102b362de278165f798fea431f7fd8eea80db2eeb3a53ffcbe53f6d49eeedb69a8c43f50d23707f2d18', '8e43caf3dae5c223adc99e212cbcbe2f0b2f0c736f44b8023751a6754bc19083', '2026-11-21 06:56:07.108819+00', 'en', 3, 0, 0, 1, 3600, 1800, '2026-11-21 06:41:07.108819+00', '2026-11-21 06:41:07.11627+00', '2026-11-21 06:41:07.135949+00', NULL, '2026-11-21 06:41:07.139116+00', NULL, NULL, NULL, '', '');


--
-- Data for Name: signing_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.signing_keys VALUES ('ee91f09d933a67b6', '\xee91f09d933a67b6d5239da37bac7f1ae98bcbffa0184dc1f9278ed0b60ff802', '\x0201a1fcd6532f718cbd6c8eb93c6130abdb506e958d90a68af386d1ea93fbd9cfe79b1519873e25c8699e208ab2f65a7be343952c78d6974e379177d4d41df14bb3a6c529dbac5b548c033076', '2026-11-21 06:41:07.108819+00', NULL);


--
-- Data for Name: source_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_attachments VALUES ('agt_01m7ydcmv9gzc8w9wfrjvb7p7m', 'src_01m7ydcmxn2b9p27nr85knhe5g', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'auto', '2026-11-21 06:41:07.10002+00');


--
-- Data for Name: sources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sources VALUES ('src_01m7ydcmxn2b9p27nr85knhe5g', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'handbook.md', 'inline', 'text/markdown', 94, 'e4418b2a2edd42f7d3203d8749179c416be923802050276db04d3a0483a8c12f', 'ws_01m7ydcmtearxrvhwbt0hzj4yt/3wmz5w3pztu4fdly32uahsv257', 'ready', '', 100, false, '', '2026-11-21 06:41:07.08062+00', 1, '2026-11-21 06:41:07.001237+00', NULL, 0, 1, 'parlance-lexical-hash-512', '', '', '2026-11-21 06:41:07.001237+00', '2026-11-21 06:41:07.08062+00', '2026-11-21 06:41:07.08062+00', '', 'req_01m7ydcmxm3agqqjbjnegvc7dj');


--
-- Data for Name: stray_blobs; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tenants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tenants VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'Acme', 'enterprise', '2026-11-21 06:41:06.894763+00', '2026-11-21 06:41:06.894763+00');


--
-- Data for Name: tombstones; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tombstones VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'agt_01m7ydcn27efrr05jkf675xkhs', '2026-11-21 06:41:07.145099+00');


--
-- Data for Name: tool_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_attachments VALUES ('agt_01m7ydcmv9gzc8w9wfrjvb7p7m', '01a1fcd6-539c-7b78-9960-0bebca2d81de', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', true, 3, '2026-11-21 06:41:06.991067+00', '2026-11-21 06:41:06.991067+00');


--
-- Data for Name: tool_call_counts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_call_counts VALUES ('ten_01m7ydcmtearxrvhwbsx17yvps', 'ses_01m7ydcn14tz5g1w6rr32hevpe', '01a1fcd6-539c-7b78-9960-0bebca2d81de', 1);


--
-- Data for Name: tool_calls; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_calls VALUES ('call_01m7ydcn1vkgtf603802mjd3xh', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'ses_01m7ydcn14tz5g1w6rr32hevpe', 'turn_01m7ydcn1sjhgsgpdmptdhwrpc', '01a1fcd6-539c-7b78-9960-0bebca2d81de', 'order_status', '{"order": "17"}', '{"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m7ydcn1vkgtf603802mjd3xh"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}
', 200, 2, 1, '', '', '2026-11-21 06:41:07.132147+00');


--
-- Data for Name: tools; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tools VALUES ('01a1fcd6-539c-7b78-9960-0bebca2d81de', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'order_status', 'Tells where an order is.', 'http', '{"method": "POST", "webhook_url": "http://127.0.0.1:44833/orders", "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}, "timeout_seconds": 20, "response_max_bytes": 262144}', '\x0201a1fcd6539370e78b7d94d0d6fb5d1eff45be84a9486a5bc66e0ed30cf039ff055cb45756eef0db834dcfd7ee21c22a61681e676fc64746eaa579e2d25955694fcd', '2026-11-21 06:41:06.978861+00', '2026-11-21 06:41:06.978861+00');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES ('turn_01m7ydcn1ctjgypw5agbr53yr9', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'ses_01m7ydcn14tz5g1w6rr32hevpe', 0, '', 'Hello Ada!', 'completed', '[{"role":"assistant","item_id":"item_01m7ydcn1ctjgypw5agec4vxm4","text":"Hello Ada!"}]', '[]', '', 0, 0, '{"tools_ms": 0, "total_ms": 0, "retrieval_ms": 0, "model_first_token_ms": 0}', '', '', '2026-11-21 06:41:07.11627+00', '2026-11-21 06:41:07.11627+00');
INSERT INTO public.turns VALUES ('turn_01m7ydcn1ctjgypw5agacr094r', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'ses_01m7ydcn14tz5g1w6rr32hevpe', 1, 'How long does a refund take?', 'From “handbook.md” (Handbook > Refunds): “A refund is paid within fourteen days after the parcel has come back.”', 'completed', '[{"role":"user","item_id":"item_01m7ydcn1d5k317xd3d8h240bk","text":"How long does a refund take?"},{"role":"assistant","item_id":"item_01m7ydcn1qex3kzdwns7nknhbe","text":"From “handbook.md” (Handbook \u003e Refunds): “A refund is paid within fourteen days after the parcel has come back.”","at":9}]', '[{"quoted": true, "excerpt": "Handbook\n\nRefunds\n\nA refund is paid within fourteen days after the parcel has come back.", "heading": "Handbook > Refunds", "chunk_id": "chk_01m7ydcn08djsfc73dp1w27r14", "source_id": "src_01m7ydcmxn2b9p27nr85knhe5g", "similarity": 0.4719051735457682, "source_name": "handbook.md"}]', 'extractive', 0, 0, '{"tools_ms": 0, "total_ms": 9, "retrieval_ms": 4, "model_first_token_ms": 1}', '', '', '2026-11-21 06:41:07.11627+00', '2026-11-21 06:41:07.12761+00');
INSERT INTO public.turns VALUES ('turn_01m7ydcn1sjhgsgpdmptdhwrpc', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'ses_01m7ydcn14tz5g1w6rr32hevpe', 2, '/tool order_status {"order":"17"}', 'order_status answered: {"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m7ydcn1vkgtf603802mjd3xh"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}', 'completed', '[{"role":"user","item_id":"item_01m7ydcn1t2yktz5z920zgqp3b","text":"/tool order_status {\"order\":\"17\"}"},{"role":"assistant","calls":[{"id":"call_01m7ydcn1vkgtf603802mjd3xh","item_id":"item_01m7ydcn1vkgtf6038062atat8","name":"order_status","arguments":{"order":"17"}}],"at":1},{"role":"tool","item_id":"item_01m7ydcn1vkgtf6038062atat8","text":"{\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m7ydcn1vkgtf603802mjd3xh\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}\n","call_id":"call_01m7ydcn1vkgtf603802mjd3xh","result":{"tool_id":"01a1fcd6-539c-7b78-9960-0bebca2d81de","status_code":200,"latency_ms":2,"attempts":1,"started_at":"2026-11-21T06:41:07.132147Z"},"at":4},{"role":"assistant","item_id":"item_01m7ydcn1z4tchgs5cwwt3r30c","text":"order_status answered: {\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m7ydcn1vkgtf603802mjd3xh\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}","at":5}]', '[]', 'extractive', 0, 0, '{"tools_ms": 3, "total_ms": 5, "retrieval_ms": 0, "model_first_token_ms": 1}', '', '', '2026-11-21 06:41:07.129831+00', '2026-11-21 06:41:07.135944+00');


--
-- Data for Name: webhook_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_attempts VALUES ('dlv_01m7ydcn0w9qb0hnp5dkj1my5c', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'we_01m7ydcmws8fgweefazsz9tjyb', 1, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m7ydcn0bqq6a386zcmrp56q6", "Content-Type": "application/json", "X-Parlance-Event": "kb.source_ingested", "Webhook-Signature": "v1,Vlwmh44VwgZJKKp8uMvDoJzxQfgMyKXtFY8aMsfWPJA=", "Webhook-Timestamp": "1795243267", "X-Parlance-Event-Id": "evt_01m7ydcn0bqq6a386zcmrp56q6", "X-Parlance-Signature": "sha256=83110163e55214cc6472ae5d7fd4b46d73e036d29392692ebf4c9b2b3ca7c921", "X-Parlance-Timestamp": "1795243267"}', '{"Date": "Sat, 21 Nov 2026 06:41:07 GMT", "Content-Length": "0"}', '', '2026-11-21 06:41:07.099304+00', 2, NULL);
INSERT INTO public.webhook_attempts VALUES ('dlv_01m7ydcn4ssrw12gqva21hxr5z', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'we_01m7ydcmws8fgweefazsz9tjyb', 2, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m7ydcn14tz5g1w6rr32hevpe", "Content-Type": "application/json", "X-Parlance-Event": "post_call_transcription", "Webhook-Signature": "v1,BMMHyvw30QvkhYEWU7G0LtSZ6yut3DXBwBukBDD2N1Y=", "Webhook-Timestamp": "1795243267", "X-Parlance-Event-Id": "evt_01m7ydcn14tz5g1w6rr32hevpe", "X-Parlance-Signature": "sha256=1589551576de30fa0df3ef81f078b2fbc20c4eeeb9bb2e59bd64d6b9e8c8f251", "X-Parlance-Timestamp": "1795243267"}', '{"Date": "Sat, 21 Nov 2026 06:41:07 GMT", "Content-Length": "0"}', '', '2026-11-21 06:41:07.225855+00', 0, NULL);


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'we_01m7ydcmws8fgweefazsz9tjyb', 'evt_01m7ydcn0bqq6a386zcmrp56q6', 'kb.source_ingested', 2, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-21 06:41:07.08601+00');
INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'we_01m7ydcmws8fgweefazsz9tjyb', 'evt_01m7ydcn14tz5g1w6rr32hevpe', 'post_call_transcription', 3, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-21 06:41:07.147178+00');


--
-- Data for Name: webhook_endpoints; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_endpoints VALUES ('we_01m7ydcmws8fgweefazsz9tjyb', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'ws_01m7ydcmtearxrvhwbt0hzj4yt', 'https://127.0.0.1:35535', '{post_call_transcription,kb.source_ingested}', 'recorded', 'enabled', '', 0, '2026-11-21 06:41:07.22878+00', NULL, '\x0201a1fcd6539370e78b7d94d0d6fb5d1e7e4488b1fce5e3116afb6f5a0f5253d84fb19ec2154e26f0c3d275447f646bcab0a0d874d9854e0e2ffa7fbedf88283d4b7e0f26ccec0fda540fddc05f1623c71f8e14b70033789bb728ca474c04', 'pKI=', NULL, NULL, '2026-11-21 06:41:06.971282+00', '2026-11-21 06:41:06.971282+00');


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workspaces VALUES ('ws_01m7ydcmtearxrvhwbt0hzj4yt', 'ten_01m7ydcmtearxrvhwbsx17yvps', 'default', 94, '2026-11-21 06:41:06.894763+00', '2026-11-21 06:41:06.894763+00');


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


