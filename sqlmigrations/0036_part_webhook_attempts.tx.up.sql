-- The change that the migration before prepared. The rows are read once, under a lock that keeps
-- nobody from reading and writing; what follows moves no row.
DO $$
DECLARE
    bound bigint;
    cell  bigint;
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = 'webhook_attempts'::regclass) <> 'r' THEN
        RETURN; -- done before
    END IF;
    ALTER TABLE webhook_attempts VALIDATE CONSTRAINT webhook_attempts_bound;
    SELECT substring(pg_get_constraintdef(oid) FROM '\d+')::bigint
    INTO bound
    FROM pg_constraint
    WHERE conrelid = 'webhook_attempts'::regclass AND conname = 'webhook_attempts_bound';

    -- In the order in which claims take them.
    LOCK TABLE webhook_deliveries IN SHARE ROW EXCLUSIVE MODE;
    LOCK TABLE webhook_attempts IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE webhook_attempts RENAME TO webhook_attempts_first;
    ALTER INDEX webhook_attempts_pkey RENAME TO webhook_attempts_first_id;
    ALTER INDEX webhook_attempts_delivery_id_attempt_key RENAME TO webhook_attempts_first_delivery_id_attempt_key;
    ALTER INDEX webhook_attempts_by_endpoint RENAME TO webhook_attempts_first_by_endpoint;
    CREATE TABLE webhook_attempts (LIKE webhook_attempts_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (delivery_id);
    ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_bound;
    -- An index of ids is each part's own: one over all of them would need delivery_id in it.
    ALTER TABLE webhook_attempts
        ADD CONSTRAINT webhook_attempts_delivery_id_attempt_key UNIQUE (delivery_id, attempt),
        ADD CONSTRAINT webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries (id) ON DELETE CASCADE;
    CREATE INDEX webhook_attempts_by_endpoint ON webhook_attempts (endpoint_id, started_at DESC, id DESC);
    EXECUTE format('ALTER TABLE webhook_attempts ATTACH PARTITION webhook_attempts_first FOR VALUES FROM (MINVALUE) TO (%s)', bound);

    -- What deliveries get from now on is in parts of ten million numbers; workers make more of
    -- them ahead, and go on to the next each day.
    FOR cell IN bound / 10000000 .. bound / 10000000 + 3 LOOP
        EXECUTE format('CREATE TABLE webhook_attempts_%s PARTITION OF webhook_attempts FOR VALUES FROM (%s) TO (%s) WITH (fillfactor = 80)',
                       cell, cell * 10000000, (cell + 1) * 10000000);
        EXECUTE format('CREATE UNIQUE INDEX webhook_attempts_%s_id ON webhook_attempts_%s (id)', cell, cell);
    END LOOP;
    PERFORM setval('webhook_deliveries_id_seq', greatest(last_value, bound - 1)) FROM webhook_deliveries_id_seq;
END
$$;

--bun:split

-- Room beside each row, so that claiming it writes no index.
ALTER TABLE webhook_deliveries SET (fillfactor = 85);
