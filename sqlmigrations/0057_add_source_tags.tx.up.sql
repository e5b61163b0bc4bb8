-- Tags by which sources are chosen; places of chunks that are switched off; and for a source that
-- is fetched from a URL: how often, when next, and what the server said about the content it gave.
ALTER TABLE sources
    ADD COLUMN IF NOT EXISTS tags text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS disabled_chunks integer[] NOT NULL DEFAULT '{}',
    -- Hashes of the texts that were switched off, also of those that are not in the source now.
    ADD COLUMN IF NOT EXISTS disabled_texts text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS url text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS refresh_every_seconds integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS fetch_due_at timestamptz,
    ADD COLUMN IF NOT EXISTS fetched_at timestamptz,
    ADD COLUMN IF NOT EXISTS fetch_error text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS etag text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS last_modified text NOT NULL DEFAULT '',
    DROP CONSTRAINT IF EXISTS sources_stage_check,
    ADD CONSTRAINT sources_stage_check CHECK (stage IN ('', 'fetching', 'parsing', 'ocr', 'chunking', 'embedding'));

--bun:split

CREATE UNIQUE INDEX IF NOT EXISTS sources_by_url ON sources (workspace_id, url) WHERE url <> '';

--bun:split

CREATE INDEX IF NOT EXISTS sources_to_fetch ON sources (fetch_due_at) WHERE fetch_due_at IS NOT NULL;
