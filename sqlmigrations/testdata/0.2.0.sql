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
    batch bigint DEFAULT ((pg_current_xact_id())::text)::bigint,
    CONSTRAINT chunks_index_check CHECK ((index >= 0))
);
ALTER TABLE ONLY public.chunks ALTER COLUMN id SET STORAGE MAIN;
ALTER TABLE ONLY public.chunks ALTER COLUMN tenant_id SET STORAGE MAIN;
ALTER TABLE ONLY public.chunks ALTER COLUMN workspace_id SET STORAGE MAIN;
ALTER TABLE ONLY public.chunks ALTER COLUMN source_id SET STORAGE MAIN;
ALTER TABLE ONLY public.chunks ALTER COLUMN model SET STORAGE MAIN;
ALTER TABLE ONLY public.chunks ALTER COLUMN embedding SET STORAGE MAIN;


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
-- Name: embedding_models; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.embedding_models (
    name text NOT NULL,
    dimension integer NOT NULL,
    chosen_at timestamp with time zone NOT NULL
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
-- Name: knowledge_evaluations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.knowledge_evaluations (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    top_k integer NOT NULL,
    min_similarity double precision,
    question_count integer NOT NULL,
    embedding_model text NOT NULL,
    metrics jsonb NOT NULL,
    results jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    duration_ms integer NOT NULL,
    CONSTRAINT knowledge_evaluations_question_count_check CHECK ((question_count > 0)),
    CONSTRAINT knowledge_evaluations_top_k_check CHECK (((top_k >= 1) AND (top_k <= 50)))
);


--
-- Name: mcp_catalogs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.mcp_catalogs (
    tool_id uuid NOT NULL,
    digest text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    remote_tools jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);


--
-- Name: mcp_discoveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.mcp_discoveries (
    tool_id uuid NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint text DEFAULT ''::text NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    listed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    changed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    asking_until timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL
);


--
-- Name: next_vectors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.next_vectors (
    chunk_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    source_id text NOT NULL,
    model text NOT NULL,
    embedding public.vector NOT NULL
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
-- Name: session_mcp_catalogs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.session_mcp_catalogs (
    session_id text NOT NULL,
    tool_id uuid NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    digest text NOT NULL,
    created_at timestamp with time zone NOT NULL
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
    assigned_variables jsonb DEFAULT '{}'::jsonb NOT NULL,
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
-- Name: source_codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_codes (
    tenant_id text NOT NULL,
    words_number bigint NOT NULL,
    model text NOT NULL,
    version integer NOT NULL,
    codes bytea NOT NULL
);
ALTER TABLE ONLY public.source_codes ALTER COLUMN codes SET STORAGE EXTERNAL;


--
-- Name: source_pages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_pages (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    key text NOT NULL,
    page integer NOT NULL,
    content text NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT source_pages_page_check CHECK ((page > 0))
);


--
-- Name: source_postings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_postings (
    tenant_id text NOT NULL,
    words_number bigint NOT NULL,
    page integer NOT NULL,
    postings bytea NOT NULL
);
ALTER TABLE ONLY public.source_postings ALTER COLUMN postings SET STORAGE EXTERNAL;


--
-- Name: source_reembeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_reembeddings (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    state text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    busy_until timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    CONSTRAINT source_reembeddings_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'refused'::text])))
);


--
-- Name: source_words; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.source_words (
    number bigint NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    source_id text NOT NULL,
    language text NOT NULL,
    version integer NOT NULL,
    chunk_count integer NOT NULL,
    term_count bigint NOT NULL,
    page_count integer NOT NULL,
    lengths bytea NOT NULL,
    batch bigint DEFAULT 0 NOT NULL,
    CONSTRAINT source_words_page_count_check CHECK ((page_count > 0))
);


--
-- Name: source_words_number_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.source_words ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.source_words_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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
    pages_done integer DEFAULT 0 NOT NULL,
    ocr_page_count integer DEFAULT 0 NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT sources_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'inline'::text]))),
    CONSTRAINT sources_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
    CONSTRAINT sources_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT sources_stage_check CHECK ((stage = ANY (ARRAY[''::text, 'parsing'::text, 'ocr'::text, 'chunking'::text, 'embedding'::text]))),
    CONSTRAINT sources_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'ready'::text, 'failed'::text])))
);


--
-- Name: staged_vectors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.staged_vectors (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    text_hash bytea NOT NULL,
    embedding public.vector NOT NULL,
    stored_at timestamp with time zone NOT NULL
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
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
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
    started_at timestamp with time zone NOT NULL,
    agent_id text
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
    retrieval jsonb,
    CONSTRAINT turns_index_check CHECK ((index >= 0)),
    CONSTRAINT turns_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
);


--
-- Name: upload_holds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.upload_holds (
    key text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    bytes bigint NOT NULL,
    held_until timestamp with time zone NOT NULL,
    CONSTRAINT upload_holds_bytes_check CHECK ((bytes >= 0))
);


--
-- Name: vector_indexes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.vector_indexes (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    name text NOT NULL,
    up_to bigint NOT NULL,
    chunk_count bigint NOT NULL,
    built_at timestamp with time zone NOT NULL
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
-- Name: workspace_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.workspace_embeddings (
    workspace_id text NOT NULL,
    tenant_id text NOT NULL,
    model text NOT NULL,
    target_model text DEFAULT ''::text NOT NULL,
    started_at timestamp with time zone,
    error text DEFAULT ''::text NOT NULL
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

INSERT INTO public.agent_versions VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', 1, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "hybrid"}, "instructions": "Answer from the handbook.", "first_message": "", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-22 05:59:27.122247+00');
INSERT INTO public.agent_versions VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', 2, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'Ada', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "hybrid"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-22 05:59:27.133637+00');


--
-- Data for Name: agents; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.agents VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'Ada', 2, '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "hybrid"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '2026-11-22 05:59:27.122247+00', '2026-11-22 05:59:27.133637+00');


--
-- Data for Name: api_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.api_keys VALUES ('key_01m80xd2kbk3g98r4s11k3zse1', 'ten_01m80xd2k9kps37zmdr86k2yp9', NULL, 'operator', 'operator', '\x2e2de254296270d7985ab42b1de477c06d4eb480162e90760b0803392eaf0816', 'CiZn', '2026-11-22 05:59:27.083061+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m80xd2kbk3g98r4s15hwm4k7', 'ten_01m80xd2k9kps37zmdr86k2yp9', NULL, 'runtime', 'runtime', '\x4d99201e05bdd56180d01211504db85ea3427e0473c46633ad03df2185dc84f1', 'Rn78', '2026-11-22 05:59:27.08336+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m80xd2kbk3g98r4s18v05zgz', 'ten_01m80xd2k9kps37zmdr86k2yp9', NULL, 'read', 'read', '\x77746c8c8cde398d439b183e35236a1b0f7cc51230b2228129451e2fcc4da861', 'ngMr', '2026-11-22 05:59:27.083602+00', NULL, NULL);
INSERT INTO public.api_keys VALUES ('key_01m80xd2k9kps37zmdrcx14cw0', 'ten_01m80xd2k9kps37zmdr86k2yp9', NULL, 'first key', 'admin', '\xb4f972239d9e1f2cf5deab58592b8be56c2e9480229be7f783cbeb68fb58ee9c', 'xrwg', '2026-11-22 05:59:27.081001+00', NULL, '2026-11-22 05:59:27.093954+00');


--
-- Data for Name: bun_migration_locks; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: bun_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.bun_migrations VALUES (1, '0001', 1, '2026-11-22 05:59:26.759868+00');
INSERT INTO public.bun_migrations VALUES (2, '0002', 1, '2026-11-22 05:59:26.763804+00');
INSERT INTO public.bun_migrations VALUES (3, '0003', 1, '2026-11-22 05:59:26.77201+00');
INSERT INTO public.bun_migrations VALUES (4, '0004', 1, '2026-11-22 05:59:26.783046+00');
INSERT INTO public.bun_migrations VALUES (5, '0005', 1, '2026-11-22 05:59:26.7925+00');
INSERT INTO public.bun_migrations VALUES (6, '0006', 1, '2026-11-22 05:59:26.804876+00');
INSERT INTO public.bun_migrations VALUES (7, '0007', 1, '2026-11-22 05:59:26.8072+00');
INSERT INTO public.bun_migrations VALUES (8, '0008', 1, '2026-11-22 05:59:26.809431+00');
INSERT INTO public.bun_migrations VALUES (9, '0009', 1, '2026-11-22 05:59:26.812232+00');
INSERT INTO public.bun_migrations VALUES (10, '0010', 1, '2026-11-22 05:59:26.813139+00');
INSERT INTO public.bun_migrations VALUES (11, '0011', 1, '2026-11-22 05:59:26.815524+00');
INSERT INTO public.bun_migrations VALUES (12, '0012', 1, '2026-11-22 05:59:26.82769+00');
INSERT INTO public.bun_migrations VALUES (13, '0013', 1, '2026-11-22 05:59:26.831735+00');
INSERT INTO public.bun_migrations VALUES (14, '0014', 1, '2026-11-22 05:59:26.833899+00');
INSERT INTO public.bun_migrations VALUES (15, '0015', 1, '2026-11-22 05:59:26.836169+00');
INSERT INTO public.bun_migrations VALUES (16, '0017', 1, '2026-11-22 05:59:26.83881+00');
INSERT INTO public.bun_migrations VALUES (17, '0018', 1, '2026-11-22 05:59:26.83922+00');
INSERT INTO public.bun_migrations VALUES (18, '0019', 1, '2026-11-22 05:59:26.84225+00');
INSERT INTO public.bun_migrations VALUES (19, '0020', 1, '2026-11-22 05:59:26.848104+00');
INSERT INTO public.bun_migrations VALUES (20, '0021', 1, '2026-11-22 05:59:26.848676+00');
INSERT INTO public.bun_migrations VALUES (21, '0022', 1, '2026-11-22 05:59:26.850373+00');


