-- The users of a workspace are found by walking this index, one user at a time.
CREATE INDEX IF NOT EXISTS sessions_by_user ON sessions (workspace_id, user_id COLLATE "C", created_at DESC);

--bun:split

-- What is taken down of a session when it is over, beside its analysis: see conversation/learn.go.
ALTER TABLE session_analyses ADD COLUMN IF NOT EXISTS learns boolean NOT NULL DEFAULT false;

--bun:split

ALTER TABLE session_analyses ADD COLUMN IF NOT EXISTS judges boolean NOT NULL DEFAULT true;
