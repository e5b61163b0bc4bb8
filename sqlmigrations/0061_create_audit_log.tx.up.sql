-- The key of a tenant's hashes of user ids; see workspaces.UserHashes. It goes with the tenant.
CREATE TABLE IF NOT EXISTS user_hash_keys (
    tenant_id  text PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    -- 32 random bytes, sealed for (tenant, tenant, user_hash_key).
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL
);
