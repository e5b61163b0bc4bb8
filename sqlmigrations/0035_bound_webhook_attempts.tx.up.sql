-- webhook_attempts becomes a table of parts, so that what is past its time goes at once. Parts
-- hold ranges of delivery_id: deliveries are numbered as they are made, and (delivery_id,
-- attempt), the key that makes attempts unique, holds over all parts. The table as it is becomes
-- the first of them. Here it gets the bound that the change needs, which is not checked yet and
-- takes a moment whatever the table's size; ten million deliveries until the next migration are
-- room enough.
DO $$
DECLARE
    bound bigint;
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = 'webhook_attempts'::regclass) <> 'r'
        OR EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'webhook_attempts'::regclass AND conname = 'webhook_attempts_bound') THEN
        RETURN; -- done before
    END IF;
    SELECT (last_value / 10000000 + 2) * 10000000 INTO bound FROM webhook_deliveries_id_seq;
    EXECUTE format('ALTER TABLE webhook_attempts ADD CONSTRAINT webhook_attempts_bound CHECK (delivery_id < %s) NOT VALID', bound);
END
$$;
