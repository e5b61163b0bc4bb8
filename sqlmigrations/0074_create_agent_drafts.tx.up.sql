-- Settings of agents that are not published; at most one draft an agent. base_version is that of
-- the agent when the draft was begun.
CREATE TABLE IF NOT EXISTS agent_drafts (
    agent_id     text PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    name         text NOT NULL,
    config       jsonb NOT NULL,
    base_version integer NOT NULL CHECK (base_version > 0),
    revision     integer NOT NULL CHECK (revision > 0),
    updated_by   text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);

--bun:split

-- The revision of the draft whose settings a session has; 0: it has those of agent_version.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS draft_revision integer NOT NULL DEFAULT 0;