--
-- Data for Name: chunks; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.chunks VALUES ('chk_01m80xd2sw257adrwrp43nn5fa', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'src_01m80xd2q0252btr8ma14dg6vr', 0, 'Handbook

Refunds

A refund is paid within fourteen days after the parcel has come back.', 20, 'Handbook > Refunds', 0, 0, 0, 88, 'parlance-lexical-hash-512-v2', '[0.024778761,-0.057485,0,0,0,-7.0695605e-05,-0.018637093,0.021219263,-0.018637093,0.024849456,0,0,0.021219263,0.024849456,0,0,-0.06317335,0,0,-0.0035594977,0.021219263,0,-0.021219263,0,0.04195409,-0.009911505,-0.043350343,0,0.008725588,-0.017175328,0,0,-0.098618224,0,0,0,0.021219263,-0.1643637,0.021219263,0,-0.021219263,0.021219263,0,0.014867256,-0.13149096,0,-0.04195409,0.04195409,-0.049628217,0.024778761,0,0.017175328,0,0,-0.016511675,0,-0.017104633,-0.024849456,-0.021219263,0,0.021219263,0,0,0,0,0,-0.021219263,0.04195409,0,-0.024849456,0,0,0.07565699,0.14314444,0,0,-0.01553091,0.024778761,0.009911505,0.123396985,-0.01758907,0,0,0,-0.09020513,-0.021219263,0,0.021219263,0.021219263,-0.009911505,0.009911505,0,0,-0.27829194,0.024849456,0,0,0,0.03937192,0,-0.018637093,0,0,0,-0.04606872,-0.021219263,0.021219263,0,-0.14140247,-0.01553091,-0.048095755,0,-0.009911505,0,-0.021219263,-0.049628217,0,0,0,0,0,0.01553091,-0.009911505,0,0,0.018637093,-0.018637093,-0.098618224,0.03675017,0,0,0,0,0,-0.009911505,-0.04195409,-0.0036301934,0.021219263,0,-0.01553091,0,0,0.06317335,-0.024849456,0,0.021219263,0,0,0,0,-0.021219263,0,0,0,-0.04606872,0,0,0.023316996,0,-0.042438526,-0.024778761,0.0035594977,0,-0.27829194,0,-0.021219263,-0.021219263,0.021219263,0.04195409,0,0,0,0,0,0,0,0,0,0,0.17253959,0,-0.021219263,0.021219263,0,0,0,0.10340112,0.021219263,0,-0.021219263,0.049557522,0.024778761,0,-0.1102717,0,0,0,0.09383533,0,0,0.009911505,0,0,0,0,0,0.04460177,0.08959653,0.021219263,0,0,0,0.03675017,-0.021219263,-0.04195409,0,0,0,0.024778761,0.021219263,0,0.024778761,0.024778761,0.0025821708,0,0,0,0,0,0,-0.024849456,0.024778761,0.021219263,-0.04195409,0,0,0.11505459,0,0.018637093,-0.049628217,0,-0.019159354,0,-0.021219263,0,0,-0.021219263,0,0.13149096,-0.01553091,0,0,0.009911505,0,0,0.01553091,0,-0.009911505,-0.021219263,0,0.021219263,0.14314444,0,0.1457266,0,0,0,-0.05740309,0,0.01553091,0,-0.04195409,0,0,0.04606872,0,0.009911505,0,0.024778761,0,0,-0.009911505,0,-0.1643637,-0.021219263,0,0,0.1643637,0.021219263,0,0.01553091,-0.1643637,0,0,0,0,0,0.04195409,0.06574548,0.009911505,-0.014937952,0,-0.04195409,-0.04195409,0,0.0036301934,-0.018637093,0.021219263,0,0.021219263,0.021219263,0.009911505,0.0036301934,0.021219263,-0.06317335,0.024849456,0,-0.27829194,0,0,0,0,0.021219263,0,0,0.031130766,0.009911505,0.018637093,0,0.021219263,0,-0.01553091,0,0,0,-0.024778761,0.06317335,0.037274186,0,-0.18558297,0,0.024778761,0.01553091,-0.024778761,0.01553091,0,-0.024849456,0,0,0,0.10340112,0,-0.021219263,0,0,0,0,0,0.018637093,-0.021219263,0,0,0,0,-0.021219263,0,-0.042438526,-0.021219263,0.04195409,-0.018637093,-0.043486547,-0.009911505,0,0,0,-0.04195409,-0.009911505,-0.018637093,0.19181164,-0.009911505,0,-0.024778761,0,0.009911505,0,0.14314444,0,-0.039856356,-0.04195409,0.020734826,0.045998022,0,0,0,0.021219263,-0.009911505,-0.01553091,0,0,-0.018637093,0,-0.0036301934,0,0,0,0,-0.021219263,0,0,0,0,0,0.024778761,0,-0.021219263,0,0,0.066732846,-0.021219263,0,0.04195409,-0.17989461,-0.009911505,0,0.021219263,-0.0035594977,0,-0.021219263,0.009911505,0.024778761,0,0,0,0,0,0,0,-0.021219263,0,0,-0.028548596,-0.119837485,0,0,0,0.024778761,0,-0.018637093,0.021219263,0.09984939,0.01553091,-0.042438526,-0.018637093,0,0.042438526,0,0.0056883525,0.021219263,0.024849456,0,0,-0.021219263,0,0,-0.031130766,-0.06574548,0,-0.084392615,0.024778761,0,-0.031130766,0,0,0.018637093,0,0,0,-0.009911505,0.009911505,0.1643637,-0.024778761,0,0.057485,0.018637093,-0.01553091,0.021219263,-0.04195409,0.08390818,-0.021219263,0,0,0,0.018637093,0,0.021219263,0.08218185,-0.009911505,0,-0.021219263,-0.03476096,0,-0.024778761,0,-0.01553091,0,0,-0.021219263,-0.021219263,-0.024778761,0,0,0.1643637]', 813);


--
-- Data for Name: data_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.data_keys VALUES ('01a201d6-8a58-7e72-aa13-bad25095c7d7', NULL, 'local:73f8a7a5f989f0e4', '\xcfd99c5dc0137cd066a353afa73f1fed477cba842c15f54a89b322521db586addebb750b5ea90bc29fa3406bceaf7eba790268f38bfe37c082617413', '2026-11-22 05:59:27.064539+00', NULL);
INSERT INTO public.data_keys VALUES ('01a201d6-8a96-7539-a517-39ef80b7a965', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'local:73f8a7a5f989f0e4', '\xc2765a0acb57676afcb91b93cff2e34b6c72b0d4101a69b38a8c6a0499ae7f1093183195e921f13e308853e56c075a1be236c147ea34f707a5d7c06a', '2026-11-22 05:59:27.126104+00', NULL);


--
-- Data for Name: embedding_models; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.embedding_models VALUES ('parlance-lexical-hash-512-v2', 512, '2026-11-22 05:59:27.155188+00');


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'evt_01m80xd2q649pwf5btm2b6rw6j', 'ws_01m80xd2k9kps37zmdr9cxz4zj', '_source.queued', 'src_01m80xd2q0252btr8ma14dg6vr', '\x7b2274797065223a225f736f757263652e717565756564222c226576656e745f6964223a226576745f30316d3830786432713634397077663562746d3262367277366a222c2274656e616e745f6964223a2274656e5f30316d38307864326b396b707333377a6d647238366b32797039222c22776f726b73706163655f6964223a2277735f30316d38307864326b396b707333377a6d64723963787a347a6a222c22637265617465645f6174223a22323032362d31312d32325430353a35393a32372e3230343435375a222c2264617461223a7b7d7d', '2026-11-22 05:59:27.204457+00', '2026-11-22 05:59:27.20884+00', NULL, '', 'req_01m80xd2q0g6r7qd48044zmnh7');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'evt_01m80xd2t217qv70e79tna4fn9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'kb.source_ingested', 'src_01m80xd2q0252btr8ma14dg6vr', '\x7b2274797065223a226b622e736f757263655f696e676573746564222c226576656e745f6964223a226576745f30316d38307864327432313771763730653739746e6134666e39222c2274656e616e745f6964223a2274656e5f30316d38307864326b396b707333377a6d647238366b32797039222c22776f726b73706163655f6964223a2277735f30316d38307864326b396b707333377a6d64723963787a347a6a222c22637265617465645f6174223a22323032362d31312d32325430353a35393a32372e3239333933375a222c2264617461223a7b22736f757263655f6964223a227372635f30316d38307864327130323532627472386d6131346467367672222c226e616d65223a2268616e64626f6f6b2e6d64222c226b696e64223a22696e6c696e65222c226d656469615f74797065223a22746578742f6d61726b646f776e222c22737461747573223a227265616479222c2273697a655f6279746573223a39342c22706167655f636f756e74223a302c226368756e6b5f636f756e74223a312c22656d62656464696e675f6d6f64656c223a227061726c616e63652d6c65786963616c2d686173682d3531322d7632222c226475726174696f6e5f6d73223a31302c2272656164795f6174223a22323032362d31312d32325430353a35393a32372e3239333933375a227d7d', '2026-11-22 05:59:27.293937+00', '2026-11-22 05:59:27.299625+00', 1, '', 'req_01m80xd2q0g6r7qd48044zmnh7');
INSERT INTO public.events OVERRIDING SYSTEM VALUE VALUES (3, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'evt_01m80xd2v720vvjw8dq2w0ge8z', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'post_call_transcription', 'ses_01m80xd2v720vvjw8dq2w0ge8z', '\x7b2274797065223a22706f73745f63616c6c5f7472616e736372697074696f6e222c226576656e745f6964223a226576745f30316d38307864327637323076766a773864713277306765387a222c2274656e616e745f6964223a2274656e5f30316d38307864326b396b707333377a6d647238366b32797039222c22776f726b73706163655f6964223a2277735f30316d38307864326b396b707333377a6d64723963787a347a6a222c22637265617465645f6174223a22323032362d31312d32325430353a35393a32372e3336353935335a222c2264617461223a7b226167656e745f6964223a226167745f30316d38307864326b717739743876633961303636336e716562222c22636f6e766572736174696f6e5f6964223a227365735f30316d38307864327637323076766a773864713277306765387a222c2273657373696f6e5f6964223a227365735f30316d38307864327637323076766a773864713277306765387a222c22737461747573223a22646f6e65222c22757365725f6964223a22616461222c227472616e736372697074223a5b7b22726f6c65223a226167656e74222c226d657373616765223a2248656c6c6f2041646121222c227475726e5f6964223a227475726e5f30316d3830786432766476377638636a68763371376170773135222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a22486f77206c6f6e6720646f6573206120726566756e642074616b653f222c227475726e5f6964223a227475726e5f30316d38307864327663716a32793870763874676e3378687a30222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a2246726f6d20e2809c68616e64626f6f6b2e6d64e2809d202848616e64626f6f6b205c753030336520526566756e6473293a20e2809c4120726566756e6420697320706169642077697468696e20666f75727465656e2064617973206166746572207468652070617263656c2068617320636f6d65206261636b2ee2809d222c227475726e5f6964223a227475726e5f30316d38307864327663716a32793870763874676e3378687a30222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c2272657472696576616c223a7b22656c61707365645f74696d65223a302e3030327d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030397d7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a222f746f6f6c206f726465725f737461747573207b5c226f726465725c223a5c2231375c227d222c227475726e5f6964223a227475726e5f30316d38307864327674776b357a687a736e3037713665767339222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a226f726465725f73746174757320616e7377657265643a207b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d383078643276776d797937746677797472747631777a325c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d222c227475726e5f6964223a227475726e5f30316d38307864327674776b357a687a736e3037713665767339222c22746f6f6c5f63616c6c73223a5b7b22726571756573745f6964223a2263616c6c5f30316d383078643276776d797937746677797472747631777a32222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22706172616d735f61735f6a736f6e223a227b5c226f726465725c223a5c2231375c227d222c22746f6f6c5f6861735f6265656e5f63616c6c6564223a747275657d5d2c22746f6f6c5f726573756c7473223a5b7b22726571756573745f6964223a2263616c6c5f30316d383078643276776d797937746677797472747631777a32222c22746f6f6c5f6e616d65223a226f726465725f737461747573222c22726573756c745f76616c7565223a227b5c22626f64795c223a5c227b5c5c5c226f726465725c5c5c223a5c5c5c2231375c5c5c227d5c222c5c22686561646572735c223a7b5c224163636570745c223a5b5c226170706c69636174696f6e2f6a736f6e2c20746578742f2a3b713d302e392c202a2f2a3b713d302e315c225d2c5c224163636570742d456e636f64696e675c223a5b5c22677a69705c225d2c5c22417574686f72697a6174696f6e5c223a5b5c2252454441435445445c225d2c5c22436f6e74656e742d4c656e6774685c223a5b5c2231345c225d2c5c22436f6e74656e742d547970655c223a5b5c226170706c69636174696f6e2f6a736f6e5c225d2c5c224964656d706f74656e63792d4b65795c223a5b5c2263616c6c5f30316d383078643276776d797937746677797472747631777a325c225d2c5c22557365722d4167656e745c223a5b5c225061726c616e63652d546f6f6c732f315c225d7d2c5c226d6574686f645c223a5c22504f53545c222c5c22706174685c223a5c222f6f72646572735c222c5c2271756572795c223a7b7d7d222c2269735f6572726f72223a66616c73652c22746f6f6c5f6c6174656e63795f6d73223a307d5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c22746f6f6c73223a7b22656c61707365645f74696d65223a302e3030317d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030337d7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a2275736572222c226d657373616765223a222f746f6f6c207368656c7665735f5f73746f636b207b5c226974656d5c223a5c227465615c227d222c227475726e5f6964223a227475726e5f30316d38307864327730616b32636266656a6a76773676307073222c22746f6f6c5f63616c6c73223a5b5d2c22746f6f6c5f726573756c7473223a5b5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b7d2c22696e746572727570746564223a66616c73657d2c7b22726f6c65223a226167656e74222c226d657373616765223a227368656c7665735f5f73746f636b20616e7377657265643a20536576656e2e222c227475726e5f6964223a227475726e5f30316d38307864327730616b32636266656a6a76773676307073222c22746f6f6c5f63616c6c73223a5b7b22726571756573745f6964223a2263616c6c5f30316d38307864327732656b6b386d3977396461666a68703561222c22746f6f6c5f6e616d65223a227368656c7665735f5f73746f636b222c22706172616d735f61735f6a736f6e223a227b5c226974656d5c223a5c227465615c227d222c22746f6f6c5f6861735f6265656e5f63616c6c6564223a747275657d5d2c22746f6f6c5f726573756c7473223a5b7b22726571756573745f6964223a2263616c6c5f30316d38307864327732656b6b386d3977396461666a68703561222c22746f6f6c5f6e616d65223a227368656c7665735f5f73746f636b222c22726573756c745f76616c7565223a22536576656e2e222c2269735f6572726f72223a66616c73652c22746f6f6c5f6c6174656e63795f6d73223a307d5d2c22666565646261636b223a22222c2274696d655f696e5f63616c6c5f73656373223a302c22636f6e766572736174696f6e5f7475726e5f6d657472696373223a7b22636f6e7661695f6c6c6d5f736572766963655f74746662223a7b22656c61707365645f74696d65223a302e3030317d2c22746f74616c223a7b22656c61707365645f74696d65223a302e3030327d7d2c22696e746572727570746564223a66616c73657d5d2c226d65746164617461223a7b2273746172745f74696d655f756e69785f73656373223a313739353332373136372c2263616c6c5f6475726174696f6e5f73656373223a302c227465726d696e6174696f6e5f726561736f6e223a22656e6465645f62795f617069222c226d61696e5f6c616e6775616765223a22656e222c22746578745f6f6e6c79223a747275652c227475726e5f636f756e74223a342c22696e7075745f746f6b656e73223a302c226f75747075745f746f6b656e73223a307d2c22616e616c79736973223a6e756c6c2c22636f6e766572736174696f6e5f696e6974696174696f6e5f636c69656e745f64617461223a7b22636f6e766572736174696f6e5f636f6e6669675f6f76657272696465223a6e756c6c2c2264796e616d69635f7661726961626c6573223a7b226e616d65223a22416461227d7d2c226861735f617564696f223a66616c73652c226861735f757365725f617564696f223a66616c73652c226861735f726573706f6e73655f617564696f223a66616c73652c227472756e6361746564223a66616c73652c227472616e7363726970745f75726c223a22222c226167656e745f76657273696f6e223a322c226d6f64616c697479223a2274657874227d7d', '2026-11-22 05:59:27.365953+00', '2026-11-22 05:59:27.36969+00', 2, '', 'req_01m80xd2w4rnnrvkg8ts7572p9');


