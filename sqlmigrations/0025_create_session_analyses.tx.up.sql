-- What a model finds out about a session that is over. A row is made when one that is to be
-- analysed is closed; post_call_transcription is appended when the row leaves pending.
CREATE TABLE IF NOT EXISTS session_analyses (
    session_id    text PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    tenant_id     text NOT NULL,
    workspace_id  text NOT NULL,
    status        text NOT NULL CHECK (status IN ('pending', 'done', 'failed', 'none')),
    -- When it may be tried, and until when a task is on its way.
    due_at        timestamptz NOT NULL,
    queued_until  timestamptz,
    -- When it is given up.
    deadline_at   timestamptz NOT NULL,
    attempts      integer NOT NULL DEFAULT 0,
    result        jsonb NOT NULL DEFAULT '{}',
    model         text NOT NULL DEFAULT '',
    input_tokens  integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    error         text NOT NULL DEFAULT '',
    -- What made the session end, for logs and traces.
    traceparent   text NOT NULL DEFAULT '',
    request_id    text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    CHECK ((ended_at IS NOT NULL) = (status <> 'pending'))
);

--bun:split

CREATE INDEX IF NOT EXISTS session_analyses_pending ON session_analyses (tenant_id, due_at) WHERE status = 'pending';

--bun:split

CREATE INDEX IF NOT EXISTS session_analyses_overdue ON session_analyses (deadline_at) WHERE status = 'pending';
