-- How long the beginning of a spoken answer took; see package sessions/latency. NULL: the answer
-- was not spoken, or to nothing that was heard.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS speech jsonb;

--bun:split

-- The newest sessions of an agent.
CREATE INDEX IF NOT EXISTS sessions_by_agent ON sessions (agent_id, created_at DESC);
