-- Since when a tenant has its plan: how long a plan keeps sessions is for those made since then.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS plan_since timestamptz NOT NULL DEFAULT now();

--bun:split

-- What an agent has used in a month, for its budget and for GET /v1/usage.
CREATE INDEX IF NOT EXISTS usage_days_by_agent ON usage_days (tenant_id, agent_id, day) WHERE agent_id <> '';
