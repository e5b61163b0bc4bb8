-- Requests for an export or the erasure of a user's data. user_id is '' once the user was erased;
-- user_hash stays.
-- due_at is when a worker may take the request up; one that works on it moves it on.
CREATE TABLE IF NOT EXISTS privacy_requests (
    id text PRIMARY KEY,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    user_id text NOT NULL,
    user_hash text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('export', 'erasure')),
    status text NOT NULL CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    requested_by text NOT NULL,
    counts jsonb NOT NULL,
    remaining jsonb,
    error text NOT NULL DEFAULT '',
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL,
    queued_until timestamptz,
    file_key text NOT NULL DEFAULT '',
    size_bytes bigint NOT NULL DEFAULT 0,
    sha256 text NOT NULL DEFAULT '',
    expires_at timestamptz,
    traceparent text NOT NULL DEFAULT '',
    request_id text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX IF NOT EXISTS privacy_requests_by_workspace ON privacy_requests (workspace_id, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS privacy_requests_due ON privacy_requests (tenant_id, due_at) WHERE finished_at IS NULL;
CREATE INDEX IF NOT EXISTS privacy_requests_by_user ON privacy_requests (workspace_id, user_id) WHERE user_id <> '';

-- The files of exports in the bucket. A row is there before its file, and without a request when
-- the workspace was deleted.
CREATE TABLE IF NOT EXISTS privacy_files (
    key text PRIMARY KEY,
    tenant_id text NOT NULL,
    request_id text NOT NULL,
    expires_at timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS privacy_files_by_expiry ON privacy_files (expires_at);

-- Whom an event is about, to find it again; NULL in rows of older versions. The body of an erased
-- event has no data.
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS session_id text,
    ADD COLUMN IF NOT EXISTS user_id text,
    ADD COLUMN IF NOT EXISTS erased boolean NOT NULL DEFAULT false;
CREATE INDEX IF NOT EXISTS events_by_session ON events (tenant_id, session_id) WHERE session_id <> '';
CREATE INDEX IF NOT EXISTS events_by_user ON events (tenant_id, user_id) WHERE user_id <> '';
CREATE INDEX IF NOT EXISTS events_unattributed ON events (tenant_id, workspace_id) WHERE user_id IS NULL;

-- A delivery whose event was erased: nothing of an attempt is kept that comes to its end later.
ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS erased boolean NOT NULL DEFAULT false;

-- Whom a kept answer is about; NULL in rows of older versions, which live for a day.
ALTER TABLE idempotency_keys ADD COLUMN IF NOT EXISTS session_id text, ADD COLUMN IF NOT EXISTS user_hash bytea;
CREATE INDEX IF NOT EXISTS idempotency_keys_by_session ON idempotency_keys (tenant_id, session_id) WHERE session_id <> '';
CREATE INDEX IF NOT EXISTS idempotency_keys_by_user ON idempotency_keys (tenant_id, user_hash) WHERE user_hash IS NOT NULL;
