-- Pages and warnings of sources; what lets a run go on where one before it ended; and which model
-- answers in a workspace while another takes its place.
ALTER TABLE sources ADD COLUMN IF NOT EXISTS pages_done integer NOT NULL DEFAULT 0;

--bun:split

ALTER TABLE sources ADD COLUMN IF NOT EXISTS ocr_page_count integer NOT NULL DEFAULT 0;

--bun:split

-- BCP-47; empty: not known.
ALTER TABLE sources ADD COLUMN IF NOT EXISTS language text NOT NULL DEFAULT '';

--bun:split

ALTER TABLE sources ADD COLUMN IF NOT EXISTS warnings text[] NOT NULL DEFAULT '{}';

--bun:split

-- Pages that an unfinished run has read by OCR. The key stands for the bytes, how they are read
-- and by what, so that no text of another reading is taken for it.
CREATE TABLE IF NOT EXISTS source_pages (
    source_id    text NOT NULL,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    key          text NOT NULL,
    page         integer NOT NULL CHECK (page > 0),
    content      text NOT NULL,
    stored_at    timestamptz NOT NULL,
    PRIMARY KEY (source_id, key, page),
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS source_pages_by_age ON source_pages (stored_at);

--bun:split

-- Vectors that an unfinished run has paid for, by the SHA-256 of the text that was embedded.
CREATE TABLE IF NOT EXISTS staged_vectors (
    source_id    text NOT NULL,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    model        text NOT NULL,
    text_hash    bytea NOT NULL,
    embedding    vector NOT NULL,
    stored_at    timestamptz NOT NULL,
    PRIMARY KEY (source_id, model, text_hash),
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS staged_vectors_by_age ON staged_vectors (stored_at);

--bun:split

-- The embedding models of the installation. The one chosen last is what all workspaces go to.
CREATE TABLE IF NOT EXISTS embedding_models (
    name      text PRIMARY KEY,
    -- 0: not known yet.
    dimension integer NOT NULL,
    chosen_at timestamptz NOT NULL
);

--bun:split

-- Which model answers in a workspace. Its row is locked by whoever replaces chunks (shared) and
-- by the change from one model to the next (for update).
CREATE TABLE IF NOT EXISTS workspace_embeddings (
    workspace_id text PRIMARY KEY,
    tenant_id    text NOT NULL,
    -- Questions are embedded by it; chunks of another model are not found.
    model        text NOT NULL,
    -- What the sources are being embedded for; empty: nothing.
    target_model text NOT NULL DEFAULT '',
    started_at   timestamptz,
    -- The last fault of the re-embedding; empty: none.
    error        text NOT NULL DEFAULT '',
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS workspace_embeddings_moving ON workspace_embeddings (workspace_id) WHERE target_model <> '';

--bun:split

-- Sources that are to be embedded by another model, from the text of their chunks.
CREATE TABLE IF NOT EXISTS source_reembeddings (
    source_id    text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    model        text NOT NULL,
    -- waiting, done (every chunk has its next vector), or refused by the model.
    state        text NOT NULL CHECK (state IN ('waiting', 'done', 'refused')),
    due_at       timestamptz NOT NULL,
    -- Until when a task is trusted to be on its way, and until when one is trusted to be at work.
    queued_until timestamptz,
    busy_until   timestamptz,
    -- Failures in a row.
    attempt      integer NOT NULL DEFAULT 0,
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS source_reembeddings_waiting ON source_reembeddings (tenant_id, due_at) WHERE state = 'waiting';

--bun:split

CREATE INDEX IF NOT EXISTS source_reembeddings_by_workspace ON source_reembeddings (workspace_id);

--bun:split

-- The vectors that chunks will have once their workspace's model changes.
CREATE TABLE IF NOT EXISTS next_vectors (
    chunk_id     text NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    source_id    text NOT NULL,
    model        text NOT NULL,
    embedding    vector NOT NULL,
    PRIMARY KEY (chunk_id, model)
);

--bun:split

CREATE INDEX IF NOT EXISTS next_vectors_by_source ON next_vectors (workspace_id, source_id);
