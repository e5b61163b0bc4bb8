-- Sources, their chunks with vectors, and which agents see them.
CREATE TABLE IF NOT EXISTS sources (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    workspace_id    text NOT NULL,
    name            text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('file', 'inline')),
    media_type      text NOT NULL,
    size_bytes      bigint NOT NULL CHECK (size_bytes >= 0),
    sha256          text NOT NULL,
    blob_key        text NOT NULL,
    status          text NOT NULL CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    stage           text NOT NULL DEFAULT '' CHECK (stage IN ('', 'parsing', 'ocr', 'chunking', 'embedding')),
    progress        integer NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    force_ocr       boolean NOT NULL DEFAULT false,
    -- Which worker's run owns the ingestion; a run that finds another owner stops.
    owner           text NOT NULL DEFAULT '',
    heartbeat_at    timestamptz,
    -- Runs begun since it was queued; crashes and outages are retried up to five times.
    attempt         integer NOT NULL DEFAULT 0,
    -- When the next run may begin.
    due_at          timestamptz NOT NULL,
    -- Until when a task in Redis is trusted to be on its way.
    queued_until    timestamptz,
    page_count      integer NOT NULL DEFAULT 0,
    chunk_count     integer NOT NULL DEFAULT 0,
    embedding_model text NOT NULL DEFAULT '',
    error_code      text NOT NULL DEFAULT '',
    error_message   text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    ready_at        timestamptz,
    UNIQUE (workspace_id, id),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS sources_by_workspace ON sources (workspace_id, created_at DESC, id DESC);

--bun:split

CREATE INDEX IF NOT EXISTS sources_by_bytes ON sources (workspace_id, sha256);

--bun:split

CREATE INDEX IF NOT EXISTS sources_by_blob ON sources (blob_key);

--bun:split

-- What the worker looks for: work that waits or whose worker died, a tenant at a time.
CREATE INDEX IF NOT EXISTS sources_unfinished ON sources (tenant_id, status, due_at) WHERE status IN ('queued', 'processing');

--bun:split

CREATE TABLE IF NOT EXISTS chunks (
    id           text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    source_id    text NOT NULL,
    index        integer NOT NULL CHECK (index >= 0),
    content      text NOT NULL,
    token_count  integer NOT NULL,
    heading      text NOT NULL,
    page_start   integer NOT NULL,
    page_end     integer NOT NULL,
    char_start   integer NOT NULL,
    char_end     integer NOT NULL,
    -- Vectors of different models are never compared.
    model        text NOT NULL,
    embedding    vector NOT NULL,
    UNIQUE (source_id, index),
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE TABLE IF NOT EXISTS source_attachments (
    agent_id     text NOT NULL,
    source_id    text NOT NULL,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    usage_mode   text NOT NULL CHECK (usage_mode IN ('auto', 'prompt')),
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (agent_id, source_id),
    FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS source_attachments_by_source ON source_attachments (workspace_id, source_id);

--bun:split

-- Blobs that no source owns: uploads under way, and what a crash or a cascade left behind. The
-- sweeper deletes those that are a day old.
CREATE TABLE IF NOT EXISTS stray_blobs (
    key       text PRIMARY KEY,
    noted_at  timestamptz NOT NULL,
    -- The sweeper is deleting it: an upload that took a day too long may not own it any more.
    condemned boolean NOT NULL DEFAULT false
);

--bun:split

CREATE INDEX IF NOT EXISTS stray_blobs_by_age ON stray_blobs (noted_at);

--bun:split

-- Deleting a workspace or tenant takes its sources along without asking anybody; their blobs
-- must not stay.
CREATE OR REPLACE FUNCTION note_stray_blob() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO stray_blobs (key, noted_at) VALUES (OLD.blob_key, now()) ON CONFLICT (key) DO NOTHING;
    RETURN NULL;
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER sources_leave_blobs AFTER DELETE ON sources
    FOR EACH ROW EXECUTE FUNCTION note_stray_blob();
