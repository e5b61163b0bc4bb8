-- An attempt is written by the statement that has its delivery locked, so the key that pointed
-- there asked for nothing new: it cost a look and a second lock of the delivery for each attempt.
-- What it did beside that, letting attempts go with their deliveries, is done by a trigger, once a
-- statement.
CREATE OR REPLACE FUNCTION delete_webhook_attempts() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM webhook_attempts AS a
    USING gone
    WHERE a.delivery_id = gone.id;
    RETURN NULL;
END;
$$;

--bun:split

CREATE OR REPLACE TRIGGER webhook_deliveries_gone
    AFTER DELETE ON webhook_deliveries
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT
    EXECUTE FUNCTION delete_webhook_attempts();

--bun:split

ALTER TABLE webhook_attempts DROP CONSTRAINT IF EXISTS webhook_attempts_delivery_id_fkey;
