-- Tenants, workspaces, API keys, and the marks that deleted resources leave.
CREATE EXTENSION IF NOT EXISTS vector;

--bun:split

CREATE TABLE IF NOT EXISTS tenants (
    id         text PRIMARY KEY,
    name       text NOT NULL CHECK (name <> ''),
    plan       text NOT NULL CHECK (plan <> ''),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

--bun:split

CREATE TABLE IF NOT EXISTS workspaces (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    name          text NOT NULL CHECK (name <> ''),
    -- Bytes of sources stored or reserved; the guard of the plan's storage.
    kb_used_bytes bigint NOT NULL DEFAULT 0 CHECK (kb_used_bytes >= 0),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    -- Children reference both, so that a row can never name another tenant's workspace.
    UNIQUE (tenant_id, id)
);

--bun:split

CREATE INDEX IF NOT EXISTS workspaces_by_tenant ON workspaces (tenant_id, created_at, id);

--bun:split

CREATE TABLE IF NOT EXISTS api_keys (
    id           text PRIMARY KEY,
    tenant_id    text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- NULL: the key is for the whole tenant.
    workspace_id text,
    name         text NOT NULL,
    scope        text NOT NULL CHECK (scope IN ('read', 'runtime', 'operator', 'admin')),
    secret_hash  bytea NOT NULL UNIQUE,
    secret_hint  text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS api_keys_by_tenant ON api_keys (tenant_id, created_at DESC, id DESC);

--bun:split

-- What was deleted: a repeated delete or detach is answered 204, an id that never existed 404.
CREATE TABLE IF NOT EXISTS tombstones (
    tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id         text NOT NULL,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
