-- What MCP servers say they have: their lists of tools, which list is the newest, and which one a
-- session began with and keeps.
CREATE TABLE IF NOT EXISTS mcp_catalogs (
    tool_id      uuid NOT NULL REFERENCES tools (id) ON DELETE CASCADE,
    -- SHA-256 of remote_tools: servers seldom change, so sessions share rows.
    digest       text NOT NULL,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    remote_tools jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (tool_id, digest)
);

--bun:split

CREATE TABLE IF NOT EXISTS mcp_discoveries (
    tool_id      uuid PRIMARY KEY REFERENCES tools (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    -- With which URL, headers and authorization the server was asked; another one is another
    -- server.
    endpoint     text NOT NULL DEFAULT '',
    -- The newest list; empty before the first.
    digest       text NOT NULL DEFAULT '',
    -- When the server was asked for it, and when it last said that its list has changed.
    listed_at    timestamptz NOT NULL DEFAULT 'epoch',
    changed_at   timestamptz NOT NULL DEFAULT 'epoch',
    -- Until when a node is asking; the others wait for what it finds.
    asking_until timestamptz NOT NULL DEFAULT 'epoch'
);

--bun:split

CREATE TABLE IF NOT EXISTS session_mcp_catalogs (
    session_id   text NOT NULL,
    tool_id      uuid NOT NULL REFERENCES tools (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    digest       text NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (session_id, tool_id)
);

--bun:split

CREATE INDEX IF NOT EXISTS session_mcp_catalogs_by_tool ON session_mcp_catalogs (tool_id, digest);
