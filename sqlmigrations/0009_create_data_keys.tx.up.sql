-- The keys that seal a tenant's secrets, wrapped by a master key that lies elsewhere.
CREATE TABLE IF NOT EXISTS data_keys (
    id            uuid PRIMARY KEY,
    -- NULL: the installation's own. With its tenant a key goes, and with the key whatever it
    -- sealed.
    tenant_id     text REFERENCES tenants (id) ON DELETE CASCADE,
    -- Names the master key; nobody can make it from the name.
    master_key_id text NOT NULL CHECK (master_key_id <> ''),
    -- The data key, encrypted by the master key for (id, tenant, master key).
    wrapped       bytea NOT NULL,
    created_at    timestamptz NOT NULL,
    -- When it sealed last; it opens for as long as it is here.
    retired_at    timestamptz
);

--bun:split

-- One key of a tenant seals at a time.
CREATE UNIQUE INDEX IF NOT EXISTS data_keys_current ON data_keys (coalesce(tenant_id, '')) WHERE retired_at IS NULL;

--bun:split

-- Rotation walks the keys of another master key in the order of their ids.
CREATE INDEX IF NOT EXISTS data_keys_by_master ON data_keys (master_key_id, id);

--bun:split

-- What development versions sealed in their own format (its first byte is 1) is not read any
-- more. These two are made anew when they are missed; other values say so when they are used.
DELETE FROM signing_keys WHERE get_byte(private_key, 0) = 1;

--bun:split

DELETE FROM idempotency_keys WHERE answer IS NOT NULL AND get_byte(answer, 0) = 1;
