-- Sessions whose content is stored sealed only, and is deleted once it is delivered. sealed is true
-- while there is such content.
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS sealed boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS content_deleted_at timestamptz;

--bun:split

-- Those whose content is to be deleted.
CREATE INDEX IF NOT EXISTS sessions_sealed ON sessions (ended_at) WHERE sealed;

--bun:split

-- The body that endpoints get of an event whose content is not kept; body is what the feed shows.
ALTER TABLE events ADD COLUMN IF NOT EXISTS sealed bytea;
