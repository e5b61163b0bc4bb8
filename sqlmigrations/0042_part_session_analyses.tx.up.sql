-- A session that is over is judged and looked through for what to remember by two tasks, each
-- tried again by itself.
ALTER TABLE session_analyses ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT 'analysis' CHECK (kind IN ('analysis', 'extraction'));

--bun:split

ALTER TABLE session_analyses DROP CONSTRAINT IF EXISTS session_analyses_pkey;

--bun:split

ALTER TABLE session_analyses ADD PRIMARY KEY (session_id, kind);

--bun:split

-- What 0039 had for it.
ALTER TABLE session_analyses DROP COLUMN IF EXISTS learns;

--bun:split

ALTER TABLE session_analyses DROP COLUMN IF EXISTS judges;
