-- The outbox, and the webhooks made from it.
CREATE TABLE IF NOT EXISTS events (
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    event_id     text NOT NULL,
    -- Public events of a workspace go to its endpoints; internal ones become tasks.
    workspace_id text NOT NULL,
    type         text NOT NULL,
    -- What the event is about, e.g. a source's id: the argument of an internal event's task.
    subject      text NOT NULL DEFAULT '',
    -- The body as it is sent, byte for byte, so that every attempt is signed over the same bytes.
    body         bytea NOT NULL,
    created_at   timestamptz NOT NULL,
    -- NULL until the relay has turned it into deliveries or a task.
    relayed_at   timestamptz,
    -- Place of a public event in the feed, given by the relay under a lock, so that places become
    -- visible in their order: seq does not, for its transactions commit in any order.
    position     bigint,
    UNIQUE (tenant_id, event_id)
);

--bun:split

CREATE SEQUENCE IF NOT EXISTS events_position OWNED BY events.position;

--bun:split

-- Internal events (their names begin with _) wait while Redis is down; they must not be in the
-- way of the public ones. Tenants take turns, so each has a stretch of its own in the index.
CREATE INDEX IF NOT EXISTS events_unrelayed_public ON events (tenant_id, seq) WHERE relayed_at IS NULL AND left(type, 1) <> '_';

--bun:split

CREATE INDEX IF NOT EXISTS events_unrelayed_internal ON events (tenant_id, seq) WHERE relayed_at IS NULL AND left(type, 1) = '_';

--bun:split

-- workspace_id is '' for the events of a whole tenant.
CREATE INDEX IF NOT EXISTS events_feed ON events (tenant_id, workspace_id, position) WHERE position IS NOT NULL;

--bun:split

CREATE TABLE IF NOT EXISTS webhook_endpoints (
    id                    text PRIMARY KEY,
    tenant_id             text NOT NULL,
    workspace_id          text NOT NULL,
    url                   text NOT NULL,
    events                text[] NOT NULL,
    description           text NOT NULL DEFAULT '',
    status                text NOT NULL CHECK (status IN ('enabled', 'disabled')),
    disabled_reason       text NOT NULL DEFAULT '',
    consecutive_failures  integer NOT NULL DEFAULT 0,
    last_success_at       timestamptz,
    last_failure_at       timestamptz,
    -- Sealed for (tenant, endpoint, field).
    secret                bytea NOT NULL,
    secret_hint           text NOT NULL,
    -- The secret before the last rotation, valid until previous_secret_until.
    previous_secret       bytea,
    previous_secret_until timestamptz,
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    UNIQUE (workspace_id, id),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS webhook_endpoints_by_workspace ON webhook_endpoints (workspace_id, created_at DESC, id DESC);

--bun:split

-- One queue entry an event and endpoint. This row, not Redis, decides what has been sent.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    endpoint_id  text NOT NULL,
    event_id     text NOT NULL,
    event_type   text NOT NULL,
    -- Where the body is: in an event or, for a test, here.
    event_seq    bigint REFERENCES events (seq) ON DELETE CASCADE,
    test_body    bytea,
    status       text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    -- Attempts begun.
    attempt      integer NOT NULL DEFAULT 0,
    -- When the next attempt is due; NULL when there is none, or while the endpoint is disabled or
    -- not subscribed to the event.
    next_at      timestamptz,
    -- While an attempt runs: until when its worker owns it.
    lease_until  timestamptz,
    -- Until when a task in Redis is trusted to be on its way; the sweeper makes another after that.
    queued_until timestamptz,
    -- Somebody asked for one more attempt of something finished: it is not followed by others.
    once         boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL,
    UNIQUE (endpoint_id, event_id),
    CHECK (num_nonnulls(event_seq, test_body) = 1),
    FOREIGN KEY (workspace_id, endpoint_id) REFERENCES webhook_endpoints (workspace_id, id) ON DELETE CASCADE
);

--bun:split

-- Tenants take turns, and a tenant's endpoints: each has a stretch of its own in the index.
-- queued_until and lease_until are left out of it, so that claiming a delivery need not touch it.
CREATE INDEX IF NOT EXISTS webhook_deliveries_due ON webhook_deliveries (tenant_id, endpoint_id, next_at)
    WHERE status = 'pending' AND next_at IS NOT NULL;

--bun:split

-- For holding and releasing what an endpoint has pending.
CREATE INDEX IF NOT EXISTS webhook_deliveries_pending ON webhook_deliveries (endpoint_id) WHERE status = 'pending';

--bun:split

CREATE INDEX IF NOT EXISTS webhook_deliveries_by_event ON webhook_deliveries (event_seq);

--bun:split

CREATE TABLE IF NOT EXISTS webhook_attempts (
    id               text PRIMARY KEY,
    tenant_id        text NOT NULL,
    workspace_id     text NOT NULL,
    endpoint_id      text NOT NULL,
    delivery_id      bigint NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    attempt          integer NOT NULL CHECK (attempt > 0),
    status           text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'unknown')),
    status_code      integer NOT NULL DEFAULT 0,
    error            text NOT NULL DEFAULT '',
    request_headers  jsonb NOT NULL,
    response_headers jsonb NOT NULL,
    response_body    text NOT NULL DEFAULT '',
    started_at       timestamptz NOT NULL,
    duration_ms      integer NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz,
    UNIQUE (delivery_id, attempt)
);

--bun:split

CREATE INDEX IF NOT EXISTS webhook_attempts_by_endpoint ON webhook_attempts (endpoint_id, started_at DESC, id DESC);
