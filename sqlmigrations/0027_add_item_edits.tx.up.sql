-- What clients have taken out of the model's sight, or cut: item id -> {removed, cut}. NULL:
-- nothing.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS item_edits jsonb;