--
-- Data for Name: idempotency_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\xc58c6f74672664c0c2d6329607ffa1bccefe9697f45db4058831d1d28d0cd20e', '\xb02343c5d6ad62a9b2d169fc7ecfebfb91a0e20415a797224a5c8eaec2a5f5ef', '01a201d6-8a77-7699-80d1-0d03a22b46cb', NULL, '\x0201a201d68a967539a51739ef80b7a965caec8c2706d2116f22dd4c0862ae8a9de66904ef686eb4e6371bb382b71674948ae29d117dc0243252d30544255f6b65ad11b4df55eb8e0b64fc80fb12713e7fbf298fb445f565507864b44d4056e00a7097b33406d6e6bdbe6112ff9ff2bda3a83b57be8a8958ea4b6c2b965e908804b6130dca8602ec93f36b44087bc232744408ad3a5c7f66862b627c964b09f53f3893240f2fdaf10917b4f655bd3e918c07bff27da2c298394646b4c564a2377081ce80aa60ae5916e9d641c7e7c7f696c24fcaebc3397de05bfdd0d960d3a39ef930c7b3de646ec05083725610aa6383a7d8fd8e750ed1cca2264d65adfc6c7e46d9618184a17463d66c8e90abfdb010d26e3fbf0596a3536624c967d34966231193a9d5ced992651a9eddfbf746029e02cfe74ed852dca7ba33af0edc759d6944dbccaac2f6398853e96935b40407073912ce42b22ec1698060d4f9d373cbb8a96542d0feb805d1bbbc97680f38da09c883c5cd9797b03a38528c574bd88581e4ec2046ca0b068c66c4f8424007544a05230e4801f28787208a319bc37c47d5602e8b2f60b039d65ec4d97a28b7e2dd6d756ba21fbe4bf4eaa2773aa6d16fe3612264f883437da5a6823e307a6067da6683ed2c12a3c009ae673bdcb0892ef5ee256b0cda9c8e297d5722c6369749d9cdee91a8026f919c504719ce644d281b931427e54c0815e8051af18dbaaf8bc5e55b1dd4a693b474bac7dd019aaffb9eb3d053dd8ae5cfd8510940dc91fcb1a8d76c042c2c59042dff3de82febefcc19dec4d2d0581338aea7f7d587596c9bdce87b9789cd9c1abe90428c6d4b41738c3ea5b00b347c6e378f043460b7c520848c51d6d16926d83013e843f8ce88803a943d1eac7648f2fda5a60c04b156220ff6a6d5068f72b2b2c250fdfa8eb7dc0cc06ff9a8240c368424f957f11fdbb8b792f71afaad1362ba07b592768e84a8919660ee4185e5c9e6fe880844d0146f4e2b86b048ff491522cee17c68ec3e9f25de81aac3fd82ae4aa9945f35ec5660a38b6e49eb1f26b6e3ac2cfcd1ef5e03c2c7a13d3755f69b7ab2170604ec5c5fea42e1d10c7bff19fb644e57cc9b646082305c8379da4cffbec4742631d360116d97b768dfb72d130a4a40ddb54544224ef45336dd45bde692a40f972c4d92ef9b8a3ad08970636706be9cb9673a0d177d5c4607a28fd6689b115758c385c0e696e3197c204d6930c8d5b1824850912a007e0284e53a0d734a6f9cf0127c8d10b9518b70edd5a380ecb87c6f3d68666f6c9fd9f91aefb5e893285ffebb359d0075797fddbda77e9379234b5015970226b2675919eeac42d7d2b60957dca45fbf3db37c43d8d8d1dc5d8b3ba4feae74e3eb022db68567d5a19c27480eb956f196f7e0c1afe8e3ed43d7caf5b47f07130afd1b6e52b5e4e2a1e0f4e1088677d703adeb2e754c0048a4ca150252cb359eee3cfc9f7bce007d04d54e21cb2f8b8b5a24efe965df9c21cb4d490c13f1029e477a73ba6f6e2f4ca50fdc764c38612f49c8bcba502ce43285005ef17e5a477c930ce9c65bd35f9a5b83cb814a0db060dde80ae69bc0b768816b90eda66a7949dad2d427254ccea5a38a52fee71117081cd19827d72c7714779c810cb0079bb304cfae802d16102a910d10c4ec79c14d9e7cf6337f91', '2026-11-22 05:59:27.095431+00', '2026-11-23 05:59:27.095431+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x17aa162730d37871a3a51c49c6632a0962e5bc0aa004b59e2516696899f6a53d', '\xf2f0dfb6d9b2982c7463c4dfe6514de696a8ec2dac957af5655d306165fc7d8e', '01a201d6-8aa0-7607-8fa5-e5fbdd3737bd', NULL, '\x0201a201d68a967539a51739ef80b7a965d7940cf2947849d9778363404a022e361d7a5175c71cbcf42eceee3bbe14a51b9394643d80bf3ce92b2edc738569e8ce42061fd1c76d2445d9f3ccb0d90f538173261c4733f9dda497ca9eb9205e052c53861b69e3a698a5f59e4bb1a98adc55b0251d67f9d6421f0f410a8307a2d324fed20169e21305a47b81831debd6f73644728fa0b02d2f67e8ccbfc2a496028a486cbfe90db6deb09065eeb766167f27417f4ab7aa4aa81b790c5111906e5ed4a6b8983be49b7817957048b23ad69fbe2716ef582ecce555409f813cfc91ef369a6adf91931b73a82813649880ec9910a53d8b8f76d1ce3d71ba663599710ac68148bce2bb477393b41b8f87d08982f5755678f9721d47eca92769a8811196ac9a6edd86ea8ce29905ff044a2ee4ac7ac3319c30eaf3ced8d6e3cb3c0f60a49a5f70b5d932cbb78296ead09ca0a5f56a0bc481b88641cab43c4c5dd7b49a1d3fab932ca2ea175500e760ced8055947d7b709c29cd6a467cedc6c0538762ad9ad4ddfe8456ca194d87493dd86003bf11e748939afab4d89d2d3523489b60b5b9170fe362efd540faf2c31c07e92e5819a6bf2655c166ccb43b40b28b66bde09fe0e3ada88b5fab4b55022b368b34aeaa2442a0bc158aa240012e5f58d6cd43473beb6494a85018949d589a0fa1e22739984c849f974a4786c312479d6eb763947431340ea50fa84dd53c253d45da1259c29e8fdaf42ad00485e1852a98edf55fa9e61e921d92afd1cae4215c79797db12d413827bf8d587e718c060081884d1f40f352ddd4dab53f21297b5ce76749bb4d2bf6bb4ae933f3d79a9e9d26710de74de5bedf3283b47b81f7bac3ad48f78e0f8ffdcba05beb578784d47b49eeb2f3c90a676e4c028f262558eadcd1e60c06c111fbad1bb7cbcd543129f0963af5f63ab788cf837f3e8a5ed7a00ec3491541b8f84e4a45e403548943a040ccfc16163256e43b4ab2e7ed9fc3ff31872060456523a556a63b7e44844f02e852051e5577406c11751afc6fe4ae277df95a640332973e9b633476bf253b4997aa498fda119d45b175e867e2097d60a4b93e53c0f658814dcc0ed4059e46fc8e3e0e892985e', '2026-11-22 05:59:27.136394+00', '2026-11-23 05:59:27.136394+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x7d4d9c22f3d7a1f5679714c8d9013ec0a07f6a0812bde0e36f67a7c7f7a8a784', '\x2a4c85641d1b791f8755f183b5ebac41aed8f4f3fa76f25cd481e89d549ed918', '01a201d6-8ac5-76ee-938d-4e963bfbd331', NULL, '\x0201a201d68a967539a51739ef80b7a9653699fcfd7c5500d57a56d13893dd152cfb69f28c29d35fcb2222e8070edc3c5a7e71f7e9b4a66fbafae97b1b43e0079f84344e4f9500ebd89a677c89e1f32c248601b119e8449426a28335557b3f9bea7a1bfcd461c4656b0a9d47733440bd78800783fd7fd7641d714f13b811fcc4204154f88b362d50dbbf4ccefc2cee7ab50cb3eba54a573e080df7a584439b00a22befb7ec63812b8758b5136d3c074aa7f6cf3c7b7af24b47e6ec9a31199fb572de5a0f8a809bbf964b7c6a731eb3ca261004a0f61f42289520ebd45a24fdac80d31494506515122f2fcb2e767ab8ecbb8806ce173ddd0a1cab79735f88b5c7b14f573e2dbae816e292b5bf48062ae1db638b45f11e0865d4f5e7199123334e40c4189521d04acd2d5fcd93fdae9f411557dfcb7e687404f8bb6f832a15376349077c1c6de4ebadfdf6d4dd3fc52c5cab34a294798a0e60ffee3610f58aef4ccf9fd7b7e90beffab9d1217062438a27fae60cce60ac5f9ab6a98e331f5b1a80bf814de27d666cb93b9f3a012a1a206d345bfb10085a895c9443d427a24fe2e861747fb9df26676d1cd4edcb232f508dcc94e1f433732790af40eec7cf336be2232056d87e204ff1c4856c993b751d119ee559746de33bcf9acd84c2ec48894ce2c5a515e6c32b50b9c2a2b9c62ad8132cf131d2f1928776a5571119814b7a3bbfff505f54fd8dbf5eb507c14f38100df9b53c39c9fcd7a206d020e9a7bcf7ba148e92e18136090b71da73003d8f31b3befe4f4ec6f0b99701bef3ff77aa218d166794d1a4b8e8b67cf990247c3f2cd0bfe8bcdc0692301aa882354664bfbd5227085998a3c8e02838fa43ef1cbc3d6a4fb14c4042226db471d1786f4010bc4f851678084e73f39d1015bcbcb207e95f3d03157ce7145be9d99740080e2503e6002ceffa759a700c69f0b9462708108de94f0ae2ae41adefdecac29a122aa7f098d2647ac256b5d72fac7394dbdbfe4493c09fb8ca2a6f309c7146b6e2b315122f7616832b2e55bc4f54a8513f7805b16c16e5c697e82c0b7b6cad1d103e0be848b948644be5eadef22e7dcd8085f6793915005383747c2e8ea0b074e6fb59cc9f20df78004c5e88a52968f0819993acbac40c9e20028f20642a69a6eed3b17eee7d40e3b6d1049935861ec8b77425e1a93b60d82133e34d81c47021f45463aa2dd47152ce70fc09d158d09b97998cd47729b957fb2107d0b7ebafd863a5ccdf0c349a6f5213607d91d3b314d78a10d48365b1a5e13f960cde6d9bd3f0e1ae355c30aa3f622953c1582d4170e5a693a9d69bd3ebc8cc48b79b345f19fa5fe854900824647139e8a162583438f3da98c312e82b5a3090e10584a8afb6f8f5e8f9c0ec82826fb9cd9c3e896fb216daf801eab8f359eb17a7a532598192378e53f494368b58fda0c73d2c56bbda7eda2bd2856fa561c8cafa8efa1f597d6c35368e8e9748c6814e242d607e0b64ace150eae49c8e98edb4a54e918762b8d783a3f9aa2cb82ad25b540d2befe2b38e9b612fe2bb4e26e1adb81a421f762263fab961eeba3b92553d', '2026-11-22 05:59:27.173452+00', '2026-11-23 05:59:27.173452+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\xcc38e9c07a4901d43df157dfc79d836b294e51214241d3ec2c83e27c2d6fe3a2', '\xe4c2123df965575374f0bb5492947743f3c059173c39f62bff4968830769ec30', '01a201d6-8ad3-724e-8b6f-166f59e6bb90', NULL, '\x0201a201d68a967539a51739ef80b7a965036109bf2a29f4bcc46391115a5456598de6002e86b95e34146e8a21266302df50742554a326c39eed5211f7d2d633b7c8af64be2268625691e45387037f9031f732a17742dfd0e0487b383fd0607ccd119c6a7a43bdafce2b386b219eb8f7d39b80616ed8ebe23cd9fc5a6c1ee7ec3911a0b81e817a023719dba41f366de44e5fa7fc4686f0d20429cf09a3a9e84329778b6fc42ce6780250e5837122c834038ef5de12922700444935b426e00027e1690a7a9eede30b799b5940b4924812fcf74f2a1c0a6519de7203a5bd3aeb7fd84658571b1355080e3c08439aeff5532cc0bd3d86b599d59ca94229192ac6fa331cc7b438e8eda9e4dbb34b6c13fce072595198eef19e6739d862719bc386ed9f017a29b5cc85d080fa98f773a885f6d2759f88ca00b394de2362f0e174381561bc7383d8b8d973f4c4e3c0a279942e07253e94271fbfe525a1c84fc55881a6ff66c22759f407c1335a53d1a3f742c3ed19d2d07ea825b70472f287f448a5abaee9747530241f65e350c6bba08c70cb1ec969220c6472924112e8780aa7a0953cba1f1d9e02631d170e93', '2026-11-22 05:59:27.18715+00', '2026-11-23 05:59:27.18715+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\xf0e9b459058e5dbb65e5197e2cad0e0ebe7fc07d9ea817e70a9711cee2513f8c', '\x3b0a2e516e8bb44dc04470de229601b769176962b200fdd1ab132b83785ca630', '01a201d6-8ad7-7b1d-b558-accd4a377ef6', NULL, '\x0201a201d68a967539a51739ef80b7a96540ea765d81191c74b22ba4cd0166d94d695ffd1c8c89cb5fdd98df7ee908588ee982fc190050fa640cc4fdb43bedce502fa6fb2c970b3668e696e380ad64d3ed817bfbad4bb0f69dc7763867aec27895d0cf2fe6cd11828754b5bd8a2d83f04bd606f8ece26e2d431d61fbe1c43bb4ec0189f344c09829d3b9cc2a22a29603c3bee1f3e83991024e4529493d62a51df4fe63b21caa35887be1b2db96cf1cd4c26d82520ae0e6e7d59183b1d42881e4231828609e854113b1a432b56f3392d7cd47451fd48e37e682ee3aec1ead43bfe14524d2d576f11c8ef499527afdcc9e563f60e01ea5edec009f44602215993f62531356577ede141b2c1a07b37b9bb946a3abc13d8e5a3d19e6f21eb5821e6225f5e2bd84158b3cd307d87b0432734d1cc97cbbdf6c041b17b806e05a4f778cbc6bd4bb7805c720e51d3a751836a5873eb347f62ecce24b27a385660c52434112a80eb5a1b1df87e32ef928532a729648368af7e81da3477aeb1415078c90dcb0fd9b2123ef2a4788036d0a223e0dfe8f67490b1449754ad82edfca38f3104e151fc5e1d7c7636e60f5b3d74f7f859ee388d2add94854a48b8d7358d6bc97c05d2f83b9fcb1e6b9d1bd5ef77b847d9143f2c365be306f4c848585842db8c3c650471268b376c18d758c6c6d56281c82b59d1d213ae6d85ddb1c917ea95193c86cbae7c3b7c9ff2008b7eb9bc4ab64492e7051acffae399d2f7e7598b1cd0a1d0b35b6846aff6adb85b157338e0387d2865f6a93abf4b1fa7c22c75333268023bd56b90c8e57b1ee57f7940914e6194581ea50a50151a293100779437ab4a5db06a087f624168237fa01fe5a6bb4997e516a6daab059ce2203b59b09d1b3adbb0688f46c2b155e06d8ead469118b0bc51eb4188cb7810e058aa82000b45229096c8fd1fe2e87aac6d960e63362a0b198cfe96ad8ee688b53a8c175638683b59a9115df55c94d4a5611dd541a5807257157a04c378fa6a820801d21f3cb60f22f28fec3cd9c8f68a3a5f882db9fa1443a17a22d23e8c57031f0050e59c33f4c59f5648a20a9811b45f69c4201f06c8edf579c1f3afbcc0ccd2a40747e74e096e3c33104d01cb84149f4e7f36587ef71c4e07639e8f60af2a2be2ba4b0d766af023d469280a4869dae91876361b55cc7d3c3c18f2868ad0cc9f93db185f1488fff174ed635d231a245b7906c2c72cd3d2203987dfd8296c8a8e62769ac68b566b99173e59f63a02079b25f017e0c80f41570ffb8e62333c5e315e3795f3ca4e976cdb897e1caa92fe5449af68e888871290688d3b64c47aee3d2b524bcba8a7ed65417ec79377cf665ec4ef1996dd9293729cf7daae9cac3a8e91ded2970a209b64fc89b6a4fd638daea25a48d9540cb9f214f63380d94029f12a4df345f6c4da96c8441ec0f53597af1933c5bb0de9527e9d8e039536172981a35b91cc58cc12759a6', '2026-11-22 05:59:27.191727+00', '2026-11-23 05:59:27.191727+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\xe78ce5419eeebacc40ad3fd222605a22258049e011fb5bf49528f879f986e32e', '\x32766b9165d315a1cdc42904f4840b395196c3c4539dbd5af1499ab0ff057b74', '01a201d6-8ad9-7c59-a4ca-f171c00e1f1f', NULL, '\x0201a201d68a967539a51739ef80b7a965ace9ab85c2db1dc6ec8b5d94609da8ecf73b97b6ebaf887f40759cce36fd23bba989d455130fadbfa54dc9d692984c393c230ba9f8f3d6b3d5110e39f37dc3ed66c4216205985c378d3a31b5e27158b3768d7cb84f54f933604d3b32997c77bbbaeb99a7ff7c251672177e4cbc822ee732c2477c674fd54f89d35a9866179d1c84fb0123c8eb19845bf8821eeb18d9841249ea1e902f1c970903399f581fd964f17c6c224ecaec12feb2b82da591f2e6326446ea05470daa1d5434bf7ced1ec231172b35b70989aabac3f55942ceb3667127003af8131fb38cfb14ccbd90a63a738ff08c01565dada0800413a3744b526f30d18d20b32a39ee6dc66b149043737854a7d4ec544881fcef44e79a93fa0f3ed76a4f5af6f0eaaaf3d05eb276bb131fd2a0f1afbea9dffeb0305f0fb50062936a239aae2d11bcf9a04a36afe77d866d015d10454d02b9be877141e3f91aaac9982e15639df0392486b322407e7d2137e505263a5e7c0d177e3a0d3e5d059f81460ac6b45d23f25cb6ab743554cfc64fe98024b4e5fed91b348c390b2afa6e815ebd9d5407', '2026-11-22 05:59:27.193806+00', '2026-11-23 05:59:27.193806+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x00a5e17417e83014bdda2f8b37d23db3823e64a244572d8a560221656fadeb20', '\xd4265a42d4d2b663a3b40152f60a763df90c5084728446053380a4fb73cd29fc', '01a201d6-8adc-7784-876e-a0612439730b', NULL, '\x0201a201d68a967539a51739ef80b7a9659fd98c2ca0a84c212c146b94a86ca69142aea527be953dd672f0c01ac8231b5d48827aea27970f7d4acf2ea2e3b2602468b137d3de7511ba6aa332fad2f89d1b21d87900b849752110c0c40df045204a8eac9cbda30bcdc84ac98735ca10b0b73c3c2de2abdf0dd6a7f07b5e99752faf54b8a794c187100bf7c6c0b2348e802d73808d499ba6ff17d64ddea395bbed1a3779088151b54d1321a9abe698ae2244cd70307b3d496dd8f80c0d08e10e3f58c432df2c9e54b764f8bf8dc749bf628b650c3660f40411f4a1b92bb8470951a0ca84fb6af1a9f3a6bbae6e895ef8a325876198ab2f18ae0bad41da45cd68ddf3f125e33baeff1d496d5e83501ad2fb45bf1c8f87a86500ba11b61e4d83fa305607d748a58cea2f2db915a7a289c45e6f2efcea4a0b0c9324a9b77c2850f043c452ea392d39ad11afc9f54e85a1a454565eef056d9650f2e5ac9315d186d3274573d96854da21fc0b9ea7b1f937a61b13f4c04bf131a43f0c845031eb9aadbc0d5535b379a0ec8b09e025db8b67ec940220d3a91ac2c270c37d7130bfcdd5c735930e1dd5585d58e51804ee3d097dbb6f280d248e7c1b58e3ffc1631736a7e2bec85fb9e778c49cb1a9244146c317706edeb35dbde20791801ce52fdbb6ffeb2561d9f23ce6430c04e6127e0cd1e24eff3e013cd4ff9c517ed0b795fc42e0625d859f6636c8cae9b7bb6e237b9df77316961deee2533c09d415ada32d8a779dace9c960741de41b9642c9ecef0a92db32966f5030393b5d0acbbef2e600fdf49a8b20212d0e9038bfd44e7798adc6789d820d46a4dce01d0759b89c056e70039c2b71875efc6b6d8dacf76bda08c25e213a91c32f840eb61cff6b5fb0e3b60907de92790f786e61470a285608e6e3021b2fa8bc6d8816a0cfa6d4e0b90acfdd63fe45ce68df4a85a51d7e28', '2026-11-22 05:59:27.196491+00', '2026-11-23 05:59:27.196491+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x5dbbc062297999d5f2a95c8e973d27beff4f3b9a97fda04b9c25b3abccfbbbc4', '\x28a219aa9dc74b807a47949b9c009fe2c090249cad4ada00801aa6049cd9f6e4', '01a201d6-8ae0-7424-9553-fe4375535964', NULL, '\x0201a201d68a967539a51739ef80b7a965571cac145f8bd8fef8b2e9324b573d22aa84e2e9c36fdf08082c99a7d7a30290a31f49dd999fb92881fa7c5f9c4e50a307002248ad186e1c16a0ba12adf7a911d69eee8fafab42e2556ae230714e2404727ed881b7d2bde6368b48428ff2072ee0cd03219ca3b3fdc6eb143248ad6012ae36dac59261452e80ab3f4dc174a4ecc7fdd24d0b22e60619acaccff99eecd7f3a8a0cca748429d12fd239fce61bfbdc2eb806098ff5bdbb82b8e90d9794693d59925eeaa1957e2f298814634b909a533dec30a300bb05fb39de2cd979e5a6d1273035ada1b1497dc4af5ecfd90f70894ef19e491d780faf7d67d4f9df35697af9f16e2d70b908e6b8aeb017561db0cc1df636a0ab033149ed658ed10b51cc3521b47a1a5c52b0d1d36e51b0e76aa679cb761b4e8aa7943676406d98468d0355a02294ff58b1f4e4246b4007c046fd1cb78e84b5958ae25202dfcc1bcb08a40bed7177a459c39151d221ae2383514ba7c0cef828be383427c4e498e436b28c089b59dd4804ff903ea74b0ecdd936309f5f82997970447cd48ef5d991b11b3655ff24b69df350dfd71f6ef246635823432b420b81b79056976a78cb87fb6705b372177c79a29fb2ed03070095ffa35d637f260ecd4e4f589980d4913b45abdd8966ad9841e00f69a0c2c86af6d815ca1ca7ecd83e18dce05d0cbe3ee35892e1a25947714d0ebae46e7a715802532a29d8dd5d88df75dbab49d3bb5413eba43d26cee6ed202b976f66d1943652ac7d7d4760e33e8841668637b2c0c47a0677158a46db97a30605f649acc0b41c6435d398cb7c0687053a984f5bae525a6753916a8f7793de633116a374cd030684bd39bd9aa7d09e1aa82ba14c38593b0abafd575236b981d982ff61143a0d3d5c76d7c54c6cc442b35aaf2901a4ff709663d28d322bf8e476ea0949ae63ea9126708b026838fe65dca7b1a3b5c606cdc5e18c301a7bd568179b707334721983d1c11154035f4466475e36f7e9c852b6998cd5e2f1c3611210c57e9abd44168cabf4cbc4f2efbc062b93577d4395da8af7aafe8a70f19fe9d63ee97e9b1096cacbed8b0418f1d5e3fc1f2eb53a964be5f0511a5d3c2cde61245f18e9d9c997488095a7a15d5', '2026-11-22 05:59:27.20027+00', '2026-11-23 05:59:27.20027+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x7cadea3376acd06fde12a3ff1019083fefb78a8f9b4fde37d40e2baee5085b68', '\x971e9ef39a3780a4881ee0a9eabe77234cd89c4dab8fd2c5e0e535284d0ff846', '01a201d6-8b50-70cb-97c3-2b04dcffa967', NULL, '\x0201a201d68a967539a51739ef80b7a96531d158a581594b8860fb838d6ff8c53f5057f77e8b801b50ed9fd78a7c4dee58e6abedb74f0cb2d47c52f118c17cc3713813f98937d1d254f22cd21a1e68b6bfce427fe4f6579d337283372afb2495739ad9425c91c0f1f257b282b393521969c21048655b1e99c2def67ba4950741f140c22037ed7a7fd5a875acd5cdb0f791d518a3be0790b64fb7f3466731f90e85c9df1be2b99528076720c3c52b8b8ea8dc53691c23afff044b7e5090d8add73c3814d43690c19f63ad34bd8d4fa58ee55cc6170db2036abf4817bed3e85e428ed38e19d0991456ece93677d9e71c8c16c6b9d84f84084fdcde92e1f9f126676c1f06ccb5292637280eb1bd3b9299d130e54a8ea9e8e359a2c81b5d7a8f4ebee1a22bd25223dd8f9e4992eabca5dc5d6c6d9a8743d614ec00c7910f9f92e3d41d40d0957a362e6989bb03447750cafdef283f00bcd3af57430e07ed73050a9fbfeb2eedf573b55c6283175cf9504623ef066d583bdadeb289be9ab34b338f79fa214547878618182ce31a3c9406a8fe2b962b533362a0024020ce79bf866e8563a0c9', '2026-11-22 05:59:27.31205+00', '2026-11-23 05:59:27.31205+00');
INSERT INTO public.idempotency_keys VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'key_01m80xd2k9kps37zmdrcx14cw0', '\x4625984d42ffd5200c5d6c284a5d583b9eabd6c064f90a3cbc83db83c061020c', '\xb87b23b3d9a034815e925bd939c9db65bf2c3ba6054474a3b78c6666e552bd25', '01a201d6-8b54-75a4-881e-5c4a0c92467f', NULL, '\x0201a201d68a967539a51739ef80b7a965edd395cebd4ba2260ca2f45e2c02adb30d7cb1b2d4499b48cd6a17cbbe26997e654caaefd7929de260263c0a7cd770fec1117af9ff13c4ec666efb7d01c54b8bed3e76da31001ee8beb2a509e5ab1e0c25ab96d421ea0b7ec6e8b3b43d02b3670dd475b3816b61b32150e081df5a843f3d0d7f3d583c764e1e21bd3961023c4fe4b95da328ff7cbdbf3d6efedb3821ecb58ee7794004ed5fb22c6b782258928c6d42358e0301442cd079d0abb88e048032ff319e9699132eadda51425ee670ccb3f7156dfbe454979e2b0666eca2cf7e7498ad3afa0fd094d09ef77bacf1a0931a3e2ed7d8b7a19a16f94ea04adc7ac0c26a9ed0a51c3a524e32fc4cc85b019b9082097c0b29840d009e64489916fe3e0b9da9f5a81fba4d91d07ce2fbb4f3fca8d9ad86154232dbcdeda101d9fc1dab56ca75d2b1438e850aa5354be96ebd6fee8c717ae45384232ade1c9377af507ca6bee035b507ca219445821d9a806ea18f73c1932e4c8fb8f79214036c9767dca506165281290ab84d3be414ed98abc308cfb0498aa4fa149ec5df254bd7a5eac3339d5d419a6089151b37be785f5dc3c9eac785a39c163785ede93464272bf4c26d0212b720a28a314b9d5c9127cd3e31c1244c7167c333e6c3ff60cc7498ada7f3029d36ec9364126db2c094d03684554a0b3be57bb2c6f78db708cf54bb4ef0e25ebd075e9a9072a7bdf8c08433b9fde339b1e3acd10589efe89a1856813243ecb4789634472999498f42bc7f2b16e5d7001e6d0aebce82b5df29de8406d91165118b11b46ee42ca7432e82084206d4956d1f27a2bd3444c7d79dfc2bb280ffc4e3396c95f0b2a50bf3e0388954bcf2dbc419607eaff237675eda54eb1bb2632f20b7b0725b70df44d4cbefe13179cca1e8d485d5f5a8319559220628489bdca8023185407a8a71e1096e894b900409d1f6dab983ad014b26cc7b5147cdd552a60b7b1753f5d429b77e8f853ed0b08717d0eaff52824aedf91079ec5aafb55b9eb9487b03f43602981378ebbe41f35cdba49ad1aee4e4beb33cec0232d56a21c897382bf37f1be13042ced46f9b08beb08f3fba8a35d0983c9494c34d5d01cb5f773a9826fabdce13c85ce07a88a21dc81cafc16ed0878cad959539f367fc894939eac61fcd9eb7f7a467de42e1d57eefae2eb407413c7b04805e925150730e9ec2a8f754d576efa94bd271d914eec1722abe0223fac95b8546cc6b9f65ea9c5b0cbceb2536038fa5eee6550e065496aff3820bec0fb3f1250586d2514065513c79afb671f0dc93ff7501e7e96b62e7be2e6065a05da280c50695594be6cdd0f635884df5f180c5dacc1620910334db775c712e2565584c351889f3128dde9aaabf8e92a785de1c7a9b6a40d362dbfcbf36645d77c3d354ccced97907d0552593b3fa5a01c1af3ee5a76a01ed9939f632526c65c013ca98c86faca2eb95192e9e799e57ead55ba6e0a7120d0c71cd108e55a995a3f26d0eef8cfa63981649f820236e1cacfb5dee8228415c2a540d74b9b57e8a48d75ac6e9777161d861ae8e986b3b729e9066bddf6e4cee5830eb9e841abbcc8b2f2cee97c498fe4a0177c6c7151a122eff998475b8bfd4cd602af2ee03d63f3efdca7fb579f6c2d0b863088da7fdf9a315a68ccd1cb86381362fe8031780be12cc97337ddc54', '2026-11-22 05:59:27.316369+00', '2026-11-23 05:59:27.316369+00');


