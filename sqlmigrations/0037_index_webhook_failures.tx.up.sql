-- Attempts that failed are looked for among many that did not. Attempts begin as pending, so those
-- that succeed never enter the index.
CREATE INDEX IF NOT EXISTS webhook_attempts_failed ON webhook_attempts (endpoint_id, started_at DESC, id DESC)
    WHERE status IN ('failed', 'unknown');

--bun:split

-- What was given up since a time: recover, and the endpoint's health.
CREATE INDEX IF NOT EXISTS webhook_deliveries_failed ON webhook_deliveries (endpoint_id, created_at, id)
    WHERE status = 'failed' AND test_body IS NULL;

--bun:split

-- The last place in the feed of what was deleted by age, for each workspace, and for '' of what
-- was its tenant's: a reader who is not there yet has missed events.
CREATE TABLE IF NOT EXISTS event_feed_floors (
    tenant_id    text   NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    workspace_id text   NOT NULL,
    position     bigint NOT NULL,
    PRIMARY KEY (tenant_id, workspace_id)
);
