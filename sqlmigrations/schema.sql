-- The schema that the migrations make, as Postgres describes it. Written by the tests: -update.

CREATE TABLE agent_drafts (
    agent_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    config jsonb NOT NULL,
    base_version integer NOT NULL,
    revision integer NOT NULL,
    updated_by text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_drafts_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
    CONSTRAINT agent_drafts_base_version_check CHECK ((base_version > 0)),
    CONSTRAINT agent_drafts_pkey PRIMARY KEY (agent_id),
    CONSTRAINT agent_drafts_revision_check CHECK ((revision > 0))
);

CREATE TABLE agent_versions (
    agent_id text NOT NULL,
    version integer NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    config jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT agent_versions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
    CONSTRAINT agent_versions_pkey PRIMARY KEY (agent_id, version),
    CONSTRAINT agent_versions_version_check CHECK ((version > 0))
);

CREATE TABLE agents (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    config jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    draft_revision integer NOT NULL DEFAULT 0,
    CONSTRAINT agents_pkey PRIMARY KEY (id),
    CONSTRAINT agents_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT agents_version_check CHECK ((version > 0)),
    CONSTRAINT agents_workspace_id_id_key UNIQUE (workspace_id, id)
);
CREATE INDEX agents_by_workspace ON public.agents USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE api_keys (
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
    old_secret_hash bytea,
    old_secret_expires_at timestamp with time zone,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'runtime'::text, 'operator'::text, 'admin'::text]))),
    CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash),
    CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    CONSTRAINT api_keys_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_by_old_secret ON public.api_keys USING btree (old_secret_hash) WHERE (old_secret_hash IS NOT NULL);
CREATE INDEX api_keys_by_tenant ON public.api_keys USING btree (tenant_id, created_at DESC, id DESC);

