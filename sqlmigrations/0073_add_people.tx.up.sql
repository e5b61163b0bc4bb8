-- People who sign in at the console by OIDC; see package people. The issuer and its subject say who
-- somebody is. Who a tenant's people are is known from their first sign-in on.
CREATE TABLE IF NOT EXISTS people (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    issuer        text NOT NULL,
    subject       text NOT NULL,
    name          text NOT NULL,
    -- Empty when the issuer says none.
    email         text NOT NULL,
    -- The groups at the last sign-in.
    groups        text[] NOT NULL,
    -- The role that the groups gave at the last sign-in.
    group_role    text NOT NULL CHECK (group_role IN ('owner', 'operator', 'analyst', 'billing', 'none')),
    -- The role in place of it; empty when there is none.
    assigned_role text NOT NULL DEFAULT '' CHECK (assigned_role IN ('', 'owner', 'operator', 'analyst', 'billing', 'none')),
    disabled      boolean NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL,
    -- The last time that the issuer said that they are there.
    signed_in_at  timestamptz NOT NULL,
    UNIQUE (tenant_id, issuer, subject)
);

--bun:split

CREATE INDEX IF NOT EXISTS people_by_sign_in ON people (tenant_id, signed_in_at DESC, id DESC);

--bun:split

-- Browsers in which somebody has signed in. The token of the cookie is not stored.
CREATE TABLE IF NOT EXISTS person_sign_ins (
    -- SHA-256 of the token.
    token_hash   bytea PRIMARY KEY,
    tenant_id    text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    person_id    text NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    -- Written at most once a minute.
    last_seen_at timestamptz NOT NULL
);

--bun:split

CREATE INDEX IF NOT EXISTS person_sign_ins_by_person ON person_sign_ins (tenant_id, person_id);
