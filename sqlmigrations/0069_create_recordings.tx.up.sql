-- How many days recordings of a workspace are kept after their session's end; 0: as long as the
-- session. Agents have a number of their own in their configuration.
ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS audio_days integer NOT NULL DEFAULT 0;

--bun:split

-- What was recorded of one voice socket of a session; see package recordings.
CREATE TABLE IF NOT EXISTS recording_parts (
    id           text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    session_id   text NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent_id     text NOT NULL,
    started_at   timestamptz NOT NULL,
    -- From the session's start to started_at.
    offset_ms    integer NOT NULL CHECK (offset_ms >= 0),
    -- When all of it was stored; NULL while it goes on, and for ever when its server was lost.
    ended_at     timestamptz,
    -- Its end is missing, because the bucket could not be written.
    incomplete   boolean NOT NULL DEFAULT false,
    -- Nothing of it is there any more.
    erased_at    timestamptz
);

--bun:split

CREATE INDEX IF NOT EXISTS recording_parts_by_session ON recording_parts (session_id, started_at, id);

--bun:split

-- Those that retention looks at.
CREATE INDEX IF NOT EXISTS recording_parts_kept ON recording_parts (agent_id, started_at) WHERE erased_at IS NULL;

--bun:split

-- The files of a part, each some seconds of sound. A row is there before its file, and until its
-- file is deleted: it has no foreign key.
CREATE TABLE IF NOT EXISTS recording_segments (
    part_id      text NOT NULL,
    number       integer NOT NULL,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    session_id   text NOT NULL,
    -- In the bucket; '' for silence, which has no file.
    key          text NOT NULL,
    -- Samples of each channel.
    frames       bigint NOT NULL CHECK (frames >= 0),
    -- When words and sentences are heard, in times of the part.
    marks        jsonb NOT NULL DEFAULT '[]',
    -- When the file is deleted unless its writer says before that it is stored; NULL: it is kept.
    due_at       timestamptz,
    PRIMARY KEY (part_id, number)
);

--bun:split

CREATE INDEX IF NOT EXISTS recording_segments_by_session ON recording_segments (session_id);

--bun:split

CREATE INDEX IF NOT EXISTS recording_segments_due ON recording_segments (due_at) WHERE due_at IS NOT NULL;

--bun:split

-- Deleting a workspace or tenant takes its parts along without asking anybody; their files must not
-- stay.
CREATE OR REPLACE FUNCTION end_recording_segments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE recording_segments SET due_at = coalesce(due_at, now()) WHERE part_id = OLD.id;
    RETURN NULL;
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER recording_parts_leave_files AFTER DELETE ON recording_parts
    FOR EACH ROW EXECUTE FUNCTION end_recording_segments();
