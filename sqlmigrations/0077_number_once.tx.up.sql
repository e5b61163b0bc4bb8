-- A number is one of a carrier's account, which calls one address for it: that of the row that was
-- made last. The rows of other tenants with the same number were never called.
DELETE FROM phone_numbers AS n
USING phone_numbers AS later
WHERE later.phone_number = n.phone_number AND (later.created_at, later.id) > (n.created_at, n.id);

--bun:split

DROP INDEX IF EXISTS phone_numbers_number;

--bun:split

CREATE UNIQUE INDEX phone_numbers_number ON phone_numbers (phone_number);

--bun:split

-- A call that is over is looked at once more, to end its session. Then nothing is due.
ALTER TABLE phone_calls ALTER COLUMN check_at DROP NOT NULL;

--bun:split

UPDATE phone_calls SET check_at = NULL WHERE ended_at IS NOT NULL;

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_due ON phone_calls (check_at) WHERE check_at IS NOT NULL;

--bun:split

DROP INDEX IF EXISTS phone_calls_open;
