-- Languages of the text in a source's pictures, as tesseract names them; empty is those of the
-- installation. previous_ is of the content before the last replacement, reprocess_ of the run that
-- was asked for while one is at work (empty: as before).
ALTER TABLE sources
    ADD COLUMN IF NOT EXISTS ocr_languages text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS previous_ocr_languages text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS reprocess_ocr_languages text[] NOT NULL DEFAULT '{}';
