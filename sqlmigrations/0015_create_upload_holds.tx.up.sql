-- Room that uploads under way have in their workspace's plan: what they are known to store counts
-- before it is stored. An upload says again and again that it goes on; the hold of one that died
-- with its server counts no longer when its time is over.
CREATE TABLE IF NOT EXISTS upload_holds (
    -- The blob that is being stored.
    key          text PRIMARY KEY,
    tenant_id    text NOT NULL,
    workspace_id text NOT NULL,
    bytes        bigint NOT NULL CHECK (bytes >= 0),
    held_until   timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

CREATE INDEX IF NOT EXISTS upload_holds_by_workspace ON upload_holds (tenant_id, workspace_id);
