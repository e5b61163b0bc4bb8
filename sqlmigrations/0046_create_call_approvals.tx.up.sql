-- Calls that wait, or waited, for somebody's word: see conversation/approval.go.
CREATE TABLE IF NOT EXISTS call_approvals (
    -- The call's: call_…
    id text PRIMARY KEY,
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    session_id text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id text NOT NULL,
    -- The turn's losses when it asked: another answer to it asks anew.
    losses integer NOT NULL DEFAULT 0,
    slug text NOT NULL,
    arguments json NOT NULL,
    status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'approved', 'denied', 'expired', 'withdrawn')),
    reason text NOT NULL DEFAULT '',
    -- key_…, the session's id (its token, or a socket), or empty: nobody.
    decided_by text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    decided_at timestamptz
);

--bun:split

CREATE INDEX IF NOT EXISTS call_approvals_by_session ON call_approvals (session_id, created_at, id);

--bun:split

-- Tools that the caller of a turn without a socket offered, while it runs: see
-- conversation/again.go.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS client_tools json;
