-- How well questions with known answers were found, at one time.
CREATE TABLE IF NOT EXISTS knowledge_evaluations (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    workspace_id    text NOT NULL,
    -- The agent may be gone: what was measured stays.
    agent_id        text NOT NULL,
    name            text NOT NULL,
    top_k           integer NOT NULL CHECK (top_k BETWEEN 1 AND 50),
    min_similarity  double precision,
    question_count  integer NOT NULL CHECK (question_count > 0),
    embedding_model text NOT NULL,
    metrics         jsonb NOT NULL,
    results         jsonb NOT NULL,
    created_at      timestamptz NOT NULL,
    duration_ms     integer NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS knowledge_evaluations_by_workspace ON knowledge_evaluations (workspace_id, created_at DESC, id DESC);