CREATE TABLE audit_entries (
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL,
    at timestamp with time zone NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    workspace_id text NOT NULL,
    actor_kind text NOT NULL,
    actor_id text NOT NULL,
    actor_name text NOT NULL,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text NOT NULL,
    parent_id text NOT NULL,
    user_hash text NOT NULL,
    remote_address text NOT NULL,
    user_agent text NOT NULL,
    request_id text NOT NULL,
    outcome text NOT NULL,
    before jsonb,
    after jsonb,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_entries_id_key UNIQUE (id),
    CONSTRAINT audit_entries_number_check CHECK ((number > 0)),
    CONSTRAINT audit_entries_pkey PRIMARY KEY (tenant_id, number),
    CONSTRAINT audit_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX audit_entries_by_time ON public.audit_entries USING btree (tenant_id, at);
CREATE INDEX audit_entries_by_workspace ON public.audit_entries USING btree (tenant_id, workspace_id, at);

CREATE TABLE audit_pending (
    tenant_id text NOT NULL,
    id text NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    entry jsonb NOT NULL,
    CONSTRAINT audit_pending_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT audit_pending_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX audit_pending_by_age ON public.audit_pending USING btree (begun_at);

CREATE TABLE billing_events (
    event_id text NOT NULL,
    tenant_id text,
    customer_id text NOT NULL,
    subscription_id text NOT NULL,
    object_id text NOT NULL,
    type text NOT NULL,
    livemode boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    data jsonb NOT NULL,
    CONSTRAINT billing_events_pkey PRIMARY KEY (event_id),
    CONSTRAINT billing_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX billing_events_by_customer ON public.billing_events USING btree (tenant_id, customer_id, created_at);
CREATE INDEX billing_events_by_object ON public.billing_events USING btree (tenant_id, object_id);
CREATE INDEX billing_events_unclaimed ON public.billing_events USING btree (customer_id) WHERE (tenant_id IS NULL);
CREATE INDEX billing_events_unclaimed_by_age ON public.billing_events USING btree (received_at) WHERE (tenant_id IS NULL);

CREATE TABLE billing_meter_events (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    meter text NOT NULL,
    month date NOT NULL,
    customer_id text NOT NULL,
    name text NOT NULL,
    quantity bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    attempts integer NOT NULL,
    due_at timestamp with time zone NOT NULL,
    unknown_since timestamp with time zone,
    problem text NOT NULL,
    CONSTRAINT billing_meter_events_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT billing_meter_events_quantity_check CHECK ((quantity > 0)),
    CONSTRAINT billing_meter_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX billing_meter_events_by_month ON public.billing_meter_events USING btree (tenant_id, meter, month);
CREATE INDEX billing_meter_events_due ON public.billing_meter_events USING btree (due_at);

CREATE TABLE billing_meter_runs (
    meter text NOT NULL,
    ran_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_meter_runs_pkey PRIMARY KEY (meter)
);

CREATE TABLE billing_meters (
    tenant_id text NOT NULL,
    meter text NOT NULL,
    month date NOT NULL,
    customer_id text NOT NULL,
    counted bigint NOT NULL,
    reported bigint NOT NULL DEFAULT 0,
    given_up bigint NOT NULL DEFAULT 0,
    reported_at timestamp with time zone,
    CONSTRAINT billing_meters_pkey PRIMARY KEY (tenant_id, meter, month),
    CONSTRAINT billing_meters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX billing_meters_by_month ON public.billing_meters USING btree (month);

CREATE TABLE billing_subscriptions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    customer_id text NOT NULL,
    status text NOT NULL,
    price_id text NOT NULL,
    plan text NOT NULL,
    current_period_end timestamp with time zone,
    cancel_at_period_end boolean NOT NULL,
    started_at timestamp with time zone,
    payment_failed_at timestamp with time zone,
    grace_until timestamp with time zone,
    due_at timestamp with time zone,
    gives_plan boolean NOT NULL,
    event_id text NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_subscriptions_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT billing_subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX billing_subscriptions_due ON public.billing_subscriptions USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE call_approvals (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    turn_id text NOT NULL,
    losses integer NOT NULL DEFAULT 0,
    slug text NOT NULL,
    arguments json NOT NULL,
    status text NOT NULL DEFAULT 'waiting'::text,
    reason text NOT NULL DEFAULT ''::text,
    decided_by text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT call_approvals_pkey PRIMARY KEY (id),
    CONSTRAINT call_approvals_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
    CONSTRAINT call_approvals_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'approved'::text, 'denied'::text, 'expired'::text, 'withdrawn'::text])))
);
CREATE INDEX call_approvals_by_session ON public.call_approvals USING btree (session_id, created_at, id);

CREATE TABLE call_consents (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    granted boolean NOT NULL,
    note text NOT NULL DEFAULT ''::text,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT call_consents_pkey PRIMARY KEY (tenant_id, workspace_id, user_id),
    CONSTRAINT call_consents_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE callback_batches (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    reason text NOT NULL DEFAULT ''::text,
    starts_at timestamp with time zone NOT NULL,
    window_from text NOT NULL DEFAULT ''::text,
    window_until text NOT NULL DEFAULT ''::text,
    timezone text NOT NULL DEFAULT ''::text,
    concurrency integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT callback_batches_pkey PRIMARY KEY (id),
    CONSTRAINT callback_batches_status_check CHECK ((status = ANY (ARRAY['running'::text, 'paused'::text, 'stopped'::text, 'completed'::text]))),
    CONSTRAINT callback_batches_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX callback_batches_page ON public.callback_batches USING btree (tenant_id, workspace_id, created_at, id);

CREATE TABLE callback_schedules (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text NOT NULL,
    phone_number text NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    reason text NOT NULL DEFAULT ''::text,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    exceptions text[] NOT NULL DEFAULT '{}'::text[],
    enabled boolean NOT NULL DEFAULT true,
    dynamic_variables jsonb NOT NULL DEFAULT '{}'::jsonb,
    run_at timestamp with time zone,
    due_at timestamp with time zone,
    skipped_runs integer NOT NULL DEFAULT 0,
    last_skipped_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT callback_schedules_pkey PRIMARY KEY (id),
    CONSTRAINT callback_schedules_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX callback_schedules_due ON public.callback_schedules USING btree (due_at) WHERE (enabled AND (due_at IS NOT NULL));
CREATE INDEX callback_schedules_page ON public.callback_schedules USING btree (tenant_id, workspace_id, created_at, id);
CREATE INDEX callback_schedules_user ON public.callback_schedules USING btree (tenant_id, workspace_id, user_id);

CREATE TABLE callbacks (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text NOT NULL,
    phone_number text NOT NULL,
    timezone text NOT NULL,
    reason text NOT NULL DEFAULT ''::text,
    status text NOT NULL,
    created_by text NOT NULL,
    origin_session_id text NOT NULL DEFAULT ''::text,
    schedule_id text NOT NULL DEFAULT ''::text,
    run_at timestamp with time zone,
    batch_id text NOT NULL DEFAULT ''::text,
    place integer NOT NULL DEFAULT 0,
    session_id text NOT NULL DEFAULT ''::text,
    call_id text NOT NULL DEFAULT ''::text,
    attempts integer NOT NULL DEFAULT 0,
    ignore_limits boolean NOT NULL DEFAULT false,
    dynamic_variables jsonb NOT NULL DEFAULT '{}'::jsonb,
    end_reason text NOT NULL DEFAULT ''::text,
    waits_for text NOT NULL DEFAULT ''::text,
    at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    dialed_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT callbacks_created_by_check CHECK ((created_by = ANY (ARRAY['agent'::text, 'operator'::text, 'schedule'::text, 'batch'::text]))),
    CONSTRAINT callbacks_pkey PRIMARY KEY (id),
    CONSTRAINT callbacks_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'dialing'::text, 'in_progress'::text, 'completed'::text, 'no_answer'::text, 'failed'::text, 'canceled'::text]))),
    CONSTRAINT callbacks_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX callbacks_batch ON public.callbacks USING btree (tenant_id, batch_id, place) WHERE (batch_id <> ''::text);
CREATE INDEX callbacks_due ON public.callbacks USING btree (tenant_id, due_at) WHERE (status = 'scheduled'::text);
CREATE INDEX callbacks_given_up ON public.callbacks USING btree (tenant_id, ended_at) WHERE (status = ANY (ARRAY['failed'::text, 'no_answer'::text]));
CREATE INDEX callbacks_page ON public.callbacks USING btree (tenant_id, workspace_id, at, id);
CREATE UNIQUE INDEX callbacks_run ON public.callbacks USING btree (schedule_id, run_at) WHERE ((schedule_id <> ''::text) AND (run_at IS NOT NULL));
CREATE INDEX callbacks_user ON public.callbacks USING btree (tenant_id, workspace_id, user_id, at);

CREATE TABLE chunks (
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
    embedding vector NOT NULL,
    batch bigint DEFAULT ((pg_current_xact_id())::text)::bigint,
    CONSTRAINT chunks_index_check CHECK ((index >= 0)),
    CONSTRAINT chunks_pkey PRIMARY KEY (id),
    CONSTRAINT chunks_source_id_index_key UNIQUE (source_id, index),
    CONSTRAINT chunks_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE data_keys (
    id uuid NOT NULL,
    tenant_id text,
    master_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT data_keys_master_key_id_check CHECK ((master_key_id <> ''::text)),
    CONSTRAINT data_keys_pkey PRIMARY KEY (id),
    CONSTRAINT data_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX data_keys_by_master ON public.data_keys USING btree (master_key_id, id);
CREATE UNIQUE INDEX data_keys_current ON public.data_keys USING btree (COALESCE(tenant_id, ''::text)) WHERE (retired_at IS NULL);

CREATE TABLE deleted_calls (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    carrier text NOT NULL,
    carrier_call_id text NOT NULL,
    credential_id text NOT NULL,
    account_id text NOT NULL,
    base_url text NOT NULL,
    api_key bytea,
    hung_up boolean NOT NULL DEFAULT false,
    due_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT deleted_calls_pkey PRIMARY KEY (id)
);
CREATE INDEX deleted_calls_due ON public.deleted_calls USING btree (due_at);

CREATE TABLE embedding_models (
    name text NOT NULL,
    dimension integer NOT NULL,
    chosen_at timestamp with time zone NOT NULL,
    CONSTRAINT embedding_models_pkey PRIMARY KEY (name)
);

CREATE TABLE event_feed_floors (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT event_feed_floors_pkey PRIMARY KEY (tenant_id, workspace_id),
    CONSTRAINT event_feed_floors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE events (
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    tenant_id text NOT NULL,
    event_id text NOT NULL,
    workspace_id text NOT NULL,
    type text NOT NULL,
    subject text NOT NULL DEFAULT ''::text,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    relayed_at timestamp with time zone,
    position bigint,
    traceparent text NOT NULL DEFAULT ''::text,
    request_id text NOT NULL DEFAULT ''::text,
    agent_id text,
    session_id text,
    user_id text,
    erased boolean NOT NULL DEFAULT false,
    sealed bytea,
    CONSTRAINT events_pkey PRIMARY KEY (seq),
    CONSTRAINT events_tenant_id_event_id_key UNIQUE (tenant_id, event_id),
    CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX events_by_session ON public.events USING btree (tenant_id, session_id) WHERE (session_id <> ''::text);
CREATE INDEX events_by_user ON public.events USING btree (tenant_id, user_id) WHERE (user_id <> ''::text);
CREATE INDEX events_feed ON public.events USING btree (tenant_id, workspace_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX events_unattributed ON public.events USING btree (tenant_id, workspace_id) WHERE (user_id IS NULL);
CREATE INDEX events_unrelayed_internal ON public.events USING btree (tenant_id, seq) WHERE ((relayed_at IS NULL) AND ("left"(type, 1) = '_'::text));
CREATE INDEX events_unrelayed_public ON public.events USING btree (tenant_id, seq) WHERE ((relayed_at IS NULL) AND ("left"(type, 1) <> '_'::text));

CREATE TABLE fatigue_alerts (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text NOT NULL,
    window_seconds bigint NOT NULL,
    measure text NOT NULL,
    fired_at timestamp with time zone NOT NULL,
    CONSTRAINT fatigue_alerts_measure_check CHECK ((measure = ANY (ARRAY['turns'::text, 'sessions'::text, 'minutes'::text]))),
    CONSTRAINT fatigue_alerts_pkey PRIMARY KEY (workspace_id, agent_id, user_id, window_seconds, measure),
    CONSTRAINT fatigue_alerts_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE idempotency_keys (
    tenant_id text NOT NULL,
    caller_id text NOT NULL,
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    claim_id text NOT NULL,
    lease_until timestamp with time zone,
    answer bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    session_id text,
    user_hash bytea,
    CONSTRAINT idempotency_keys_caller_id_check CHECK ((caller_id <> ''::text)),
    CONSTRAINT idempotency_keys_check CHECK ((num_nonnulls(lease_until, answer) = 1)),
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((octet_length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, caller_id, key_hash),
    CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_by_expiry ON public.idempotency_keys USING btree (expires_at);
CREATE INDEX idempotency_keys_by_session ON public.idempotency_keys USING btree (tenant_id, session_id) WHERE (session_id <> ''::text);
CREATE INDEX idempotency_keys_by_user ON public.idempotency_keys USING btree (tenant_id, user_hash) WHERE (user_hash IS NOT NULL);

CREATE TABLE knowledge_evaluations (
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
    CONSTRAINT knowledge_evaluations_pkey PRIMARY KEY (id),
    CONSTRAINT knowledge_evaluations_question_count_check CHECK ((question_count > 0)),
    CONSTRAINT knowledge_evaluations_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT knowledge_evaluations_top_k_check CHECK (((top_k >= 1) AND (top_k <= 50)))
);
CREATE INDEX knowledge_evaluations_by_workspace ON public.knowledge_evaluations USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE mcp_catalogs (
    tool_id uuid NOT NULL,
    digest text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    remote_tools jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT mcp_catalogs_pkey PRIMARY KEY (tool_id, digest),
    CONSTRAINT mcp_catalogs_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE
);

CREATE TABLE mcp_discoveries (
    tool_id uuid NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint text NOT NULL DEFAULT ''::text,
    digest text NOT NULL DEFAULT ''::text,
    listed_at timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone,
    changed_at timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone,
    asking_until timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone,
    CONSTRAINT mcp_discoveries_pkey PRIMARY KEY (tool_id),
    CONSTRAINT mcp_discoveries_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE
);

CREATE TABLE memories (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    text text NOT NULL,
    category text NOT NULL DEFAULT ''::text,
    attribute text NOT NULL DEFAULT ''::text,
    tags text[] NOT NULL DEFAULT '{}'::text[],
    confidence real NOT NULL DEFAULT 1,
    slot text NOT NULL,
    meaning text NOT NULL,
    created_by text NOT NULL,
    agent_id text NOT NULL DEFAULT ''::text,
    session_id text NOT NULL DEFAULT ''::text,
    turn_id text NOT NULL DEFAULT ''::text,
    superseded_by text NOT NULL DEFAULT ''::text,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT memories_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT memories_created_by_check CHECK ((created_by = ANY (ARRAY['model'::text, 'extraction'::text, 'operator'::text]))),
    CONSTRAINT memories_kind_check CHECK ((kind = ANY (ARRAY['note'::text, 'statement'::text]))),
    CONSTRAINT memories_pkey PRIMARY KEY (id),
    CONSTRAINT memories_status_check CHECK ((status = ANY (ARRAY['active'::text, 'pending'::text, 'superseded'::text]))),
    CONSTRAINT memories_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES memory_users(workspace_id, user_id) ON DELETE CASCADE
);
CREATE INDEX memories_active ON public.memories USING btree (workspace_id, user_id, kind, updated_at DESC) WHERE (status = 'active'::text);
CREATE INDEX memories_by_session ON public.memories USING btree (session_id) WHERE (session_id <> ''::text);
CREATE UNIQUE INDEX memories_by_slot ON public.memories USING btree (workspace_id, user_id, slot, status) WHERE (status <> 'superseded'::text);
CREATE INDEX memories_by_user ON public.memories USING btree (workspace_id, user_id, created_at DESC, id DESC);
CREATE INDEX memories_expiring ON public.memories USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE TABLE memory_embeddings_due (
    memory_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    CONSTRAINT memory_embeddings_due_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES memories(id) ON DELETE CASCADE,
    CONSTRAINT memory_embeddings_due_pkey PRIMARY KEY (memory_id)
);
CREATE INDEX memory_embeddings_due_by_time ON public.memory_embeddings_due USING btree (due_at);
CREATE INDEX memory_embeddings_due_by_user ON public.memory_embeddings_due USING btree (workspace_id, user_id);

CREATE TABLE memory_users (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    memories integer NOT NULL DEFAULT 0,
    forgotten_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT memory_users_memories_check CHECK ((memories >= 0)),
    CONSTRAINT memory_users_pkey PRIMARY KEY (workspace_id, user_id),
    CONSTRAINT memory_users_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE memory_vectors (
    memory_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    model text NOT NULL,
    code bit(512) NOT NULL,
    embedding halfvec NOT NULL,
    embedded_at timestamp with time zone NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT memory_vectors_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES memories(id) ON DELETE CASCADE,
    CONSTRAINT memory_vectors_pkey PRIMARY KEY (memory_id)
);
CREATE INDEX memory_vectors_by_model ON public.memory_vectors USING btree (model, embedded_at);
CREATE UNIQUE INDEX memory_vectors_by_number ON public.memory_vectors USING btree (workspace_id, user_id, model, number) INCLUDE (code);

CREATE TABLE next_vectors (
    chunk_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    source_id text NOT NULL,
    model text NOT NULL,
    embedding vector NOT NULL,
    CONSTRAINT next_vectors_chunk_id_fkey FOREIGN KEY (chunk_id) REFERENCES chunks(id) ON DELETE CASCADE,
    CONSTRAINT next_vectors_pkey PRIMARY KEY (chunk_id, model)
);
CREATE INDEX next_vectors_by_source ON public.next_vectors USING btree (workspace_id, source_id);

CREATE TABLE page_token_key (
    only_row boolean NOT NULL DEFAULT true,
    secret bytea NOT NULL,
    CONSTRAINT page_token_key_only_row_check CHECK (only_row),
    CONSTRAINT page_token_key_pkey PRIMARY KEY (only_row),
    CONSTRAINT page_token_key_secret_check CHECK ((octet_length(secret) = 32))
);

CREATE TABLE people (
    id text NOT NULL,
    tenant_id text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    groups text[] NOT NULL,
    group_role text NOT NULL,
    assigned_role text NOT NULL DEFAULT ''::text,
    disabled boolean NOT NULL DEFAULT false,
    created_at timestamp with time zone NOT NULL,
    signed_in_at timestamp with time zone NOT NULL,
    CONSTRAINT people_assigned_role_check CHECK ((assigned_role = ANY (ARRAY[''::text, 'owner'::text, 'operator'::text, 'analyst'::text, 'billing'::text, 'none'::text]))),
    CONSTRAINT people_group_role_check CHECK ((group_role = ANY (ARRAY['owner'::text, 'operator'::text, 'analyst'::text, 'billing'::text, 'none'::text]))),
    CONSTRAINT people_pkey PRIMARY KEY (id),
    CONSTRAINT people_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    CONSTRAINT people_tenant_id_issuer_subject_key UNIQUE (tenant_id, issuer, subject)
);
CREATE INDEX people_by_sign_in ON public.people USING btree (tenant_id, signed_in_at DESC, id DESC);

CREATE TABLE person_sign_ins (
    token_hash bytea NOT NULL,
    tenant_id text NOT NULL,
    person_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    CONSTRAINT person_sign_ins_person_id_fkey FOREIGN KEY (person_id) REFERENCES people(id) ON DELETE CASCADE,
    CONSTRAINT person_sign_ins_pkey PRIMARY KEY (token_hash),
    CONSTRAINT person_sign_ins_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX person_sign_ins_by_person ON public.person_sign_ins USING btree (tenant_id, person_id);

CREATE TABLE phone_calls (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text NOT NULL,
    direction text NOT NULL,
    from_number text NOT NULL,
    to_number text NOT NULL,
    status text NOT NULL,
    end_reason text NOT NULL DEFAULT ''::text,
    session_id text NOT NULL DEFAULT ''::text,
    callback_id text NOT NULL DEFAULT ''::text,
    attempt integer NOT NULL DEFAULT 0,
    number_id text NOT NULL DEFAULT ''::text,
    answered_by text NOT NULL DEFAULT ''::text,
    carrier text NOT NULL,
    carrier_call_id text NOT NULL DEFAULT ''::text,
    dynamic_variables jsonb NOT NULL DEFAULT '{}'::jsonb,
    reason text NOT NULL DEFAULT ''::text,
    ring_seconds integer NOT NULL DEFAULT 30,
    max_duration_seconds integer NOT NULL DEFAULT 3600,
    detect_machine boolean NOT NULL DEFAULT false,
    voicemail_message text NOT NULL DEFAULT ''::text,
    zero_retention boolean NOT NULL DEFAULT false,
    transfer_status text NOT NULL DEFAULT ''::text,
    transfer_to text NOT NULL DEFAULT ''::text,
    transfer_mode text NOT NULL DEFAULT ''::text,
    transfer_summary text NOT NULL DEFAULT ''::text,
    transfer_reason text NOT NULL DEFAULT ''::text,
    transfer_ring_seconds integer NOT NULL DEFAULT 25,
    transfer_requested_at timestamp with time zone,
    transfer_connected_at timestamp with time zone,
    transfer_due_at timestamp with time zone,
    check_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone,
    ended_at timestamp with time zone,
    duration_seconds integer NOT NULL DEFAULT 0,
    pstn_minutes integer NOT NULL DEFAULT 0,
    transfer_answered_at timestamp with time zone,
    transfer_by_session boolean NOT NULL DEFAULT false,
    CONSTRAINT phone_calls_direction_check CHECK ((direction = ANY (ARRAY['inbound'::text, 'outbound'::text]))),
    CONSTRAINT phone_calls_pkey PRIMARY KEY (id),
    CONSTRAINT phone_calls_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX phone_calls_callback ON public.phone_calls USING btree (tenant_id, callback_id, attempt) WHERE (callback_id <> ''::text);
CREATE UNIQUE INDEX phone_calls_carrier ON public.phone_calls USING btree (tenant_id, carrier, carrier_call_id) WHERE (carrier_call_id <> ''::text);
CREATE INDEX phone_calls_due ON public.phone_calls USING btree (check_at) WHERE (check_at IS NOT NULL);
CREATE INDEX phone_calls_page ON public.phone_calls USING btree (tenant_id, workspace_id, created_at, id);
CREATE INDEX phone_calls_session ON public.phone_calls USING btree (session_id) WHERE (session_id <> ''::text);
CREATE INDEX phone_calls_user ON public.phone_calls USING btree (tenant_id, workspace_id, user_id);

CREATE TABLE phone_numbers (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    phone_number text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL DEFAULT ''::text,
    enabled boolean NOT NULL DEFAULT true,
    lookup_url text NOT NULL DEFAULT ''::text,
    lookup_secret bytea,
    lookup_secret_hint text NOT NULL DEFAULT ''::text,
    dynamic_variables jsonb NOT NULL DEFAULT '{}'::jsonb,
    configured boolean NOT NULL DEFAULT false,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT phone_numbers_pkey PRIMARY KEY (id),
    CONSTRAINT phone_numbers_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX phone_numbers_number ON public.phone_numbers USING btree (phone_number);
CREATE INDEX phone_numbers_page ON public.phone_numbers USING btree (tenant_id, workspace_id, created_at, id);

CREATE TABLE plans (
    name text NOT NULL,
    definition jsonb NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT plans_pkey PRIMARY KEY (name)
);

CREATE TABLE privacy_files (
    key text NOT NULL,
    tenant_id text NOT NULL,
    request_id text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT privacy_files_pkey PRIMARY KEY (key)
);
CREATE INDEX privacy_files_by_expiry ON public.privacy_files USING btree (expires_at);

CREATE TABLE privacy_requests (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    user_hash text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    requested_by text NOT NULL,
    counts jsonb NOT NULL,
    remaining jsonb,
    error text NOT NULL DEFAULT ''::text,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    file_key text NOT NULL DEFAULT ''::text,
    size_bytes bigint NOT NULL DEFAULT 0,
    sha256 text NOT NULL DEFAULT ''::text,
    expires_at timestamp with time zone,
    traceparent text NOT NULL DEFAULT ''::text,
    request_id text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT privacy_requests_kind_check CHECK ((kind = ANY (ARRAY['export'::text, 'erasure'::text]))),
    CONSTRAINT privacy_requests_pkey PRIMARY KEY (id),
    CONSTRAINT privacy_requests_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'ready'::text, 'failed'::text]))),
    CONSTRAINT privacy_requests_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX privacy_requests_by_user ON public.privacy_requests USING btree (workspace_id, user_id) WHERE (user_id <> ''::text);
CREATE INDEX privacy_requests_by_workspace ON public.privacy_requests USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX privacy_requests_due ON public.privacy_requests USING btree (tenant_id, due_at) WHERE (finished_at IS NULL);

CREATE TABLE provider_credentials (
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
    CONSTRAINT provider_credentials_pkey PRIMARY KEY (id),
    CONSTRAINT provider_credentials_provider_check CHECK ((provider <> ''::text)),
    CONSTRAINT provider_credentials_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX provider_credentials_one ON public.provider_credentials USING btree (workspace_id, kind, provider);

CREATE TABLE recording_parts (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    agent_id text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    offset_ms integer NOT NULL,
    ended_at timestamp with time zone,
    incomplete boolean NOT NULL DEFAULT false,
    erased_at timestamp with time zone,
    CONSTRAINT recording_parts_offset_ms_check CHECK ((offset_ms >= 0)),
    CONSTRAINT recording_parts_pkey PRIMARY KEY (id),
    CONSTRAINT recording_parts_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);
CREATE INDEX recording_parts_by_session ON public.recording_parts USING btree (session_id, started_at, id);
CREATE INDEX recording_parts_kept ON public.recording_parts USING btree (agent_id, started_at) WHERE (erased_at IS NULL);

CREATE TABLE recording_segments (
    part_id text NOT NULL,
    number integer NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text NOT NULL,
    key text NOT NULL,
    frames bigint NOT NULL,
    marks jsonb NOT NULL DEFAULT '[]'::jsonb,
    due_at timestamp with time zone,
    CONSTRAINT recording_segments_frames_check CHECK ((frames >= 0)),
    CONSTRAINT recording_segments_pkey PRIMARY KEY (part_id, number)
);
CREATE INDEX recording_segments_by_session ON public.recording_segments USING btree (session_id);
CREATE INDEX recording_segments_due ON public.recording_segments USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE session_analyses (
    session_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    status text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    deadline_at timestamp with time zone NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    result jsonb NOT NULL DEFAULT '{}'::jsonb,
    model text NOT NULL DEFAULT ''::text,
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    error text NOT NULL DEFAULT ''::text,
    traceparent text NOT NULL DEFAULT ''::text,
    request_id text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    kind text NOT NULL DEFAULT 'analysis'::text,
    CONSTRAINT session_analyses_check CHECK (((ended_at IS NOT NULL) = (status <> 'pending'::text))),
    CONSTRAINT session_analyses_kind_check CHECK ((kind = ANY (ARRAY['analysis'::text, 'extraction'::text]))),
    CONSTRAINT session_analyses_pkey PRIMARY KEY (session_id, kind),
    CONSTRAINT session_analyses_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
    CONSTRAINT session_analyses_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'none'::text])))
);
CREATE INDEX session_analyses_failed ON public.session_analyses USING btree (tenant_id, ended_at) WHERE (status = 'failed'::text);
CREATE INDEX session_analyses_overdue ON public.session_analyses USING btree (deadline_at) WHERE (status = 'pending'::text);
CREATE INDEX session_analyses_pending ON public.session_analyses USING btree (tenant_id, due_at) WHERE (status = 'pending'::text);

CREATE TABLE session_connections (
    session_id text NOT NULL,
    channel text NOT NULL,
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    node_id text NOT NULL,
    joined_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT session_connections_channel_check CHECK ((channel = ANY (ARRAY['voice'::text, 'chat'::text]))),
    CONSTRAINT session_connections_pkey PRIMARY KEY (session_id, channel),
    CONSTRAINT session_connections_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
);

CREATE TABLE session_mcp_catalogs (
    session_id text NOT NULL,
    tool_id uuid NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    digest text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT session_mcp_catalogs_pkey PRIMARY KEY (session_id, tool_id),
    CONSTRAINT session_mcp_catalogs_tool_id_fkey FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE
);
CREATE INDEX session_mcp_catalogs_by_tool ON public.session_mcp_catalogs USING btree (tool_id, digest);

CREATE TABLE session_summaries (
    session_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    text text NOT NULL,
    turns integer NOT NULL,
    model text NOT NULL DEFAULT ''::text,
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    rounds integer NOT NULL DEFAULT 1,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT session_summaries_pkey PRIMARY KEY (session_id),
    CONSTRAINT session_summaries_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
    CONSTRAINT session_summaries_turns_check CHECK ((turns > 0))
);

CREATE TABLE sessions (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    agent_version integer NOT NULL,
    user_id text NOT NULL,
    modality text NOT NULL,
    status text NOT NULL,
    end_reason text NOT NULL DEFAULT ''::text,
    config jsonb NOT NULL,
    overrides jsonb NOT NULL,
    voice_stack_override jsonb NOT NULL,
    dynamic_variables jsonb NOT NULL,
    secret_variables bytea,
    variables_hash text NOT NULL,
    token_expires_at timestamp with time zone NOT NULL,
    language text NOT NULL DEFAULT ''::text,
    turn_count integer NOT NULL DEFAULT 0,
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    tool_calls integer NOT NULL DEFAULT 0,
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
    ending_status text NOT NULL DEFAULT ''::text,
    ending_reason text NOT NULL DEFAULT ''::text,
    assigned_variables jsonb NOT NULL DEFAULT '{}'::jsonb,
    summarized_turns integer NOT NULL DEFAULT 0,
    running_response_id text NOT NULL DEFAULT ''::text,
    item_edits jsonb,
    likes integer NOT NULL DEFAULT 0,
    dislikes integer NOT NULL DEFAULT 0,
    spill_until timestamp with time zone,
    sealed boolean NOT NULL DEFAULT false,
    content_deleted_at timestamp with time zone,
    cost numeric,
    handover_status text NOT NULL DEFAULT ''::text,
    handover_reason text NOT NULL DEFAULT ''::text,
    handover_summary text NOT NULL DEFAULT ''::text,
    handover_destination text NOT NULL DEFAULT ''::text,
    handover_requested_at timestamp with time zone,
    handover_operator text NOT NULL DEFAULT ''::text,
    handover_taken_at timestamp with time zone,
    on_telephone boolean NOT NULL DEFAULT false,
    draft_revision integer NOT NULL DEFAULT 0,
    CONSTRAINT sessions_check CHECK (((running_turn_id IS NULL) = (running_until IS NULL))),
    CONSTRAINT sessions_check1 CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
    CONSTRAINT sessions_idle_timeout_seconds_check CHECK ((idle_timeout_seconds > 0)),
    CONSTRAINT sessions_max_duration_seconds_check CHECK ((max_duration_seconds > 0)),
    CONSTRAINT sessions_modality_check CHECK ((modality = ANY (ARRAY['voice'::text, 'voice+text'::text, 'text'::text]))),
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'failed'::text]))),
    CONSTRAINT sessions_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_agent ON public.sessions USING btree (agent_id, created_at DESC);
CREATE INDEX sessions_by_tenant ON public.sessions USING btree (tenant_id, created_at DESC, id DESC);
CREATE INDEX sessions_by_user ON public.sessions USING btree (workspace_id, user_id COLLATE "C", created_at DESC);
CREATE INDEX sessions_by_workspace ON public.sessions USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX sessions_ended ON public.sessions USING btree (agent_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX sessions_expiring ON public.sessions USING btree (token_expires_at) WHERE ((ended_at IS NULL) AND (started_at IS NULL));
CREATE INDEX sessions_failed ON public.sessions USING btree (tenant_id, ended_at) WHERE (status = 'failed'::text);
CREATE INDEX sessions_handed_over ON public.sessions USING btree (tenant_id, created_at DESC, id DESC) WHERE ((handover_status <> ''::text) AND (ended_at IS NULL));
CREATE INDEX sessions_live ON public.sessions USING btree (tenant_id) WHERE ((ended_at IS NULL) AND (started_at IS NOT NULL));
CREATE INDEX sessions_of_agent ON public.sessions USING btree (tenant_id, agent_id, created_at DESC) INCLUDE (id, workspace_id);
CREATE INDEX sessions_pending ON public.sessions USING btree (tenant_id, token_expires_at) WHERE ((ended_at IS NULL) AND (started_at IS NULL));
CREATE INDEX sessions_sealed ON public.sessions USING btree (ended_at) WHERE sealed;

CREATE TABLE signing_keys (
    kid text NOT NULL,
    public_key bytea NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT signing_keys_pkey PRIMARY KEY (kid)
);

CREATE TABLE source_attachments (
    agent_id text NOT NULL,
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    usage_mode text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT source_attachments_pkey PRIMARY KEY (agent_id, source_id),
    CONSTRAINT source_attachments_usage_mode_check CHECK ((usage_mode = ANY (ARRAY['auto'::text, 'prompt'::text]))),
    CONSTRAINT source_attachments_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE,
    CONSTRAINT source_attachments_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX source_attachments_by_source ON public.source_attachments USING btree (workspace_id, source_id);

CREATE TABLE source_codes (
    tenant_id text NOT NULL,
    words_number bigint NOT NULL,
    model text NOT NULL,
    version integer NOT NULL,
    codes bytea NOT NULL,
    CONSTRAINT source_codes_pkey PRIMARY KEY (words_number, model),
    CONSTRAINT source_codes_words_number_fkey FOREIGN KEY (words_number) REFERENCES source_words(number) ON DELETE CASCADE
);

CREATE TABLE source_pages (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    key text NOT NULL,
    page integer NOT NULL,
    content text NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT source_pages_page_check CHECK ((page > 0)),
    CONSTRAINT source_pages_pkey PRIMARY KEY (source_id, key, page),
    CONSTRAINT source_pages_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX source_pages_by_age ON public.source_pages USING btree (stored_at);

CREATE TABLE source_postings (
    tenant_id text NOT NULL,
    words_number bigint NOT NULL,
    page integer NOT NULL,
    postings bytea NOT NULL,
    CONSTRAINT source_postings_pkey PRIMARY KEY (words_number, page),
    CONSTRAINT source_postings_words_number_fkey FOREIGN KEY (words_number) REFERENCES source_words(number) ON DELETE CASCADE
);

CREATE TABLE source_reembeddings (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    state text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    busy_until timestamp with time zone,
    attempt integer NOT NULL DEFAULT 0,
    CONSTRAINT source_reembeddings_pkey PRIMARY KEY (source_id),
    CONSTRAINT source_reembeddings_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'refused'::text]))),
    CONSTRAINT source_reembeddings_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX source_reembeddings_by_workspace ON public.source_reembeddings USING btree (workspace_id);
CREATE INDEX source_reembeddings_waiting ON public.source_reembeddings USING btree (tenant_id, due_at) WHERE (state = 'waiting'::text);

CREATE TABLE source_words (
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    source_id text NOT NULL,
    language text NOT NULL,
    version integer NOT NULL,
    chunk_count integer NOT NULL,
    term_count bigint NOT NULL,
    page_count integer NOT NULL,
    lengths bytea NOT NULL,
    batch bigint NOT NULL DEFAULT 0,
    CONSTRAINT source_words_page_count_check CHECK ((page_count > 0)),
    CONSTRAINT source_words_pkey PRIMARY KEY (number),
    CONSTRAINT source_words_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE,
    CONSTRAINT source_words_workspace_id_source_id_key UNIQUE (workspace_id, source_id)
);

CREATE TABLE sources (
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
    stage text NOT NULL DEFAULT ''::text,
    progress integer NOT NULL DEFAULT 0,
    force_ocr boolean NOT NULL DEFAULT false,
    owner text NOT NULL DEFAULT ''::text,
    heartbeat_at timestamp with time zone,
    attempt integer NOT NULL DEFAULT 0,
    due_at timestamp with time zone NOT NULL,
    queued_until timestamp with time zone,
    page_count integer NOT NULL DEFAULT 0,
    chunk_count integer NOT NULL DEFAULT 0,
    embedding_model text NOT NULL DEFAULT ''::text,
    error_code text NOT NULL DEFAULT ''::text,
    error_message text NOT NULL DEFAULT ''::text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone,
    traceparent text NOT NULL DEFAULT ''::text,
    request_id text NOT NULL DEFAULT ''::text,
    pages_done integer NOT NULL DEFAULT 0,
    ocr_page_count integer NOT NULL DEFAULT 0,
    language text NOT NULL DEFAULT ''::text,
    warnings text[] NOT NULL DEFAULT '{}'::text[],
    previous_blob_key text NOT NULL DEFAULT ''::text,
    previous_sha256 text NOT NULL DEFAULT ''::text,
    previous_size_bytes bigint NOT NULL DEFAULT 0,
    previous_media_type text NOT NULL DEFAULT ''::text,
    previous_kind text NOT NULL DEFAULT ''::text,
    previous_force_ocr boolean NOT NULL DEFAULT false,
    replacing boolean NOT NULL DEFAULT false,
    reprocess_wanted boolean NOT NULL DEFAULT false,
    reprocess_force_ocr boolean NOT NULL DEFAULT false,
    tags text[] NOT NULL DEFAULT '{}'::text[],
    disabled_chunks integer[] NOT NULL DEFAULT '{}'::integer[],
    disabled_texts text[] NOT NULL DEFAULT '{}'::text[],
    url text NOT NULL DEFAULT ''::text,
    refresh_every_seconds integer NOT NULL DEFAULT 0,
    fetch_due_at timestamp with time zone,
    fetched_at timestamp with time zone,
    fetch_error text NOT NULL DEFAULT ''::text,
    etag text NOT NULL DEFAULT ''::text,
    last_modified text NOT NULL DEFAULT ''::text,
    ocr_languages text[] NOT NULL DEFAULT '{}'::text[],
    previous_ocr_languages text[] NOT NULL DEFAULT '{}'::text[],
    reprocess_ocr_languages text[] NOT NULL DEFAULT '{}'::text[],
    CONSTRAINT sources_kind_check CHECK ((kind = ANY (ARRAY['file'::text, 'inline'::text]))),
    CONSTRAINT sources_pkey PRIMARY KEY (id),
    CONSTRAINT sources_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
    CONSTRAINT sources_size_bytes_check CHECK ((size_bytes >= 0)),
    CONSTRAINT sources_stage_check CHECK ((stage = ANY (ARRAY[''::text, 'fetching'::text, 'parsing'::text, 'ocr'::text, 'chunking'::text, 'embedding'::text]))),
    CONSTRAINT sources_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'ready'::text, 'failed'::text]))),
    CONSTRAINT sources_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT sources_workspace_id_id_key UNIQUE (workspace_id, id)
);
CREATE INDEX sources_by_blob ON public.sources USING btree (blob_key);
CREATE INDEX sources_by_bytes ON public.sources USING btree (workspace_id, sha256);
CREATE INDEX sources_by_previous_blob ON public.sources USING btree (previous_blob_key) WHERE (previous_blob_key <> ''::text);
CREATE UNIQUE INDEX sources_by_url ON public.sources USING btree (workspace_id, url) WHERE (url <> ''::text);
CREATE INDEX sources_by_workspace ON public.sources USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX sources_to_fetch ON public.sources USING btree (fetch_due_at) WHERE (fetch_due_at IS NOT NULL);
CREATE INDEX sources_unfinished ON public.sources USING btree (tenant_id, status, due_at) WHERE (status = ANY (ARRAY['queued'::text, 'processing'::text]));