--
-- Data for Name: knowledge_evaluations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.knowledge_evaluations VALUES ('evl_01m80xd2tm32h4j3jseb4mwpk1', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'agt_01m80xd2kqw9t8vc9a0663nqeb', 'recorded', 5, NULL, 1, 'parlance-lexical-hash-512-v2', '[{"mrr": 1, "hits": 1, "ranking": "similarity", "hit_rate": 1}, {"mrr": 1, "hits": 1, "ranking": "hybrid", "hit_rate": 1}]', '[{"q": "When is the museum open?", "places": [{"rank": 1, "outcome": "found", "ranking": "similarity", "source_id": "src_01m80xd2q0252btr8ma14dg6vr", "similarity": 0}, {"rank": 1, "outcome": "found", "ranking": "hybrid", "source_id": "src_01m80xd2q0252btr8ma14dg6vr", "similarity": 0}], "source_ids": ["src_01m80xd2q0252btr8ma14dg6vr"]}]', '2026-11-22 05:59:27.324291+00', 6);


--
-- Data for Name: mcp_catalogs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.mcp_catalogs VALUES ('01a201d6-8ad7-76b3-8f26-7112945847f5', 'b62e8adf32f0da913cb876a6e26f3f3a2e87822aba2c076a192db2f09469a2c0', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', '[{"name": "stock", "description": "Tells how many there are.", "input_schema": {"type": "object", "properties": {"item": {"type": "string"}}}}]', '2026-11-22 05:59:27.347689+00');


--
-- Data for Name: mcp_discoveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.mcp_discoveries VALUES ('01a201d6-8ad7-76b3-8f26-7112945847f5', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', '97b4440393bda51ab613b6010105168e19c57dc6c2e234df8785a4e7a46fb590', 'b62e8adf32f0da913cb876a6e26f3f3a2e87822aba2c076a192db2f09469a2c0', '2026-11-22 05:59:27.347689+00', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00');


--
-- Data for Name: next_vectors; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: page_token_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.page_token_key VALUES (true, '\x9e766bba82db26b1369ab73c8ff1140689772837e201df0fd5b051d9a1e546ae');


--
-- Data for Name: provider_credentials; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.provider_credentials VALUES ('cred_01m80xd2pzcft65d0w9k0m9wzj', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'tts', 'openai', 'recorded', 'https://speech.example/v1', '', '', '\x0201a201d68a967539a51739ef80b7a965c93ee5095c9235cbf4ab7177ec47e43821b11b7742231d1f91b5b7e3f4599138153cb245a4bb8b26', '', '2026-11-22 05:59:27.199001+00', '2026-11-22 05:59:27.199001+00');


--
-- Data for Name: session_connections; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: session_mcp_catalogs; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.session_mcp_catalogs VALUES ('ses_01m80xd2v720vvjw8dq2w0ge8z', '01a201d6-8ad7-76b3-8f26-7112945847f5', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'b62e8adf32f0da913cb876a6e26f3f3a2e87822aba2c076a192db2f09469a2c0', '2026-11-22 05:59:27.351251+00');


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sessions VALUES ('ses_01m80xd2v720vvjw8dq2w0ge8z', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'agt_01m80xd2kqw9t8vc9a0663nqeb', 2, 'ada', 'text', 'completed', 'ended_by_api', '{"model": {"name": "", "provider": "", "fallbacks": [], "max_output_tokens": 0}, "voice": {"input_audio_format": "", "output_audio_format": ""}, "guards": [], "memory": {"enabled": false}, "fatigue": [], "language": "en", "retrieval": {"top_k": 5, "ranking": "hybrid"}, "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!", "disabled_tools": null, "client_overrides": null, "locked_overrides": null, "idle_timeout_seconds": 0, "max_duration_seconds": 3600}', '{}', '{}', '{"name": "Ada"}', '\x0201a201d68a967539a51739ef80b7a9650f0ce4d08e89c1c10c708d1f26ac169317bc9afeec049c26014e59746bc7793085f52225f8f9837e89e891adaed2e0d19bda7d711d8881ff8720', '377da0e0e5fbce2d439826fabe953719622d3ec577ab44a07253e2bae9f55cee', '2026-11-22 06:14:27.335796+00', 'en', 4, 0, 0, 2, 3600, 1800, '2026-11-22 05:59:27.335796+00', '2026-11-22 05:59:27.340988+00', '2026-11-22 05:59:27.363599+00', NULL, '2026-11-22 05:59:27.365953+00', NULL, NULL, NULL, '', '', '{}');


--
-- Data for Name: signing_keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.signing_keys VALUES ('272680bda1dff6a2', '\x272680bda1dff6a281e2fd5aab9ee4d028ff598702d9bb4a52fc002f520eb490', '\x0201a201d68a587e72aa13bad25095c7d775ebc83d19a679d4c7db520abd2912f612ceb138bb14f431d6a1af019d5f758c4c1f502eeb7640187bd7eb89e8bdd875f0462b56a7601b35e64aa016', '2026-11-22 05:59:27.335796+00', NULL);


--
-- Data for Name: source_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_attachments VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', 'src_01m80xd2q0252btr8ma14dg6vr', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'auto', '2026-11-22 05:59:27.314521+00');


--
-- Data for Name: source_codes; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_codes VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 1, 'parlance-lexical-hash-512-v2', 1, '\xc25ba1bcdc4914bd810a3e3dc02fde3c823656bd7c40503c1fb8c63d30b5923db66f23bd8c58713d200f5abdf50a833cdddba53c0015edbc659d4abda7b1b73cf2b480bcbdf6233d887b3dbdb2cf81bd4584afbceec251bd16a010bd58a0bbba9845cdbdc05583bbaa6d5b3ca550e83d407b2ebb7d3c7cbdd8088cbbf7f6603d5c6b14bc54f0c93c5e74de3b94dbafbcf9cabebb74858b3df63d84bdac525f3c3ca54abcc2ca6cbcaad5e63cc14c483c88029b3d92dda93c480acabcc895f93de0f71a3d92a8f13cf4fd78bda355003da3ddbcbc00c8e1ba7623f03c320013bdf6a3873c3407ad3dd9d0babc8a7efc3cc5140c3d66c3b6bdf28c783d8b8e953cf609d1bce7b5883d7c0e2a3d9c0768bc8e8d023c9868193c914d17bd04d8c2bdacbc373c9c46593d9a5a95bca0087fbadc687abd101655bd18ee93bdeb57993db821c43b382c51bdb26d2fbd30535d3c86e2413d37c127bcd81de43c7f1a05bd7037b13c6ddf603d139ddcbc22c6b43d08f3e83ce3edf3bcc01ae6bc5a70273d1d960c3c8c0a453b803b72b90497433d9c3ab43ddf329bbd74c7edbdbae45ebd56c73dbca2010cbdae09aa3c873e5cbc485ecb3c437ae8bca8dd363b8ffc2f3da059a33b9a6cbf3d6c305b3d720577bd2310c3bcdcc74bbd1a9f33bcb4d6febb18da09bb8e31293d160210bccc208d3d10db48bb1ad4a7bc7e50633ce4329fbd9052cd3d607a1dbb35648a3d89bb713d6ac238bd7bc0e0bc8e0f54bd461e6abcf4ac2c3c3cb2533cd8409b3c5b1e913d12f73f3d402d78bc40dcfa3c5497073c4dacaebdf61e16bddf068cbc1c8302bc2c50fbbce703d73c2ee613bd6cb7d8bc38f8bc3bf78d88bdf43dfe3c185c11bcbc2940bc56192fbdbdf248bd2856a1bd6eeb11bc9c1705bdb935853cb9e94d3d387a32bcd0b4ceba94ee5bbdae8ce6bc9457b5bc285e4fbc4efaad3dc1c20dbdad1115bd9c31913b9931a2bc4adeecbd84728cbd911447bc86f8883d2a4d99bc020e90bd40f8f43a2d898cbc7034dbbcbaa29b3c0af5e63c3c5b01bbe54211bdbee53ebd1ae7e0bca971b6bd2c7f40bde83acf3cf2e01b3c4005b83bb7f48ebc28eb653df303f2bb8081463ac2fe413c3c7ece3b8cfc15bde1ca373d6c610abd338b693d601485bbaada5bbc4046573a90d0973bce749e3df82e26bc3f8ea13ced6e063d239f50bc36552dbd964d1f3d4c1e993cf8ad0d3d066ab93cae47133deaf618bd7a2d323d6b87e73c816993bdb825ab3cfe26cd3c00d47b3a0f8f03bdc6ab8fbc2c35c6bdd005d33d96e0dc3cec57593de4c92ebda82b0ebcee5006bd009fa5baa76c32bd64797d3d120e9c3decbabebcc12f4c3d1850283ca38d55bcc95e29bc845e253db6a1f5bcfb369a3c10a118bd77dba13cf42839bcbcd08c3b202eb23d4ec3f83ce1bc573cc4328ebc08ef9e3df8ec163d217324bd33fe9abd003885b796a3d83dbcd5afbc839a863c0ea979bd6cf1a3bc2cbb35bd8c2311bdb026923d0c58edbdf01868bb808720bd1ec3cb3cfa24d9bc1c02293de7d5f13ceef8373dd457f9bb3d58ccbc34aae8bcc631a53c8a0161bd3c80373d3c50b1bca053353d5e64b13cbec38f3d9c2953bceab1c63c0c11943c4a43c8bc8db00bbdd47e443c2c892bbc14fdf5bdc5b7553d0e92b73c4c23813db276bbbc946680bc0b2a3e3d0c40523cf2619a3c70024e3b002aecb9e25ac73ce85816bd3036e0bc9df2a63d7011c3bd38f763bc0089a7bac9497b3d7ec49e3cab559a3ca6a6e8bc330003bd1894bd3b080810bbe4701f3d60ad95b9f2e875bda8bf4a3de2c2e1bc666002bda0d46439d357093df01f84bd991c113d44892dbd01c630bd48f024bd8ca491bcdc06283dcd67d83c909bb93c217b0b3d04a931bd2e43673da275593d46e413bd470a583c02ddb0bbd631d23c4ccbfc3cca41febcf5de85bc5201c3bc2c5c53bd1d01fcbcc89f8d3a80d58bbbe24feebc536b093d8860183bb2cb743da80ab9bdca247f3db09d383cda4f0ebd36a6383d7a0b61bc5058573b4919343d3ea6543d80327e3d49bea73c2fa045bdb8b6773c307a5f3d94af123d169f4fbcdafb333c30b9fcbca9a4aebc94de35bd7cf0223c6c240cbdef6cdcbc0080b93840d4113ad621c0bcac96093d1f32cbbce8f094bb75ffa9bdfd2c203dec2d5e3cd21d313d69d5f13ca8836bbcbf0bd53c511698bbba63cc3c24ea7e3d2478d3bc27a0bd3c7854bd3c24820c3be084153c6c67f1bc88692ebd9922d3bc8e24553d6681f93caed78ebde43b913bda64b53c0925073d004a56bac2fa17bd5d6c953dc8d898bdc2f939bc9e189e3c3677f83c8a054e3cfc988a3d2c4260bde0f8a4bb8e67423db0b5f8ba4025db3c81d557bd50c7693d941f70bc0027c33dde2ee6bce73f443dc570aebc4c5b38bd1cf90e3d80f5943a7e0bf6bb1069b03d7f4b513d6edb183c691896bd61ebf43cfb97823d35d103bd8d7979bd81624ebca9fa1e3e0c7fe23badb65ebd93c4863d80f3133d14c8bcbc9ed889bd2ad116bdfe1308bd6041093d6ece643bcd4a913d76131abd5c53123cc439e5bbba9dd73c4724ef3c154b9f3d8a5181bd92663cbc220ecd3c288a86bdc047efbb27c795bdc930a6bd4e5d86bcc27aefbcda47443d90996ebd28b8e23c0c90973c6c14a0bd88a81dbb3dbacfbd2ca5b6bc446144bddf8f8abdd2ac033d12bdcf3c8667a43dd7ca4bbd6008aa3d90b764bbf348063ee4d84dbc17f3c8bc283ffb3c788d4c3c3cd945bd8e8918bd7310673d4c30043d9d370c3d128688bd2082de3b42643b3d2cdb92bc68f141bb9467af3d146c85bc286b533df99d0dbcd316cd3c424204bd415c903c90be2b3bf2c384bdaa86863c7db6dc3d000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');


