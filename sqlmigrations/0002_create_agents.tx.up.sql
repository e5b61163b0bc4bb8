-- Agents and their immutable versions. config is agents.Config as JSON, whole.
CREATE TABLE IF NOT EXISTS agents (
    id           text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    name         text NOT NULL,
    version      integer NOT NULL CHECK (version > 0),
    config       jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    UNIQUE (workspace_id, id),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS agents_by_workspace ON agents (workspace_id, created_at DESC, id DESC);

--bun:split

CREATE TABLE IF NOT EXISTS agent_versions (
    agent_id     text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    version      integer NOT NULL CHECK (version > 0),
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    name         text NOT NULL,
    config       jsonb NOT NULL,
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (agent_id, version)
);
