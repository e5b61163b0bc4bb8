-- A node keeps turns of the session that were taken while this database was away: until they are
-- written, or this is over, the session is not closed and nobody else takes a turn of it.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS spill_until timestamptz;

--bun:split

-- The turn was kept on a node's disk before it could be written here.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS spilled boolean NOT NULL DEFAULT false;
