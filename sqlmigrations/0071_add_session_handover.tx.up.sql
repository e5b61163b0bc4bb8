-- Whether a person has the conversation, or was asked to take it over; see package
-- sessions/handover. The status is '', requested or operator.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_status text NOT NULL DEFAULT '';

--bun:split

-- Why and what for, in the form in which the session stores content.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_reason text NOT NULL DEFAULT '';

--bun:split

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_summary text NOT NULL DEFAULT '';

--bun:split

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_destination text NOT NULL DEFAULT '';

--bun:split

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_requested_at timestamptz;

--bun:split

-- The person who has the conversation, and since when.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_operator text NOT NULL DEFAULT '';

--bun:split

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS handover_taken_at timestamptz;

--bun:split

-- The session is a telephone call.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS on_telephone boolean NOT NULL DEFAULT false;

--bun:split

-- What waits for a person, or has one.
CREATE INDEX IF NOT EXISTS sessions_handed_over ON sessions (tenant_id, created_at DESC, id DESC)
    WHERE handover_status <> '' AND ended_at IS NULL;
