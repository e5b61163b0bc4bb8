-- The secret of an API key before its last rotation, as its hash, while it still works.
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS old_secret_hash bytea;
--bun:split
ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS old_secret_expires_at timestamptz;
--bun:split
CREATE INDEX IF NOT EXISTS api_keys_by_old_secret ON api_keys (old_secret_hash) WHERE old_secret_hash IS NOT NULL;