--
-- Data for Name: source_pages; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: source_postings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_postings VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 1, 0, '\x046261636b01000104636f6d650100010364617901000108666f75727465656e0100010868616e64626f6f6b01000104706169640100010670617263656c01000106726566756e640100020677697468696e010001');


--
-- Data for Name: source_reembeddings; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: source_words; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.source_words OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'src_01m80xd2q0252btr8ma14dg6vr', 'en', 1, 1, 10, 1, '\x0a', 813);


--
-- Data for Name: sources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sources VALUES ('src_01m80xd2q0252btr8ma14dg6vr', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'handbook.md', 'inline', 'text/markdown', 94, 'e4418b2a2edd42f7d3203d8749179c416be923802050276db04d3a0483a8c12f', 'ws_01m80xd2k9kps37zmdr9cxz4zj/pxedb5z2u3m2exvrxmrtuv3wqr', 'ready', '', 100, false, '', '2026-11-22 05:59:27.293937+00', 1, '2026-11-22 05:59:27.204457+00', NULL, 0, 1, 'parlance-lexical-hash-512-v2', '', '', '2026-11-22 05:59:27.204457+00', '2026-11-22 05:59:27.293937+00', '2026-11-22 05:59:27.293937+00', '', 'req_01m80xd2q0g6r7qd48044zmnh7', 0, 0, 'en', '{}');


