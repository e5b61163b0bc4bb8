-- Secrets of a webhook endpoint that were rotated before previous_secret and still sign: objects
-- of sealed (base64) and until.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS older_secrets jsonb;
