-- Whether a tenant's plan was set by its subscription, or by the end of it, and by no person since.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS plan_by_billing boolean NOT NULL DEFAULT false;

--bun:split

-- Events of the payment provider, once each. A subscription is what its events say, whatever the
-- order of their arrival; see package billing. data has the few fields that are needed, not the
-- body.
CREATE TABLE IF NOT EXISTS billing_events (
    -- The provider's id, evt_….
    event_id        text PRIMARY KEY,
    -- The tenant that had the customer when the event was applied; NULL: no tenant has had it yet.
    tenant_id       text REFERENCES tenants (id) ON DELETE CASCADE,
    customer_id     text NOT NULL,
    -- '' for events that are about no subscription.
    subscription_id text NOT NULL,
    -- The subscription, invoice, checkout or customer.
    object_id       text NOT NULL,
    type            text NOT NULL,
    livemode        boolean NOT NULL,
    -- When it happened, in whole seconds, and when it came.
    created_at      timestamptz NOT NULL,
    received_at     timestamptz NOT NULL,
    -- What was done.
    outcome         text NOT NULL,
    data            jsonb NOT NULL
);

--bun:split

CREATE INDEX IF NOT EXISTS billing_events_by_customer ON billing_events (tenant_id, customer_id, created_at);

--bun:split

CREATE INDEX IF NOT EXISTS billing_events_by_object ON billing_events (tenant_id, object_id);

--bun:split

CREATE INDEX IF NOT EXISTS billing_events_unclaimed ON billing_events (customer_id) WHERE tenant_id IS NULL;

--bun:split

CREATE INDEX IF NOT EXISTS billing_events_unclaimed_by_age ON billing_events (received_at) WHERE tenant_id IS NULL;

--bun:split

-- What the events of each subscription come to.
CREATE TABLE IF NOT EXISTS billing_subscriptions (
    tenant_id            text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- The provider's id, sub_….
    id                   text NOT NULL,
    customer_id          text NOT NULL,
    status               text NOT NULL,
    price_id             text NOT NULL,
    -- The plan that the price buys; '' when no plan has it.
    plan                 text NOT NULL,
    current_period_end   timestamptz,
    cancel_at_period_end boolean NOT NULL,
    started_at           timestamptz,
    -- Since when payments fail, and until when the plan is kept all the same.
    payment_failed_at    timestamptz,
    grace_until          timestamptz,
    -- When a sweep has to look at it; NULL: never.
    due_at               timestamptz,
    -- Whether the tenant is on the plan because of it: true for one subscription of a tenant at
    -- most.
    gives_plan           boolean NOT NULL,
    -- The event that said the newest status.
    event_id             text NOT NULL,
    updated_at           timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

--bun:split

CREATE INDEX IF NOT EXISTS billing_subscriptions_due ON billing_subscriptions (due_at) WHERE due_at IS NOT NULL;