--
-- Data for Name: staged_vectors; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: stray_blobs; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: tenants; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tenants VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'Acme', 'enterprise', '2026-11-22 05:59:27.081001+00', '2026-11-22 05:59:27.081001+00');


--
-- Data for Name: tombstones; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tombstones VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'agt_01m80xd2wat8gze6syp9z2z9j7', '2026-11-22 05:59:27.372292+00');


--
-- Data for Name: tool_attachments; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_attachments VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', '01a201d6-8ac5-79a5-b917-b86ec65d5b65', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', true, 3, '2026-11-22 05:59:27.189628+00', '2026-11-22 05:59:27.189628+00');
INSERT INTO public.tool_attachments VALUES ('agt_01m80xd2kqw9t8vc9a0663nqeb', '01a201d6-8ad7-76b3-8f26-7112945847f5', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', true, 0, '2026-11-22 05:59:27.195257+00', '2026-11-22 05:59:27.195257+00');


--
-- Data for Name: tool_call_counts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_call_counts VALUES ('ten_01m80xd2k9kps37zmdr86k2yp9', 'ses_01m80xd2v720vvjw8dq2w0ge8z', '01a201d6-8ac5-79a5-b917-b86ec65d5b65', 1, '2026-11-22 05:59:27.356766+00');


--
-- Data for Name: tool_calls; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tool_calls VALUES ('call_01m80xd2vwmyy7tfwytrtv1wz2', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 'turn_01m80xd2vtwk5zhzsn07q6evs9', '01a201d6-8ac5-79a5-b917-b86ec65d5b65', 'order_status', '{"order": "17"}', '{"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m80xd2vwmyy7tfwytrtv1wz2"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}', 200, 0, 1, '', '', '2026-11-22 05:59:27.356633+00', 'agt_01m80xd2kqw9t8vc9a0663nqeb');
INSERT INTO public.tool_calls VALUES ('call_01m80xd2w2ekk8m9w9dafjhp5a', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 'turn_01m80xd2w0ak2cbfejjvw6v0ps', '01a201d6-8ad7-76b3-8f26-7112945847f5', 'shelves__stock', '{"item": "tea"}', 'Seven.', 200, 0, 1, '', '', '2026-11-22 05:59:27.362646+00', 'agt_01m80xd2kqw9t8vc9a0663nqeb');


--
-- Data for Name: tools; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tools VALUES ('01a201d6-8ac5-79a5-b917-b86ec65d5b65', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'order_status', 'Tells where an order is.', 'http', '{"method": "POST", "webhook_url": "http://127.0.0.1:32825/orders", "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}}, "timeout_seconds": 20, "response_max_bytes": 262144}', '\x0201a201d68a967539a51739ef80b7a965990f3311a0f48ac370be4b74afc5eea62c0d8dab932e129025008c74a109f05c6215a8795bef11732f32c747987164b479ff', '2026-11-22 05:59:27.184562+00', '2026-11-22 05:59:27.184562+00');
INSERT INTO public.tools VALUES ('01a201d6-8ad7-76b3-8f26-7112945847f5', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'shelves', 'The shop''s shelves.', 'mcp', '{"approval": "never", "input_schema": {"type": "object"}, "mcp_server_url": "http://127.0.0.1:41107/mcp", "timeout_seconds": 30, "response_max_bytes": 262144}', NULL, '2026-11-22 05:59:27.192367+00', '2026-11-22 05:59:27.192367+00');


--
-- Data for Name: turns; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.turns VALUES ('turn_01m80xd2vdv7v8cjhv3q7apw15', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 0, '', 'Hello Ada!', 'completed', '[{"role":"assistant","item_id":"item_01m80xd2vdv7v8cjhv3t67ykak","text":"Hello Ada!"}]', '[]', '', 0, 0, '{"tools_ms": 0, "total_ms": 0, "retrieval_ms": 0, "model_first_token_ms": 0}', '', '', '2026-11-22 05:59:27.340988+00', '2026-11-22 05:59:27.340988+00', NULL);
INSERT INTO public.turns VALUES ('turn_01m80xd2vcqj2y8pv8tgn3xhz0', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 1, 'How long does a refund take?', 'From “handbook.md” (Handbook > Refunds): “A refund is paid within fourteen days after the parcel has come back.”', 'completed', '[{"role":"user","item_id":"item_01m80xd2vep1p34zk9vvgyezyn","text":"How long does a refund take?"},{"role":"assistant","item_id":"item_01m80xd2vr169557xx59dvt34y","text":"From “handbook.md” (Handbook \u003e Refunds): “A refund is paid within fourteen days after the parcel has come back.”","at":9}]', '[{"quoted": true, "excerpt": "Handbook\n\nRefunds\n\nA refund is paid within fourteen days after the parcel has come back.", "heading": "Handbook > Refunds", "chunk_id": "chk_01m80xd2sw257adrwrp43nn5fa", "source_id": "src_01m80xd2q0252btr8ma14dg6vr", "similarity": 0.4936251636520135, "source_name": "handbook.md"}]', 'extractive', 0, 0, '{"tools_ms": 0, "total_ms": 9, "retrieval_ms": 2, "model_first_token_ms": 1}', '', '', '2026-11-22 05:59:27.340988+00', '2026-11-22 05:59:27.352311+00', '{"floor": 0.15, "model": "parlance-lexical-hash-512-v2", "chunks": [{"use": "passage", "fused": 0.03278688524590164, "chunk_id": "chk_01m80xd2sw257adrwrp43nn5fa", "source_id": "src_01m80xd2q0252btr8ma14dg6vr", "similarity": 0.4936251636520135, "word_place": 1, "word_score": 0.3955628496211987, "similarity_place": 1}], "ranking": "hybrid"}');
INSERT INTO public.turns VALUES ('turn_01m80xd2vtwk5zhzsn07q6evs9', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 2, '/tool order_status {"order":"17"}', 'order_status answered: {"body":"{\"order\":\"17\"}","headers":{"Accept":["application/json, text/*;q=0.9, */*;q=0.1"],"Accept-Encoding":["gzip"],"Authorization":["REDACTED"],"Content-Length":["14"],"Content-Type":["application/json"],"Idempotency-Key":["call_01m80xd2vwmyy7tfwytrtv1wz2"],"User-Agent":["Parlance-Tools/1"]},"method":"POST","path":"/orders","query":{}}', 'completed', '[{"role":"user","item_id":"item_01m80xd2vtwk5zhzsn0cn4txaz","text":"/tool order_status {\"order\":\"17\"}"},{"role":"assistant","calls":[{"id":"call_01m80xd2vwmyy7tfwytrtv1wz2","item_id":"item_01m80xd2vwmyy7tfwytsd7aa2c","name":"order_status","arguments":{"order":"17"}}],"at":1},{"role":"tool","item_id":"item_01m80xd2vwmyy7tfwytsd7aa2c","text":"{\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m80xd2vwmyy7tfwytrtv1wz2\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}","call_id":"call_01m80xd2vwmyy7tfwytrtv1wz2","result":{"tool_id":"01a201d6-8ac5-79a5-b917-b86ec65d5b65","status_code":200,"attempts":1,"started_at":"2026-11-22T05:59:27.356633Z"},"at":3},{"role":"assistant","item_id":"item_01m80xd2vyefwa62qt23rtp4x2","text":"order_status answered: {\"body\":\"{\\\"order\\\":\\\"17\\\"}\",\"headers\":{\"Accept\":[\"application/json, text/*;q=0.9, */*;q=0.1\"],\"Accept-Encoding\":[\"gzip\"],\"Authorization\":[\"REDACTED\"],\"Content-Length\":[\"14\"],\"Content-Type\":[\"application/json\"],\"Idempotency-Key\":[\"call_01m80xd2vwmyy7tfwytrtv1wz2\"],\"User-Agent\":[\"Parlance-Tools/1\"]},\"method\":\"POST\",\"path\":\"/orders\",\"query\":{}}","at":3}]', '[]', 'extractive', 0, 0, '{"tools_ms": 1, "total_ms": 3, "tool_rounds": 1, "retrieval_ms": 0, "model_first_token_ms": 1}', '', '', '2026-11-22 05:59:27.354219+00', '2026-11-22 05:59:27.358391+00', NULL);
INSERT INTO public.turns VALUES ('turn_01m80xd2w0ak2cbfejjvw6v0ps', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'ses_01m80xd2v720vvjw8dq2w0ge8z', 3, '/tool shelves__stock {"item":"tea"}', 'shelves__stock answered: Seven.', 'completed', '[{"role":"user","item_id":"item_01m80xd2w0ak2cbfejjz5dejmz","text":"/tool shelves__stock {\"item\":\"tea\"}"},{"role":"assistant","calls":[{"id":"call_01m80xd2w2ekk8m9w9dafjhp5a","item_id":"item_01m80xd2w2ekk8m9w9dav50j4z","name":"shelves__stock","arguments":{"item":"tea"}}],"at":1},{"role":"tool","item_id":"item_01m80xd2w2ekk8m9w9dav50j4z","text":"Seven.","call_id":"call_01m80xd2w2ekk8m9w9dafjhp5a","result":{"tool_id":"01a201d6-8ad7-76b3-8f26-7112945847f5","status_code":200,"attempts":1,"started_at":"2026-11-22T05:59:27.362646Z"},"at":2},{"role":"assistant","item_id":"item_01m80xd2w3wy21x645cvqvpjrx","text":"shelves__stock answered: Seven.","at":2}]', '[]', 'extractive', 0, 0, '{"tools_ms": 0, "total_ms": 2, "tool_rounds": 1, "retrieval_ms": 0, "model_first_token_ms": 1}', '', '', '2026-11-22 05:59:27.360299+00', '2026-11-22 05:59:27.363597+00', NULL);


--
-- Data for Name: upload_holds; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: vector_indexes; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: webhook_attempts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_attempts VALUES ('dlv_01m80xd2z66anhs2cy3cacajw4', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'we_01m80xd2n0k1f13npksk03rrkj', 2, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m80xd2v720vvjw8dq2w0ge8z", "Content-Type": "application/json", "X-Parlance-Event": "post_call_transcription", "Webhook-Signature": "v1,qYlXPwc4kbAbLOR1DeuaRu9UI7mHQa34nC2HKUBzibs=", "Webhook-Timestamp": "1795327167", "X-Parlance-Event-Id": "evt_01m80xd2v720vvjw8dq2w0ge8z", "X-Parlance-Signature": "sha256=beab08a213c8c9b92ecb288f66c9d13d859819d2a5b6b4d59120f97c83160ed2", "X-Parlance-Timestamp": "1795327167"}', '{"Date": "Sun, 22 Nov 2026 05:59:27 GMT", "Content-Length": "0"}', '', '2026-11-22 05:59:27.462478+00', 2, NULL);
INSERT INTO public.webhook_attempts VALUES ('dlv_01m80xd2z66anhs2cy3aq4shp9', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'we_01m80xd2n0k1f13npksk03rrkj', 1, 1, 'succeeded', 200, '', '{"User-Agent": "Parlance-Webhooks/1", "Webhook-Id": "evt_01m80xd2t217qv70e79tna4fn9", "Content-Type": "application/json", "X-Parlance-Event": "kb.source_ingested", "Webhook-Signature": "v1,E7ps/Ipb2JBya8Ti3CIIoHcd7SeC6AFRLi0C600TOAc=", "Webhook-Timestamp": "1795327167", "X-Parlance-Event-Id": "evt_01m80xd2t217qv70e79tna4fn9", "X-Parlance-Signature": "sha256=d22186a1998a9d64e25c7d4030faae322d35c120eef462f9d6a21e0f624a038b", "X-Parlance-Timestamp": "1795327167"}', '{"Date": "Sun, 22 Nov 2026 05:59:27 GMT", "Content-Length": "0"}', '', '2026-11-22 05:59:27.462214+00', 1, NULL);


--
-- Data for Name: webhook_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (2, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'we_01m80xd2n0k1f13npksk03rrkj', 'evt_01m80xd2v720vvjw8dq2w0ge8z', 'post_call_transcription', 3, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-22 05:59:27.370989+00');
INSERT INTO public.webhook_deliveries OVERRIDING SYSTEM VALUE VALUES (1, 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'we_01m80xd2n0k1f13npksk03rrkj', 'evt_01m80xd2t217qv70e79tna4fn9', 'kb.source_ingested', 2, NULL, 'succeeded', 1, NULL, NULL, NULL, false, '2026-11-22 05:59:27.301286+00');


--
-- Data for Name: webhook_endpoints; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.webhook_endpoints VALUES ('we_01m80xd2n0k1f13npksk03rrkj', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'ws_01m80xd2k9kps37zmdr9cxz4zj', 'https://127.0.0.1:43155', '{post_call_transcription,kb.source_ingested}', 'recorded', 'enabled', '', 0, '2026-11-22 05:59:27.467138+00', NULL, '\x0201a201d68a967539a51739ef80b7a96514e3c664bc5706daf5e2c60fe871669d15483b5ba9e8e078b9f6050a4b2c3b204763990509a6ce3cbc4a679447fa8def1b722c6f01c2cc0c30067d405c3af064d11a0d4addc2ab58f53436ad2176', 'Mtk=', NULL, NULL, '2026-11-22 05:59:27.158365+00', '2026-11-22 05:59:27.158365+00');


--
-- Data for Name: workspace_embeddings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workspace_embeddings VALUES ('ws_01m80xd2k9kps37zmdr9cxz4zj', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'parlance-lexical-hash-512-v2', '', NULL, '');


--
-- Data for Name: workspaces; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.workspaces VALUES ('ws_01m80xd2k9kps37zmdr9cxz4zj', 'ten_01m80xd2k9kps37zmdr86k2yp9', 'default', 94, '2026-11-22 05:59:27.081001+00', '2026-11-22 05:59:27.081001+00');


--
-- Name: bun_migration_locks_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.bun_migration_locks_id_seq', 1, false);


--
-- Name: bun_migrations_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.bun_migrations_id_seq', 21, true);


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
-- Name: source_words_number_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.source_words_number_seq', 1, true);


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
-- Name: embedding_models embedding_models_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.embedding_models
    ADD CONSTRAINT embedding_models_pkey PRIMARY KEY (name);


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
-- Name: knowledge_evaluations knowledge_evaluations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.knowledge_evaluations
    ADD CONSTRAINT knowledge_evaluations_pkey PRIMARY KEY (id);


--
-- Name: mcp_catalogs mcp_catalogs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mcp_catalogs
    ADD CONSTRAINT mcp_catalogs_pkey PRIMARY KEY (tool_id, digest);


--
-- Name: mcp_discoveries mcp_discoveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mcp_discoveries
    ADD CONSTRAINT mcp_discoveries_pkey PRIMARY KEY (tool_id);


--
-- Name: next_vectors next_vectors_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.next_vectors
    ADD CONSTRAINT next_vectors_pkey PRIMARY KEY (chunk_id, model);


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
-- Name: session_mcp_catalogs session_mcp_catalogs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_mcp_catalogs
    ADD CONSTRAINT session_mcp_catalogs_pkey PRIMARY KEY (session_id, tool_id);


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
-- Name: source_codes source_codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_codes
    ADD CONSTRAINT source_codes_pkey PRIMARY KEY (words_number, model);


--
-- Name: source_pages source_pages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_pages
    ADD CONSTRAINT source_pages_pkey PRIMARY KEY (source_id, key, page);


--
-- Name: source_postings source_postings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_postings
    ADD CONSTRAINT source_postings_pkey PRIMARY KEY (words_number, page);


--
-- Name: source_reembeddings source_reembeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_reembeddings
    ADD CONSTRAINT source_reembeddings_pkey PRIMARY KEY (source_id);


--
-- Name: source_words source_words_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_words
    ADD CONSTRAINT source_words_pkey PRIMARY KEY (number);


--
-- Name: source_words source_words_workspace_id_source_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_words
    ADD CONSTRAINT source_words_workspace_id_source_id_key UNIQUE (workspace_id, source_id);


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
-- Name: staged_vectors staged_vectors_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.staged_vectors
    ADD CONSTRAINT staged_vectors_pkey PRIMARY KEY (source_id, model, text_hash);


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
-- Name: upload_holds upload_holds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.upload_holds
    ADD CONSTRAINT upload_holds_pkey PRIMARY KEY (key);


--
-- Name: vector_indexes vector_indexes_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vector_indexes
    ADD CONSTRAINT vector_indexes_name_key UNIQUE (name);


--
-- Name: vector_indexes vector_indexes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vector_indexes
    ADD CONSTRAINT vector_indexes_pkey PRIMARY KEY (workspace_id, model);


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
-- Name: workspace_embeddings workspace_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspace_embeddings
    ADD CONSTRAINT workspace_embeddings_pkey PRIMARY KEY (workspace_id);


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
-- Name: knowledge_evaluations_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX knowledge_evaluations_by_workspace ON public.knowledge_evaluations USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: next_vectors_by_source; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX next_vectors_by_source ON public.next_vectors USING btree (workspace_id, source_id);


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
-- Name: session_mcp_catalogs_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX session_mcp_catalogs_by_tool ON public.session_mcp_catalogs USING btree (tool_id, digest);


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
-- Name: source_pages_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX source_pages_by_age ON public.source_pages USING btree (stored_at);


--
-- Name: source_reembeddings_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX source_reembeddings_by_workspace ON public.source_reembeddings USING btree (workspace_id);


--
-- Name: source_reembeddings_waiting; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX source_reembeddings_waiting ON public.source_reembeddings USING btree (tenant_id, due_at) WHERE (state = 'waiting'::text);


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
-- Name: staged_vectors_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX staged_vectors_by_age ON public.staged_vectors USING btree (stored_at);


--
-- Name: stray_blobs_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX stray_blobs_by_age ON public.stray_blobs USING btree (noted_at);


--
-- Name: tool_attachments_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_attachments_by_tool ON public.tool_attachments USING btree (workspace_id, tool_id);


--
-- Name: tool_call_counts_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_call_counts_by_time ON public.tool_call_counts USING brin (updated_at);


--
-- Name: tool_calls_by_agent; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_agent ON public.tool_calls USING btree (workspace_id, agent_id, started_at DESC, id DESC) WHERE (agent_id IS NOT NULL);


--
-- Name: tool_calls_by_session; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_session ON public.tool_calls USING btree (session_id, started_at, id) WHERE (session_id IS NOT NULL);


--
-- Name: tool_calls_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_time ON public.tool_calls USING brin (started_at) WITH (autosummarize='on', pages_per_range='32');


--
-- Name: tool_calls_by_tool; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_tool ON public.tool_calls USING btree (workspace_id, tool_id, started_at DESC, id DESC);


--
-- Name: tool_calls_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_by_workspace ON public.tool_calls USING btree (workspace_id, started_at DESC, id DESC);


--
-- Name: tool_calls_failed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tool_calls_failed ON public.tool_calls USING btree (workspace_id, started_at DESC, id DESC) WHERE (error_code <> ''::text);


--
-- Name: tools_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX tools_by_workspace ON public.tools USING btree (workspace_id, created_at DESC, id DESC);


--
-- Name: tools_slug; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX tools_slug ON public.tools USING btree (workspace_id, lower(slug));


--
-- Name: upload_holds_by_workspace; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX upload_holds_by_workspace ON public.upload_holds USING btree (tenant_id, workspace_id);


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
-- Name: workspace_embeddings_moving; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX workspace_embeddings_moving ON public.workspace_embeddings USING btree (workspace_id) WHERE (target_model <> ''::text);


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
-- Name: knowledge_evaluations knowledge_evaluations_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.knowledge_evaluations
    ADD CONSTRAINT knowledge_evaluations_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: mcp_catalogs mcp_catalogs_tool_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mcp_catalogs
    ADD CONSTRAINT mcp_catalogs_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES public.tools(id) ON DELETE CASCADE;


--
-- Name: mcp_discoveries mcp_discoveries_tool_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.mcp_discoveries
    ADD CONSTRAINT mcp_discoveries_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES public.tools(id) ON DELETE CASCADE;


--
-- Name: next_vectors next_vectors_chunk_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.next_vectors
    ADD CONSTRAINT next_vectors_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES public.chunks(id) ON DELETE CASCADE;


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
-- Name: session_mcp_catalogs session_mcp_catalogs_tool_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.session_mcp_catalogs
    ADD CONSTRAINT session_mcp_catalogs_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES public.tools(id) ON DELETE CASCADE;


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
-- Name: source_codes source_codes_words_number_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_codes
    ADD CONSTRAINT source_codes_words_number_fkey FOREIGN KEY (words_number) REFERENCES public.source_words(number) ON DELETE CASCADE;


--
-- Name: source_pages source_pages_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_pages
    ADD CONSTRAINT source_pages_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


--
-- Name: source_postings source_postings_words_number_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_postings
    ADD CONSTRAINT source_postings_words_number_fkey FOREIGN KEY (words_number) REFERENCES public.source_words(number) ON DELETE CASCADE;


--
-- Name: source_reembeddings source_reembeddings_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_reembeddings
    ADD CONSTRAINT source_reembeddings_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


--
-- Name: source_words source_words_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.source_words
    ADD CONSTRAINT source_words_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


--
-- Name: sources sources_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: staged_vectors staged_vectors_workspace_id_source_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.staged_vectors
    ADD CONSTRAINT staged_vectors_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES public.sources(workspace_id, id) ON DELETE CASCADE;


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
-- Name: upload_holds upload_holds_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.upload_holds
    ADD CONSTRAINT upload_holds_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: vector_indexes vector_indexes_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.vector_indexes
    ADD CONSTRAINT vector_indexes_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


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
-- Name: workspace_embeddings workspace_embeddings_tenant_id_workspace_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspace_embeddings
    ADD CONSTRAINT workspace_embeddings_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES public.workspaces(tenant_id, id) ON DELETE CASCADE;


--
-- Name: workspaces workspaces_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.workspaces
    ADD CONSTRAINT workspaces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


