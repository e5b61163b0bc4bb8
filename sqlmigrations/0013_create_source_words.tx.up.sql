-- The words of each source's chunks, for ranking by words (BM25). A source has one row while it
-- has chunks, written in the transaction that writes them; a new set of chunks gets a new number,
-- so that what a number means never changes.
CREATE TABLE IF NOT EXISTS source_words (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    source_id    text NOT NULL,
    -- Of which the words are; empty: it could not be told.
    language     text NOT NULL,
    -- Of the analyser: words of another version do not match a question's.
    version      integer NOT NULL,
    chunk_count  integer NOT NULL,
    term_count   bigint NOT NULL,
    -- Over how many pages the words are spread by their hash.
    page_count   integer NOT NULL CHECK (page_count > 0),
    -- How many words each chunk has, in their order.
    lengths      bytea NOT NULL,
    UNIQUE (workspace_id, source_id),
    FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

--bun:split

-- In which chunks each word occurs, and how often, packed: see knowledge/postings.go.
CREATE TABLE IF NOT EXISTS source_postings (
    tenant_id    text NOT NULL,
    words_number bigint NOT NULL REFERENCES source_words (number) ON DELETE CASCADE,
    page         integer NOT NULL,
    postings     bytea NOT NULL,
    PRIMARY KEY (words_number, page)
);

--bun:split

-- Packed numbers do not compress; the rows are read one at a time.
ALTER TABLE source_postings ALTER COLUMN postings SET STORAGE EXTERNAL;

--bun:split

-- A vector beside its row, where an exact search reads it without a detour. Rows that are there
-- keep theirs until they are embedded anew.
ALTER TABLE chunks ALTER COLUMN embedding SET STORAGE MAIN;
