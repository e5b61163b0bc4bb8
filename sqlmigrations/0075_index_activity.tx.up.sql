-- What GetActivity counts. An agent with knowledge searched passages for a turn when the retrieval
-- names a model, and got some in every prompt when the turn has citations without one.
CREATE INDEX IF NOT EXISTS turns_with_knowledge ON turns (tenant_id, ended_at) INCLUDE (workspace_id, session_id)
    WHERE status = 'completed' AND (retrieval ->> 'model' <> '' OR citations NOT IN ('[]', 'null'));

--bun:split

-- Those of them in which no passage was found.
CREATE INDEX IF NOT EXISTS turns_without_passage ON turns (tenant_id, ended_at) INCLUDE (workspace_id, session_id)
    WHERE status = 'completed' AND retrieval ->> 'model' <> '' AND NOT retrieval @> '{"chunks": [{"use": "passage"}]}'
      AND citations IN ('[]', 'null');

--bun:split

CREATE INDEX IF NOT EXISTS turns_failed ON turns (tenant_id, ended_at) WHERE status = 'failed';

--bun:split

CREATE INDEX IF NOT EXISTS sessions_failed ON sessions (tenant_id, ended_at) WHERE status = 'failed';

--bun:split

-- Hours of usage. A record enters it when it is summed, not while its turn waits.
CREATE INDEX IF NOT EXISTS usage_records_by_time ON usage_records (tenant_id, at) WHERE counted;

--bun:split

-- What GetBacklog counts as given up.
CREATE INDEX IF NOT EXISTS callbacks_given_up ON callbacks (tenant_id, ended_at) WHERE status IN ('failed', 'no_answer');

--bun:split

CREATE INDEX IF NOT EXISTS session_analyses_failed ON session_analyses (tenant_id, ended_at) WHERE status = 'failed';

--bun:split

-- The sessions of an agent, without their rows, which are wide.
CREATE INDEX IF NOT EXISTS sessions_of_agent ON sessions (tenant_id, agent_id, created_at DESC) INCLUDE (id, workspace_id);
