-- The codes of each source's vectors, some bytes for each, for searching many: see
-- knowledge/codes.go. A number's chunks and their vectors of a model never change, so neither does
-- a row. A source without a row is compared vector by vector.
CREATE TABLE IF NOT EXISTS source_codes (
    tenant_id    text NOT NULL,
    words_number bigint NOT NULL REFERENCES source_words (number) ON DELETE CASCADE,
    model        text NOT NULL,
    -- Of how codes are made.
    version      integer NOT NULL,
    codes        bytea NOT NULL,
    PRIMARY KEY (words_number, model)
);

--bun:split

-- Signs do not compress; the rows are read whole.
ALTER TABLE source_codes ALTER COLUMN codes SET STORAGE EXTERNAL;
