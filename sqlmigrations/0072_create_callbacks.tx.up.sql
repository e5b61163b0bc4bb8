-- Numbers on which agents are called.
CREATE TABLE IF NOT EXISTS phone_numbers (
    id                 text PRIMARY KEY,
    tenant_id          text NOT NULL,
    workspace_id       text NOT NULL,
    phone_number       text NOT NULL,
    agent_id           text NOT NULL,
    name               text NOT NULL DEFAULT '',
    enabled            boolean NOT NULL DEFAULT true,
    lookup_url         text NOT NULL DEFAULT '',
    lookup_secret      bytea,
    lookup_secret_hint text NOT NULL DEFAULT '',
    dynamic_variables  jsonb NOT NULL DEFAULT '{}',
    configured         boolean NOT NULL DEFAULT false,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

-- A call for a number goes to one workspace of the tenant whose number it is.
CREATE UNIQUE INDEX IF NOT EXISTS phone_numbers_number ON phone_numbers (tenant_id, phone_number);

--bun:split

CREATE INDEX IF NOT EXISTS phone_numbers_page ON phone_numbers (tenant_id, workspace_id, created_at, id);

--bun:split

-- Calls over carriers.
CREATE TABLE IF NOT EXISTS phone_calls (
    id                    text PRIMARY KEY,
    tenant_id             text NOT NULL,
    workspace_id          text NOT NULL,
    agent_id              text NOT NULL,
    user_id               text NOT NULL,
    direction             text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
    from_number           text NOT NULL,
    to_number             text NOT NULL,
    status                text NOT NULL,
    end_reason            text NOT NULL DEFAULT '',
    session_id            text NOT NULL DEFAULT '',
    callback_id           text NOT NULL DEFAULT '',
    attempt               integer NOT NULL DEFAULT 0,
    number_id             text NOT NULL DEFAULT '',
    answered_by           text NOT NULL DEFAULT '',
    carrier               text NOT NULL,
    -- Empty until the carrier has accepted the call.
    carrier_call_id       text NOT NULL DEFAULT '',
    dynamic_variables     jsonb NOT NULL DEFAULT '{}',
    reason                text NOT NULL DEFAULT '',
    ring_seconds          integer NOT NULL DEFAULT 30,
    max_duration_seconds  integer NOT NULL DEFAULT 3600,
    detect_machine        boolean NOT NULL DEFAULT false,
    voicemail_message     text NOT NULL DEFAULT '',
    -- Nothing of what is said is kept when the call is over.
    zero_retention        boolean NOT NULL DEFAULT false,
    transfer_status       text NOT NULL DEFAULT '',
    transfer_to           text NOT NULL DEFAULT '',
    transfer_mode         text NOT NULL DEFAULT '',
    transfer_summary      text NOT NULL DEFAULT '',
    transfer_reason       text NOT NULL DEFAULT '',
    transfer_ring_seconds integer NOT NULL DEFAULT 25,
    transfer_requested_at timestamptz,
    transfer_connected_at timestamptz,
    -- When a transfer that was requested is made at the latest.
    transfer_due_at       timestamptz,
    -- When the carrier is asked next how the call is.
    check_at              timestamptz NOT NULL,
    created_at            timestamptz NOT NULL,
    answered_at           timestamptz,
    ended_at              timestamptz,
    duration_seconds      integer NOT NULL DEFAULT 0,
    pstn_minutes          integer NOT NULL DEFAULT 0,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_page ON phone_calls (tenant_id, workspace_id, created_at, id);

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_user ON phone_calls (tenant_id, workspace_id, user_id);

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_session ON phone_calls (session_id) WHERE session_id <> '';

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_callback ON phone_calls (tenant_id, callback_id, attempt) WHERE callback_id <> '';

--bun:split

CREATE INDEX IF NOT EXISTS phone_calls_open ON phone_calls (check_at) WHERE ended_at IS NULL;

--bun:split

CREATE UNIQUE INDEX IF NOT EXISTS phone_calls_carrier ON phone_calls (tenant_id, carrier, carrier_call_id) WHERE carrier_call_id <> '';

--bun:split

-- Calls that repeat.
CREATE TABLE IF NOT EXISTS callback_schedules (
    id                text PRIMARY KEY,
    tenant_id         text NOT NULL,
    workspace_id      text NOT NULL,
    agent_id          text NOT NULL,
    user_id           text NOT NULL,
    phone_number      text NOT NULL,
    cron              text NOT NULL,
    timezone          text NOT NULL,
    reason            text NOT NULL DEFAULT '',
    starts_at         timestamptz,
    ends_at           timestamptz,
    exceptions        text[] NOT NULL DEFAULT '{}',
    enabled           boolean NOT NULL DEFAULT true,
    dynamic_variables jsonb NOT NULL DEFAULT '{}',
    -- The next run by cron; null: there is none.
    run_at            timestamptz,
    -- When that run is made: run_at, unless it was moved.
    due_at            timestamptz,
    skipped_runs      integer NOT NULL DEFAULT 0,
    last_skipped_at   timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS callback_schedules_page ON callback_schedules (tenant_id, workspace_id, created_at, id);

--bun:split

CREATE INDEX IF NOT EXISTS callback_schedules_user ON callback_schedules (tenant_id, workspace_id, user_id);

--bun:split

CREATE INDEX IF NOT EXISTS callback_schedules_due ON callback_schedules (due_at) WHERE enabled AND due_at IS NOT NULL;

--bun:split

-- Calls to many numbers.
CREATE TABLE IF NOT EXISTS callback_batches (
    id           text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    agent_id     text NOT NULL,
    name         text NOT NULL,
    status       text NOT NULL CHECK (status IN ('running', 'paused', 'stopped', 'completed')),
    reason       text NOT NULL DEFAULT '',
    starts_at    timestamptz NOT NULL,
    window_from  text NOT NULL DEFAULT '',
    window_until text NOT NULL DEFAULT '',
    timezone     text NOT NULL DEFAULT '',
    concurrency  integer NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS callback_batches_page ON callback_batches (tenant_id, workspace_id, created_at, id);

--bun:split

-- Calls that are planned.
CREATE TABLE IF NOT EXISTS callbacks (
    id                text PRIMARY KEY,
    tenant_id         text NOT NULL,
    workspace_id      text NOT NULL,
    agent_id          text NOT NULL,
    user_id           text NOT NULL,
    phone_number      text NOT NULL,
    timezone          text NOT NULL,
    reason            text NOT NULL DEFAULT '',
    status            text NOT NULL CHECK (
        status IN ('scheduled', 'dialing', 'in_progress', 'completed', 'no_answer', 'failed', 'canceled')
    ),
    created_by        text NOT NULL CHECK (created_by IN ('agent', 'operator', 'schedule', 'batch')),
    origin_session_id text NOT NULL DEFAULT '',
    schedule_id       text NOT NULL DEFAULT '',
    -- The run of the schedule that it is.
    run_at            timestamptz,
    batch_id          text NOT NULL DEFAULT '',
    -- Its place among the recipients of its batch.
    place             integer NOT NULL DEFAULT 0,
    session_id        text NOT NULL DEFAULT '',
    call_id           text NOT NULL DEFAULT '',
    attempts          integer NOT NULL DEFAULT 0,
    ignore_limits     boolean NOT NULL DEFAULT false,
    dynamic_variables jsonb NOT NULL DEFAULT '{}',
    end_reason        text NOT NULL DEFAULT '',
    waits_for         text NOT NULL DEFAULT '',
    -- When it was planned for.
    at                timestamptz NOT NULL,
    -- When the next attempt is due.
    due_at            timestamptz NOT NULL,
    -- Until when a task counts as being on its way.
    queued_until      timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    -- When the last attempt began.
    dialed_at         timestamptz,
    ended_at          timestamptz,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS callbacks_page ON callbacks (tenant_id, workspace_id, at, id);

--bun:split

CREATE INDEX IF NOT EXISTS callbacks_user ON callbacks (tenant_id, workspace_id, user_id, at);

--bun:split

CREATE INDEX IF NOT EXISTS callbacks_due ON callbacks (tenant_id, due_at) WHERE status = 'scheduled';

--bun:split

CREATE INDEX IF NOT EXISTS callbacks_batch ON callbacks (tenant_id, batch_id, place) WHERE batch_id <> '';

--bun:split

-- A run of a schedule is one callback, whoever makes it.
CREATE UNIQUE INDEX IF NOT EXISTS callbacks_run ON callbacks (schedule_id, run_at) WHERE schedule_id <> '' AND run_at IS NOT NULL;

--bun:split

-- Whether users agree to be called.
CREATE TABLE IF NOT EXISTS call_consents (
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    user_id      text NOT NULL,
    granted      boolean NOT NULL,
    note         text NOT NULL DEFAULT '',
    recorded_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, workspace_id, user_id),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);
