-- What a search filters by stays in the row when the text is moved out beside a vector; otherwise
-- each row that is compared costs six look-ups.
ALTER TABLE chunks
    ALTER COLUMN id SET STORAGE MAIN,
    ALTER COLUMN tenant_id SET STORAGE MAIN,
    ALTER COLUMN workspace_id SET STORAGE MAIN,
    ALTER COLUMN source_id SET STORAGE MAIN,
    ALTER COLUMN model SET STORAGE MAIN;

--bun:split

-- The transaction that wrote a chunk: an index of vectors covers what was written up to one, so
-- that new chunks cost no index anything.
ALTER TABLE chunks ADD COLUMN IF NOT EXISTS batch bigint;

--bun:split

ALTER TABLE chunks ALTER COLUMN batch SET DEFAULT (pg_current_xact_id()::text::bigint);

--bun:split

-- The batch of the source's chunks, which are written in one transaction.
ALTER TABLE source_words ADD COLUMN IF NOT EXISTS batch bigint NOT NULL DEFAULT 0;

--bun:split

-- The indexes of large workspaces' vectors, one a workspace and model. A row is written when its
-- index is complete; an index without one is dropped.
CREATE TABLE IF NOT EXISTS vector_indexes (
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    model        text NOT NULL,
    dimension    integer NOT NULL,
    name         text NOT NULL UNIQUE,
    -- The last batch in it.
    up_to        bigint NOT NULL,
    chunk_count  bigint NOT NULL,
    built_at     timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, model),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);
