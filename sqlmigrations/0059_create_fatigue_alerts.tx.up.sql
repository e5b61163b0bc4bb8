-- Windows that a user has used up and that have not cooled down; see package sessions/fatigue.
CREATE TABLE IF NOT EXISTS fatigue_alerts (
    tenant_id text NOT NULL,
    workspace_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    window_seconds bigint NOT NULL,
    measure text NOT NULL CHECK (measure IN ('turns', 'sessions', 'minutes')),
    fired_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, agent_id, user_id, window_seconds, measure),
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);
