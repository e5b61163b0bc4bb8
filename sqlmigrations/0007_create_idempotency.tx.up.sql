-- Requests that carried Idempotency-Key, and the answers they got.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    tenant_id   text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- Whose key it is: the API key, or the session whose token was shown. Two callers never meet.
    caller_id   text NOT NULL CHECK (caller_id <> ''),
    -- SHA-256 over the header's value, the method and the path.
    key_hash    bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    -- SHA-256 over query and body.
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    -- The run that works on it, or did.
    claim_id    text NOT NULL,
    -- Until when that run owns the row, unless it says again that it is alive; NULL once answered.
    lease_until timestamptz,
    -- Status, headers and body, sealed for (tenant, caller and key): they may hold one-time
    -- secrets.
    answer      bytea,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, caller_id, key_hash),
    CHECK (num_nonnulls(lease_until, answer) = 1)
);

--bun:split

CREATE INDEX IF NOT EXISTS idempotency_keys_by_expiry ON idempotency_keys (expires_at);
