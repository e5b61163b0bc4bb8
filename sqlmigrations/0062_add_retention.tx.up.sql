-- How many days sessions of a workspace are kept after their end; 0: for ever. Agents have a number
-- of their own in their configuration.
ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS transcript_days integer NOT NULL DEFAULT 0;

--bun:split

-- Ended sessions of an agent, the oldest first: those that retention deletes.
CREATE INDEX IF NOT EXISTS sessions_ended ON sessions (agent_id, ended_at) WHERE ended_at IS NOT NULL;
