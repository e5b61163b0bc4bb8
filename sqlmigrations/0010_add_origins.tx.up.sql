-- What made work happen goes along with it: W3C's traceparent and the caller's X-Request-Id, so
-- that traces go on and log lines are found after the outbox, a retry, or the loss of Redis.
ALTER TABLE events ADD COLUMN IF NOT EXISTS traceparent text NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN IF NOT EXISTS request_id text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN IF NOT EXISTS traceparent text NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN IF NOT EXISTS request_id text NOT NULL DEFAULT '';
