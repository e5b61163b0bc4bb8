-- What is remembered of a workspace's users. A user is the user_id of sessions, byte for byte.
CREATE TABLE IF NOT EXISTS memory_users (
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    -- Memories that are active or pending. Whoever writes a user's memories locks this row first.
    memories     integer NOT NULL DEFAULT 0 CHECK (memories >= 0),
    -- When something was deleted last: nothing said before that is taken down any more.
    forgotten_at timestamptz,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, user_id),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE TABLE IF NOT EXISTS memories (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    workspace_id  text NOT NULL,
    user_id       text COLLATE "C" NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('note', 'statement')),
    status        text NOT NULL CHECK (status IN ('active', 'pending', 'superseded')),
    text          text NOT NULL,
    category      text NOT NULL DEFAULT '',
    attribute     text NOT NULL DEFAULT '',
    tags          text[] NOT NULL DEFAULT '{}',
    confidence    real NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1),
    -- What it is about: of one slot at most one memory is active, and one pending.
    slot          text NOT NULL,
    -- What it says: equal for texts that say the same in other words' forms and order.
    meaning       text NOT NULL,
    created_by    text NOT NULL CHECK (created_by IN ('model', 'extraction', 'operator')),
    -- Where it comes from; no foreign key, since it outlives them.
    agent_id      text NOT NULL DEFAULT '',
    session_id    text NOT NULL DEFAULT '',
    turn_id       text NOT NULL DEFAULT '',
    superseded_by text NOT NULL DEFAULT '',
    expires_at    timestamptz,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    FOREIGN KEY (workspace_id, user_id) REFERENCES memory_users (workspace_id, user_id) ON DELETE CASCADE
);

--bun:split

CREATE UNIQUE INDEX IF NOT EXISTS memories_by_slot ON memories (workspace_id, user_id, slot, status) WHERE status <> 'superseded';

--bun:split

CREATE INDEX IF NOT EXISTS memories_by_user ON memories (workspace_id, user_id, created_at DESC, id DESC);

--bun:split

-- What a session is given: the newest of each kind.
CREATE INDEX IF NOT EXISTS memories_active ON memories (workspace_id, user_id, kind, updated_at DESC) WHERE status = 'active';

--bun:split

CREATE INDEX IF NOT EXISTS memories_by_session ON memories (session_id) WHERE session_id <> '';

--bun:split

CREATE INDEX IF NOT EXISTS memories_expiring ON memories (expires_at) WHERE expires_at IS NOT NULL;

--bun:split

-- The vectors of memories that are active. The code is some bits of the vector, for a first choice
-- among many: see memory/code.go.
CREATE TABLE IF NOT EXISTS memory_vectors (
    memory_id    text PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    model        text NOT NULL,
    code         bit(512) NOT NULL,
    embedding    halfvec NOT NULL,
    embedded_at  timestamptz NOT NULL
);

--bun:split

-- A vector is read for the few that the codes chose: outside of the row, which is small then.
ALTER TABLE memory_vectors ALTER COLUMN embedding SET STORAGE EXTERNAL;

--bun:split

CREATE INDEX IF NOT EXISTS memory_vectors_by_user ON memory_vectors (workspace_id, user_id, model);

--bun:split

CREATE INDEX IF NOT EXISTS memory_vectors_by_model ON memory_vectors (model, embedded_at);

--bun:split

-- What waits for its vector: new ones that could not be embedded at once, and all when the model
-- changes.
CREATE TABLE IF NOT EXISTS memory_embeddings_due (
    memory_id    text PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    user_id      text COLLATE "C" NOT NULL,
    due_at       timestamptz NOT NULL,
    attempts     integer NOT NULL DEFAULT 0
);

--bun:split

CREATE INDEX IF NOT EXISTS memory_embeddings_due_by_time ON memory_embeddings_due (due_at);

--bun:split

CREATE INDEX IF NOT EXISTS memory_embeddings_due_by_user ON memory_embeddings_due (workspace_id, user_id);
