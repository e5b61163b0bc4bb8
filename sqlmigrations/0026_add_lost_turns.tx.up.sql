-- The answer that the running turn gives to a socket; '' for a turn without one.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS running_response_id text NOT NULL DEFAULT '';
--bun:split
-- wanted: an answer was asked for, and nobody gives it yet. losses: how often the node that gave
-- it was lost; lost_response_id: the answer that it began last.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS wanted boolean NOT NULL DEFAULT false;
--bun:split
ALTER TABLE turns ADD COLUMN IF NOT EXISTS losses integer NOT NULL DEFAULT 0;
--bun:split
ALTER TABLE turns ADD COLUMN IF NOT EXISTS lost_response_id text NOT NULL DEFAULT '';
