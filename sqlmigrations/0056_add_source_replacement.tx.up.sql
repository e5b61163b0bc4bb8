-- The content that a source had before its last replacement, which can be restored; '' is none.
-- While replacing, that content answers still, and the source goes back to it when the new one
-- cannot be read.
ALTER TABLE sources
    ADD COLUMN IF NOT EXISTS previous_blob_key text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS previous_sha256 text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS previous_size_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS previous_media_type text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS previous_kind text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS previous_force_ocr boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS replacing boolean NOT NULL DEFAULT false,
    -- Another run was asked for while one is at work.
    ADD COLUMN IF NOT EXISTS reprocess_wanted boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS reprocess_force_ocr boolean NOT NULL DEFAULT false;

--bun:split

CREATE INDEX IF NOT EXISTS sources_by_previous_blob ON sources (previous_blob_key) WHERE previous_blob_key <> '';

--bun:split

-- A blob that a row no longer names must not stay, whatever made the row let go of it.
CREATE OR REPLACE FUNCTION note_stray_blob() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    key text;
BEGIN
    FOREACH key IN ARRAY ARRAY[OLD.blob_key, OLD.previous_blob_key] LOOP
        IF key <> '' AND (TG_OP = 'DELETE' OR key NOT IN (NEW.blob_key, NEW.previous_blob_key)) THEN
            INSERT INTO stray_blobs (key, noted_at) VALUES (key, now()) ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER sources_leave_old_blobs AFTER UPDATE OF blob_key, previous_blob_key ON sources
    FOR EACH ROW EXECUTE FUNCTION note_stray_blob();
