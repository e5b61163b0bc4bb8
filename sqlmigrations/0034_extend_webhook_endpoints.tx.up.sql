-- What an endpoint can ask for beside its events. The binary before reads none of it and sends as
-- it did.
ALTER TABLE webhook_endpoints
    -- Events of these agents only; empty: whatever agent, or none.
    ADD COLUMN IF NOT EXISTS agent_ids text[] NOT NULL DEFAULT '{}',
    -- One at a time, in the order of the deliveries' ids; one that fails holds those behind it.
    ADD COLUMN IF NOT EXISTS ordered boolean NOT NULL DEFAULT false,
    -- 0: no limit.
    ADD COLUMN IF NOT EXISTS max_per_second integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS max_in_flight integer NOT NULL DEFAULT 0,
    -- Until when the requests under max_per_second are given out: the next may leave then.
    ADD COLUMN IF NOT EXISTS next_send_at timestamptz,
    -- Headers that every request carries: their names, and both names and values, sealed.
    ADD COLUMN IF NOT EXISTS header_names text[] NOT NULL DEFAULT '{}',
    ADD COLUMN IF NOT EXISTS headers bytea;

--bun:split

-- The agent that a public event is about, '' when it is about none. NULL: the binary before wrote
-- the row, and the body has to be asked.
ALTER TABLE events ADD COLUMN IF NOT EXISTS agent_id text;

--bun:split

ALTER TABLE webhook_deliveries
    -- The event's.
    ADD COLUMN IF NOT EXISTS agent_id text NOT NULL DEFAULT '',
    -- The attempts before the schedule began anew.
    ADD COLUMN IF NOT EXISTS schedule_from integer NOT NULL DEFAULT 0;

--bun:split

-- The first pending delivery of an ordered endpoint; and, as the index it takes the place of, all
-- of them.
CREATE INDEX IF NOT EXISTS webhook_deliveries_line ON webhook_deliveries (endpoint_id, id) WHERE status = 'pending';

--bun:split

DROP INDEX IF EXISTS webhook_deliveries_pending;

--bun:split

-- The requests that endpoints with max_in_flight, and ordered ones, have running: counted under the
-- endpoint's lock. One whose worker died ends with its lease.
CREATE TABLE IF NOT EXISTS webhook_flights (
    tenant_id   text NOT NULL,
    endpoint_id text NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    delivery_id bigint NOT NULL,
    lease_until timestamptz NOT NULL,
    PRIMARY KEY (endpoint_id, delivery_id)
);
