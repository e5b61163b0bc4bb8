-- Whose model called; NULL for a run and for traces of before.
ALTER TABLE tool_calls ADD COLUMN IF NOT EXISTS agent_id text;

--bun:split

CREATE INDEX IF NOT EXISTS tool_calls_by_workspace ON tool_calls (workspace_id, started_at DESC, id DESC);

--bun:split

CREATE INDEX IF NOT EXISTS tool_calls_by_agent ON tool_calls (workspace_id, agent_id, started_at DESC, id DESC) WHERE agent_id IS NOT NULL;

--bun:split

CREATE INDEX IF NOT EXISTS tool_calls_failed ON tool_calls (workspace_id, started_at DESC, id DESC) WHERE error_code <> '';

--bun:split

-- Rows come about in the order of their time, so the sweep of old ones needs no more than this.
CREATE INDEX IF NOT EXISTS tool_calls_by_time ON tool_calls USING brin (started_at) WITH (autosummarize = on, pages_per_range = 32);

--bun:split

-- When a call was last counted: a count that has been still for longer than a session can last
-- goes.
ALTER TABLE tool_call_counts ADD COLUMN IF NOT EXISTS updated_at timestamptz NOT NULL DEFAULT now();

--bun:split

CREATE INDEX IF NOT EXISTS tool_call_counts_by_time ON tool_call_counts USING brin (updated_at);
