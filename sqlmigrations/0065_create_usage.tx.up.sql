-- What was used, a row for each thing and meter, written in the transaction of what it measures.
-- The unique key is why a repeated transaction counts once. counted rows are in the sums below.
CREATE TABLE IF NOT EXISTS usage_records (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    source text NOT NULL,
    meter text NOT NULL,
    model text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric, -- in the currency of the prices; NULL: not known
    at timestamptz NOT NULL,
    counted boolean NOT NULL DEFAULT false,
    UNIQUE (tenant_id, source, meter, model)
);

--bun:split

CREATE INDEX IF NOT EXISTS usage_records_uncounted ON usage_records (seq) WHERE NOT counted;

--bun:split

-- Those that are deleted by age.
CREATE INDEX IF NOT EXISTS usage_records_counted ON usage_records (at) WHERE counted;

--bun:split

-- Sums by day in the tenant's time zone. agent_id and model are empty where a meter has none.
CREATE TABLE IF NOT EXISTS usage_days (
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    day date NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    meter text NOT NULL,
    model text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric NOT NULL,
    PRIMARY KEY (tenant_id, day, workspace_id, agent_id, meter, model)
);

--bun:split

-- Sums by month, which quotas and alerts are compared with.
CREATE TABLE IF NOT EXISTS usage_months (
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    month date NOT NULL, -- the first day
    meter text NOT NULL,
    quantity bigint NOT NULL,
    cost numeric NOT NULL,
    PRIMARY KEY (tenant_id, month, meter)
);

--bun:split

-- Alerts of operators: at a quantity of a meter, or at a part of the plan's quota.
CREATE TABLE IF NOT EXISTS usage_alerts (
    id text PRIMARY KEY,
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    meter text NOT NULL,
    quantity bigint NOT NULL,
    percent integer NOT NULL,
    created_at timestamptz NOT NULL,
    CHECK ((quantity > 0) <> (percent > 0))
);

--bun:split

CREATE INDEX IF NOT EXISTS usage_alerts_by_tenant ON usage_alerts (tenant_id, created_at, id);

--bun:split

-- Thresholds that were crossed, each once a month. alert_id is empty for those of the plan.
CREATE TABLE IF NOT EXISTS usage_crossings (
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    month date NOT NULL,
    meter text NOT NULL,
    alert_id text NOT NULL,
    percent integer NOT NULL,
    crossed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, month, meter, alert_id, percent)
);

--bun:split

-- What a session's calls of models have cost, in the currency of the prices; NULL is nothing.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS cost numeric;

--bun:split

-- The bytes that sources have stored so far are used from now on.
INSERT INTO usage_records (tenant_id, workspace_id, agent_id, source, meter, model, quantity, at)
SELECT w.tenant_id, w.id, '', 'stored before ' || w.id, 'kb_bytes', '', w.kb_used_bytes, now()
FROM workspaces AS w
WHERE w.kb_used_bytes > 0
ON CONFLICT DO NOTHING;

--bun:split

-- Definitions of plans that replace or extend those of the configuration.
CREATE TABLE IF NOT EXISTS plans (
    name text PRIMARY KEY,
    definition jsonb NOT NULL,
    updated_at timestamptz NOT NULL
);
