-- The key of a tenant's hashes of user ids; see workspaces.UserHashes. It goes with the tenant.
CREATE TABLE IF NOT EXISTS user_hash_keys (
    tenant_id  text PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    -- 32 random bytes, sealed for (tenant, tenant, user_hash_key).
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL
);

--bun:split

-- What operators and keys changed; see package audit. Each entry holds the hash of the one before.
-- Entries outlive their workspace and go with their tenant.
CREATE TABLE IF NOT EXISTS audit_entries (
    tenant_id      text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- From 1, without gaps.
    number         bigint NOT NULL CHECK (number > 0),
    id             text NOT NULL UNIQUE,
    -- When it was written: later than that of the entry before.
    at             timestamptz NOT NULL,
    begun_at       timestamptz NOT NULL,
    workspace_id   text NOT NULL,
    actor_kind     text NOT NULL,
    actor_id       text NOT NULL,
    actor_name     text NOT NULL,
    action         text NOT NULL,
    resource_type  text NOT NULL,
    resource_id    text NOT NULL,
    parent_id      text NOT NULL,
    user_hash      text NOT NULL,
    remote_address text NOT NULL,
    user_agent     text NOT NULL,
    request_id     text NOT NULL,
    outcome        text NOT NULL,
    before         jsonb,
    after          jsonb,
    previous_hash  bytea NOT NULL,
    hash           bytea NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

--bun:split

CREATE INDEX IF NOT EXISTS audit_entries_by_time ON audit_entries (tenant_id, at);

--bun:split

CREATE INDEX IF NOT EXISTS audit_entries_by_workspace ON audit_entries (tenant_id, workspace_id, at);

--bun:split

CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The foreign key deletes a tenant's entries after the tenant's row.
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM tenants WHERE id = OLD.tenant_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'entries of the audit log are neither changed nor deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER audit_entries_append_only
    BEFORE UPDATE OR DELETE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

--bun:split

CREATE OR REPLACE TRIGGER audit_entries_no_truncate
    BEFORE TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

--bun:split

-- Changes that have begun and whose entry is not written yet. A row that stays is of a process that
-- died: the sweep writes its entry.
CREATE TABLE IF NOT EXISTS audit_pending (
    tenant_id text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id        text NOT NULL,
    begun_at  timestamptz NOT NULL,
    -- The entry as far as it was known.
    entry     jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

--bun:split

CREATE INDEX IF NOT EXISTS audit_pending_by_age ON audit_pending (begun_at);
