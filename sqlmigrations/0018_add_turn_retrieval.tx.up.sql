-- What a turn's search for passages considered, with scores.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS retrieval jsonb;