CREATE TABLE staged_vectors (
    source_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    text_hash bytea NOT NULL,
    embedding vector NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    CONSTRAINT staged_vectors_pkey PRIMARY KEY (source_id, model, text_hash),
    CONSTRAINT staged_vectors_workspace_id_source_id_fkey FOREIGN KEY (workspace_id, source_id) REFERENCES sources(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX staged_vectors_by_age ON public.staged_vectors USING btree (stored_at);

CREATE TABLE stray_blobs (
    key text NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    condemned boolean NOT NULL DEFAULT false,
    CONSTRAINT stray_blobs_pkey PRIMARY KEY (key)
);
CREATE INDEX stray_blobs_by_age ON public.stray_blobs USING btree (noted_at);

CREATE TABLE tenants (
    id text NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    timezone text NOT NULL DEFAULT 'UTC'::text,
    stripe_customer_id text,
    plan_by_billing boolean NOT NULL DEFAULT false,
    plan_since timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_pkey PRIMARY KEY (id),
    CONSTRAINT tenants_plan_check CHECK ((plan <> ''::text))
);
CREATE UNIQUE INDEX tenants_stripe_customer ON public.tenants USING btree (stripe_customer_id) WHERE (stripe_customer_id IS NOT NULL);

CREATE TABLE tombstones (
    tenant_id text NOT NULL,
    id text NOT NULL,
    deleted_at timestamp with time zone NOT NULL,
    CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_id, id),
    CONSTRAINT tombstones_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE tool_attachments (
    agent_id text NOT NULL,
    tool_id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    enabled boolean NOT NULL,
    max_calls_per_session integer NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT tool_attachments_max_calls_per_session_check CHECK ((max_calls_per_session >= 0)),
    CONSTRAINT tool_attachments_pkey PRIMARY KEY (agent_id, tool_id),
    CONSTRAINT tool_attachments_workspace_id_agent_id_fkey FOREIGN KEY (workspace_id, agent_id) REFERENCES agents(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX tool_attachments_by_tool ON public.tool_attachments USING btree (workspace_id, tool_id);

CREATE TABLE tool_call_counts (
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    tool_id text NOT NULL,
    calls integer NOT NULL,
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT tool_call_counts_calls_check CHECK ((calls >= 0)),
    CONSTRAINT tool_call_counts_pkey PRIMARY KEY (session_id, tool_id)
);
CREATE INDEX tool_call_counts_by_time ON public.tool_call_counts USING brin (updated_at);

CREATE TABLE tool_calls (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text,
    turn_id text,
    tool_id text NOT NULL,
    slug text NOT NULL,
    input jsonb NOT NULL,
    output text NOT NULL,
    status_code integer NOT NULL DEFAULT 0,
    latency_ms integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    error_code text NOT NULL DEFAULT ''::text,
    error_message text NOT NULL DEFAULT ''::text,
    started_at timestamp with time zone NOT NULL,
    agent_id text,
    CONSTRAINT tool_calls_pkey PRIMARY KEY (id),
    CONSTRAINT tool_calls_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX tool_calls_by_agent ON public.tool_calls USING btree (workspace_id, agent_id, started_at DESC, id DESC) WHERE (agent_id IS NOT NULL);
CREATE INDEX tool_calls_by_session ON public.tool_calls USING btree (session_id, started_at, id) WHERE (session_id IS NOT NULL);
CREATE INDEX tool_calls_by_time ON public.tool_calls USING brin (started_at) WITH (autosummarize='on', pages_per_range='32');
CREATE INDEX tool_calls_by_tool ON public.tool_calls USING btree (workspace_id, tool_id, started_at DESC, id DESC);
CREATE INDEX tool_calls_by_workspace ON public.tool_calls USING btree (workspace_id, started_at DESC, id DESC);
CREATE INDEX tool_calls_failed ON public.tool_calls USING btree (workspace_id, started_at DESC, id DESC) WHERE (error_code <> ''::text);

CREATE TABLE tools (
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
    secret_header_names text[],
    secret_headers bytea,
    CONSTRAINT tools_kind_check CHECK ((kind = ANY (ARRAY['http'::text, 'mcp'::text]))),
    CONSTRAINT tools_pkey PRIMARY KEY (id),
    CONSTRAINT tools_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX tools_by_workspace ON public.tools USING btree (workspace_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX tools_slug ON public.tools USING btree (workspace_id, lower(slug));

CREATE TABLE turns (
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
    model text NOT NULL DEFAULT ''::text,
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    metrics jsonb NOT NULL,
    error_code text NOT NULL DEFAULT ''::text,
    error_message text NOT NULL DEFAULT ''::text,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    retrieval jsonb,
    receipt json,
    receipt_hash text NOT NULL DEFAULT ''::text,
    wanted boolean NOT NULL DEFAULT false,
    losses integer NOT NULL DEFAULT 0,
    lost_response_id text NOT NULL DEFAULT ''::text,
    feedback text NOT NULL DEFAULT ''::text,
    spilled boolean NOT NULL DEFAULT false,
    client_tools json,
    speech jsonb,
    CONSTRAINT turns_index_check CHECK ((index >= 0)),
    CONSTRAINT turns_pkey PRIMARY KEY (id),
    CONSTRAINT turns_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
    CONSTRAINT turns_session_id_index_key UNIQUE (session_id, index),
    CONSTRAINT turns_status_check CHECK ((status = ANY (ARRAY['in_progress'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
);
CREATE INDEX turns_failed ON public.turns USING btree (tenant_id, ended_at) WHERE (status = 'failed'::text);
CREATE INDEX turns_with_knowledge ON public.turns USING btree (tenant_id, ended_at) INCLUDE (workspace_id, session_id) WHERE ((status = 'completed'::text) AND (((retrieval ->> 'model'::text) <> ''::text) OR (citations <> ALL (ARRAY['[]'::jsonb, 'null'::jsonb]))));
CREATE INDEX turns_without_passage ON public.turns USING btree (tenant_id, ended_at) INCLUDE (workspace_id, session_id) WHERE ((status = 'completed'::text) AND ((retrieval ->> 'model'::text) <> ''::text) AND (NOT (retrieval @> '{"chunks": [{"use": "passage"}]}'::jsonb)) AND (citations = ANY (ARRAY['[]'::jsonb, 'null'::jsonb])));

CREATE TABLE upload_holds (
    key text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    bytes bigint NOT NULL,
    held_until timestamp with time zone NOT NULL,
    CONSTRAINT upload_holds_bytes_check CHECK ((bytes >= 0)),
    CONSTRAINT upload_holds_pkey PRIMARY KEY (key),
    CONSTRAINT upload_holds_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX upload_holds_by_workspace ON public.upload_holds USING btree (tenant_id, workspace_id);

CREATE TABLE usage_alerts (
    id text NOT NULL,
    tenant_id text NOT NULL,
    meter text NOT NULL,
    quantity bigint NOT NULL,
    percent integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT usage_alerts_check CHECK (((quantity > 0) <> (percent > 0))),
    CONSTRAINT usage_alerts_pkey PRIMARY KEY (id),
    CONSTRAINT usage_alerts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX usage_alerts_by_tenant ON public.usage_alerts USING btree (tenant_id, created_at, id);

CREATE TABLE usage_crossings (
    tenant_id text NOT NULL,
    month date NOT NULL,
    meter text NOT NULL,
    alert_id text NOT NULL,
    percent integer NOT NULL,
    crossed_at timestamp with time zone NOT NULL,
    workspace_id text NOT NULL DEFAULT ''::text,
    quota bigint,
    CONSTRAINT usage_crossings_pkey PRIMARY KEY (tenant_id, month, meter, workspace_id, alert_id, percent),
    CONSTRAINT usage_crossings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE usage_days (
    tenant_id text NOT NULL,
    day date NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    meter text NOT NULL,
    model text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric NOT NULL,
    CONSTRAINT usage_days_pkey PRIMARY KEY (tenant_id, day, workspace_id, agent_id, meter, model),
    CONSTRAINT usage_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);
CREATE INDEX usage_days_by_agent ON public.usage_days USING btree (tenant_id, agent_id, day) WHERE (agent_id <> ''::text);

CREATE TABLE usage_months (
    tenant_id text NOT NULL,
    month date NOT NULL,
    meter text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric NOT NULL,
    CONSTRAINT usage_months_pkey PRIMARY KEY (tenant_id, month, meter),
    CONSTRAINT usage_months_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE usage_records (
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    source text NOT NULL,
    meter text NOT NULL,
    model text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric,
    at timestamp with time zone NOT NULL,
    counted boolean NOT NULL DEFAULT false,
    CONSTRAINT usage_records_pkey PRIMARY KEY (seq),
    CONSTRAINT usage_records_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    CONSTRAINT usage_records_tenant_id_source_meter_model_key UNIQUE (tenant_id, source, meter, model)
);
CREATE INDEX usage_records_by_time ON public.usage_records USING btree (tenant_id, at) WHERE counted;
CREATE INDEX usage_records_counted ON public.usage_records USING btree (at) WHERE counted;
CREATE INDEX usage_records_uncounted ON public.usage_records USING btree (seq) WHERE (NOT counted);

CREATE TABLE user_hash_keys (
    tenant_id text NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT user_hash_keys_pkey PRIMARY KEY (tenant_id),
    CONSTRAINT user_hash_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE
);

CREATE TABLE vector_indexes (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    model text NOT NULL,
    dimension integer NOT NULL,
    name text NOT NULL,
    up_to bigint NOT NULL,
    chunk_count bigint NOT NULL,
    built_at timestamp with time zone NOT NULL,
    CONSTRAINT vector_indexes_name_key UNIQUE (name),
    CONSTRAINT vector_indexes_pkey PRIMARY KEY (workspace_id, model),
    CONSTRAINT vector_indexes_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE webhook_attempts (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint_id text NOT NULL,
    delivery_id bigint NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    status_code integer NOT NULL DEFAULT 0,
    error text NOT NULL DEFAULT ''::text,
    request_headers jsonb NOT NULL,
    response_headers jsonb NOT NULL,
    response_body text NOT NULL DEFAULT ''::text,
    started_at timestamp with time zone NOT NULL,
    duration_ms integer NOT NULL DEFAULT 0,
    next_attempt_at timestamp with time zone,
    CONSTRAINT webhook_attempts_attempt_check CHECK ((attempt > 0)),
    CONSTRAINT webhook_attempts_delivery_id_attempt_key UNIQUE (delivery_id, attempt),
    CONSTRAINT webhook_attempts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text])))
);
CREATE INDEX webhook_attempts_by_endpoint ON ONLY public.webhook_attempts USING btree (endpoint_id, started_at DESC, id DESC);
CREATE INDEX webhook_attempts_failed ON ONLY public.webhook_attempts USING btree (endpoint_id, started_at DESC, id DESC) WHERE (status = ANY (ARRAY['failed'::text, 'unknown'::text]));

CREATE TABLE webhook_deliveries (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    endpoint_id text NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    event_seq bigint,
    test_body bytea,
    status text NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    next_at timestamp with time zone,
    lease_until timestamp with time zone,
    queued_until timestamp with time zone,
    once boolean NOT NULL DEFAULT false,
    created_at timestamp with time zone NOT NULL,
    agent_id text NOT NULL DEFAULT ''::text,
    schedule_from integer NOT NULL DEFAULT 0,
    claimed_at timestamp with time zone,
    erased boolean NOT NULL DEFAULT false,
    CONSTRAINT webhook_deliveries_check CHECK ((num_nonnulls(event_seq, test_body) = 1)),
    CONSTRAINT webhook_deliveries_endpoint_id_event_id_key UNIQUE (endpoint_id, event_id),
    CONSTRAINT webhook_deliveries_event_seq_fkey FOREIGN KEY (event_seq) REFERENCES events(seq) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
    CONSTRAINT webhook_deliveries_workspace_id_endpoint_id_fkey FOREIGN KEY (workspace_id, endpoint_id) REFERENCES webhook_endpoints(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_by_event ON public.webhook_deliveries USING btree (event_seq);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (tenant_id, endpoint_id, next_at) WHERE ((status = 'pending'::text) AND (next_at IS NOT NULL));
CREATE INDEX webhook_deliveries_failed ON public.webhook_deliveries USING btree (endpoint_id, created_at, id) WHERE ((status = 'failed'::text) AND (test_body IS NULL));
CREATE INDEX webhook_deliveries_line ON public.webhook_deliveries USING btree (endpoint_id, id) WHERE (status = 'pending'::text);

CREATE TABLE webhook_endpoints (
    id text NOT NULL,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text NOT NULL DEFAULT ''::text,
    status text NOT NULL,
    disabled_reason text NOT NULL DEFAULT ''::text,
    consecutive_failures integer NOT NULL DEFAULT 0,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    secret bytea NOT NULL,
    secret_hint text NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    agent_ids text[] NOT NULL DEFAULT '{}'::text[],
    ordered boolean NOT NULL DEFAULT false,
    max_per_second integer NOT NULL DEFAULT 0,
    max_in_flight integer NOT NULL DEFAULT 0,
    next_send_at timestamp with time zone,
    header_names text[] NOT NULL DEFAULT '{}'::text[],
    headers bytea,
    older_secrets jsonb,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text, 'paused'::text]))),
    CONSTRAINT webhook_endpoints_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT webhook_endpoints_workspace_id_id_key UNIQUE (workspace_id, id)
);
CREATE INDEX webhook_endpoints_by_workspace ON public.webhook_endpoints USING btree (workspace_id, created_at DESC, id DESC);

CREATE TABLE webhook_flights (
    tenant_id text NOT NULL,
    endpoint_id text NOT NULL,
    delivery_id bigint NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    CONSTRAINT webhook_flights_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE,
    CONSTRAINT webhook_flights_pkey PRIMARY KEY (endpoint_id, delivery_id)
);

CREATE TABLE workspace_embeddings (
    workspace_id text NOT NULL,
    tenant_id text NOT NULL,
    model text NOT NULL,
    target_model text NOT NULL DEFAULT ''::text,
    started_at timestamp with time zone,
    error text NOT NULL DEFAULT ''::text,
    CONSTRAINT workspace_embeddings_pkey PRIMARY KEY (workspace_id),
    CONSTRAINT workspace_embeddings_tenant_id_workspace_id_fkey FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX workspace_embeddings_moving ON public.workspace_embeddings USING btree (workspace_id) WHERE (target_model <> ''::text);

CREATE TABLE workspaces (
    id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    kb_used_bytes bigint NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    transcript_days integer NOT NULL DEFAULT 0,
    audio_days integer NOT NULL DEFAULT 0,
    CONSTRAINT workspaces_kb_used_bytes_check CHECK ((kb_used_bytes >= 0)),
    CONSTRAINT workspaces_name_check CHECK ((name <> ''::text)),
    CONSTRAINT workspaces_pkey PRIMARY KEY (id),
    CONSTRAINT workspaces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
    CONSTRAINT workspaces_tenant_id_id_key UNIQUE (tenant_id, id)
);
CREATE INDEX workspaces_by_tenant ON public.workspaces USING btree (tenant_id, created_at, id);
