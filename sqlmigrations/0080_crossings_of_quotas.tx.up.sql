-- A crossing is that of a quota, which can be raised later, and of kb_bytes that of a workspace.
-- quota is NULL in older rows: these thresholds are not announced again in their month.
ALTER TABLE usage_crossings
    ADD COLUMN IF NOT EXISTS workspace_id text NOT NULL DEFAULT '', -- empty but for kb_bytes
    ADD COLUMN IF NOT EXISTS quota bigint;

--bun:split

ALTER TABLE usage_crossings
    DROP CONSTRAINT IF EXISTS usage_crossings_pkey,
    ADD CONSTRAINT usage_crossings_pkey PRIMARY KEY (tenant_id, month, meter, workspace_id, alert_id, percent);
