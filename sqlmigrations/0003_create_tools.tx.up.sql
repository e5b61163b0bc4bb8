-- Custom tools, their attachments to agents, and the traces of their calls.
CREATE TABLE IF NOT EXISTS tools (
    id           uuid PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    slug         text NOT NULL,
    description  text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('http', 'mcp')),
    -- Everything else of tools.Tool, as JSON; it never holds a secret.
    config       jsonb NOT NULL,
    -- The Authorization header, sealed for (tenant, tool, field); NULL when there is none.
    auth_header  bytea,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

-- Slugs that differ only in case would confuse a model.
CREATE UNIQUE INDEX IF NOT EXISTS tools_slug ON tools (workspace_id, lower(slug));

--bun:split

CREATE INDEX IF NOT EXISTS tools_by_workspace ON tools (workspace_id, created_at DESC, id DESC);

--bun:split

CREATE TABLE IF NOT EXISTS tool_attachments (
    agent_id              text NOT NULL,
    -- A custom tool's UUID or builtin:<name>, so there is no foreign key: deleting a tool deletes
    -- its rows.
    tool_id               text NOT NULL,
    tenant_id             text NOT NULL,
    workspace_id          text NOT NULL,
    enabled               boolean NOT NULL,
    max_calls_per_session integer NOT NULL DEFAULT 0 CHECK (max_calls_per_session >= 0),
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    PRIMARY KEY (agent_id, tool_id),
    FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS tool_attachments_by_tool ON tool_attachments (workspace_id, tool_id);

--bun:split

-- One row a logical call; refused calls and runs are traced too.
CREATE TABLE IF NOT EXISTS tool_calls (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    workspace_id  text NOT NULL,
    session_id    text,
    turn_id       text,
    tool_id       text NOT NULL,
    slug          text NOT NULL,
    input         jsonb NOT NULL,
    output        text NOT NULL,
    status_code   integer NOT NULL DEFAULT 0,
    latency_ms    integer NOT NULL DEFAULT 0,
    attempts      integer NOT NULL DEFAULT 0,
    error_code    text NOT NULL DEFAULT '',
    error_message text NOT NULL DEFAULT '',
    started_at    timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS tool_calls_by_tool ON tool_calls (workspace_id, tool_id, started_at DESC, id DESC);

--bun:split

CREATE INDEX IF NOT EXISTS tool_calls_by_session ON tool_calls (session_id, started_at, id) WHERE session_id IS NOT NULL;

--bun:split

-- Calls counted against max_calls_per_session, across nodes and reconnects.
CREATE TABLE IF NOT EXISTS tool_call_counts (
    tenant_id  text NOT NULL,
    session_id text NOT NULL,
    tool_id    text NOT NULL,
    calls      integer NOT NULL CHECK (calls >= 0),
    PRIMARY KEY (session_id, tool_id)
);
