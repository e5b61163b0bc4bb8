-- A turn's receipt: canonical JSON as it was hashed, and the hash. They go with the turn.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS receipt json;
--bun:split
ALTER TABLE turns ADD COLUMN IF NOT EXISTS receipt_hash text NOT NULL DEFAULT '';
--bun:split
-- How many of a session's first turns its summary tells of.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS summarized_turns integer NOT NULL DEFAULT 0;
--bun:split
-- What a session's summary says. Its tokens are counted in the session's.
CREATE TABLE IF NOT EXISTS session_summaries (
    session_id text PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    text text NOT NULL,
    -- Turns with an index under this are in the text.
    turns integer NOT NULL CHECK (turns > 0),
    model text NOT NULL DEFAULT '',
    input_tokens integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    -- How often it was written anew.
    rounds integer NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL
);
