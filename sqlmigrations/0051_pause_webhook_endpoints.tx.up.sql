-- A paused endpoint keeps its events. The binary before makes no deliveries for one.
ALTER TABLE webhook_endpoints DROP CONSTRAINT IF EXISTS webhook_endpoints_status_check;
--bun:split
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('enabled', 'disabled', 'paused'));
