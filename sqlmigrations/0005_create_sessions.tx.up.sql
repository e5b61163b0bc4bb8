-- Sessions, their turns, and the keys their tokens are signed with.
CREATE TABLE IF NOT EXISTS signing_keys (
    kid         text PRIMARY KEY,
    public_key  bytea NOT NULL,
    -- Sealed for (kid).
    private_key bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    -- After this it signs no more; it verifies until the last token it signed has expired.
    retired_at  timestamptz
);

--bun:split

CREATE TABLE IF NOT EXISTS sessions (
    id                   text PRIMARY KEY,
    tenant_id            text NOT NULL,
    workspace_id         text NOT NULL,
    -- No foreign key: sessions stay readable when their agent is deleted.
    agent_id             text NOT NULL,
    agent_version        integer NOT NULL,
    user_id              text NOT NULL,
    modality             text NOT NULL CHECK (modality IN ('voice', 'voice+text', 'text')),
    status               text NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'failed')),
    end_reason           text NOT NULL DEFAULT '',
    -- The agent's configuration with the overrides applied: what the session runs, whatever is
    -- saved later.
    config               jsonb NOT NULL,
    overrides            jsonb NOT NULL,
    voice_stack_override jsonb NOT NULL,
    dynamic_variables    jsonb NOT NULL,
    -- secret__ variables as JSON, sealed for (tenant, session, field); NULL when there are none.
    secret_variables     bytea,
    -- SHA-256 of all variables, in hex: the token carries it too.
    variables_hash       text NOT NULL,
    token_expires_at     timestamptz NOT NULL,
    language             text NOT NULL DEFAULT '',
    turn_count           integer NOT NULL DEFAULT 0,
    input_tokens         integer NOT NULL DEFAULT 0,
    output_tokens        integer NOT NULL DEFAULT 0,
    tool_calls           integer NOT NULL DEFAULT 0,
    max_duration_seconds integer NOT NULL CHECK (max_duration_seconds > 0),
    idle_timeout_seconds integer NOT NULL CHECK (idle_timeout_seconds > 0),
    created_at           timestamptz NOT NULL,
    started_at           timestamptz,
    last_activity_at     timestamptz NOT NULL,
    -- Since when no socket is connected after a drop; the session completes 120 s later.
    dropped_at           timestamptz,
    ended_at             timestamptz,
    -- The turn lease: who may run a turn, and until when unless it is renewed.
    running_turn_id      text,
    running_until        timestamptz,
    -- An end that waits for the running turn to be recorded.
    ending_at            timestamptz,
    ending_status        text NOT NULL DEFAULT '',
    ending_reason        text NOT NULL DEFAULT '',
    CHECK ((running_turn_id IS NULL) = (running_until IS NULL)),
    CHECK ((ended_at IS NOT NULL) = (status IN ('completed', 'failed'))),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS sessions_by_tenant ON sessions (tenant_id, created_at DESC, id DESC);

--bun:split

CREATE INDEX IF NOT EXISTS sessions_by_workspace ON sessions (workspace_id, created_at DESC, id DESC);

--bun:split

-- Open sessions: counted against the plan, and swept for expiry and time-outs.
CREATE INDEX IF NOT EXISTS sessions_open ON sessions (tenant_id, status, token_expires_at) WHERE status IN ('pending', 'in_progress');

--bun:split

CREATE TABLE IF NOT EXISTS turns (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    workspace_id  text NOT NULL,
    session_id    text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    index         integer NOT NULL CHECK (index >= 0),
    user_text     text NOT NULL,
    agent_text    text NOT NULL,
    status        text NOT NULL CHECK (status IN ('in_progress', 'completed', 'cancelled', 'failed')),
    -- What the model saw and said inside the turn, so that history can be rebuilt on any node.
    -- json, not jsonb: a model's arguments may hold what jsonb cannot (lone surrogates, endless
    -- numbers).
    messages      json NOT NULL,
    citations     jsonb NOT NULL,
    model         text NOT NULL DEFAULT '',
    input_tokens  integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    metrics       jsonb NOT NULL,
    error_code    text NOT NULL DEFAULT '',
    error_message text NOT NULL DEFAULT '',
    started_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    UNIQUE (session_id, index)
);

--bun:split

-- Orders the sockets of a session: of two on one channel the later number stays.
CREATE SEQUENCE IF NOT EXISTS session_connection_numbers;

--bun:split

-- The sockets that are open, one a channel. A row that its node stopped to refresh is a drop.
CREATE TABLE IF NOT EXISTS session_connections (
    session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    channel    text NOT NULL CHECK (channel IN ('voice', 'chat')),
    tenant_id  text NOT NULL,
    number     bigint NOT NULL,
    node_id    text NOT NULL,
    joined_at  timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (session_id, channel)
);

--bun:split

CREATE INDEX IF NOT EXISTS session_connections_by_node ON session_connections (node_id);

--bun:split

CREATE INDEX IF NOT EXISTS session_connections_stale ON session_connections (seen_at);
