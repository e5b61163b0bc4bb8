-- Variables of a session that answers of tools have set.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS assigned_variables jsonb NOT NULL DEFAULT '{}';
