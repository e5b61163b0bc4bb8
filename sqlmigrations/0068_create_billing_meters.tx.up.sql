-- How much of each month's usage has become meter events at the payment provider; see package
-- billing. Tenants have rows since they have a customer while usage is reported.
CREATE TABLE IF NOT EXISTS billing_meters (
    tenant_id   text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    meter       text NOT NULL,
    month       date NOT NULL, -- the first day
    -- Who pays for what is used now; '': nobody.
    customer_id text NOT NULL,
    -- How much of usage_months.quantity has become events, or is not to be reported.
    counted     bigint NOT NULL,
    -- How much of that the provider has taken, and how much never became known to be taken or came
    -- too late.
    reported    bigint NOT NULL DEFAULT 0,
    given_up    bigint NOT NULL DEFAULT 0,
    reported_at timestamptz,
    PRIMARY KEY (tenant_id, meter, month)
);

--bun:split

CREATE INDEX IF NOT EXISTS billing_meters_by_month ON billing_meters (month);

--bun:split

-- When usage of each meter was last looked at, to tell a pause from an end of the reports.
CREATE TABLE IF NOT EXISTS billing_meter_runs (
    meter  text PRIMARY KEY,
    ran_at timestamptz NOT NULL
);

--bun:split

-- The meter events that the provider has not taken yet.
CREATE TABLE IF NOT EXISTS billing_meter_events (
    tenant_id     text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- The identifier by which the provider knows the event again.
    id            uuid NOT NULL,
    meter         text NOT NULL,
    month         date NOT NULL,
    customer_id   text NOT NULL,
    -- The provider's name for the meter; '' before the event is sent.
    name          text NOT NULL,
    quantity      bigint NOT NULL CHECK (quantity > 0),
    at            timestamptz NOT NULL,
    attempts      integer NOT NULL,
    -- When it is sent the next time, or sent again because its worker was lost.
    due_at        timestamptz NOT NULL,
    -- Since when the provider may have taken it; NULL: it has not.
    unknown_since timestamptz,
    -- Why it was not taken.
    problem       text NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

--bun:split

CREATE INDEX IF NOT EXISTS billing_meter_events_due ON billing_meter_events (due_at);

--bun:split

CREATE INDEX IF NOT EXISTS billing_meter_events_by_month ON billing_meter_events (tenant_id, meter, month);
