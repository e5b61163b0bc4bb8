-- Calls that went on when their rows were deleted: they are hung up. Nothing says whom they were
-- with.
CREATE TABLE IF NOT EXISTS deleted_calls (
    id              text PRIMARY KEY,
    tenant_id       text NOT NULL,
    workspace_id    text NOT NULL,
    carrier         text NOT NULL,
    -- Empty until the carrier has said it.
    carrier_call_id text NOT NULL,
    -- The workspace's own account at the carrier, as in provider_credentials; '': it had none.
    credential_id   text NOT NULL,
    account_id      text NOT NULL,
    base_url        text NOT NULL,
    api_key         bytea,
    hung_up         boolean NOT NULL DEFAULT false,
    -- When it is hung up; when the row is deleted of one that was, or whose id is not known.
    due_at          timestamptz NOT NULL,
    created_at      timestamptz NOT NULL
);

--bun:split

CREATE INDEX IF NOT EXISTS deleted_calls_due ON deleted_calls (due_at);

--bun:split

CREATE OR REPLACE FUNCTION note_deleted_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_calls
        (id, tenant_id, workspace_id, carrier, carrier_call_id, credential_id, account_id, base_url, api_key, due_at, created_at)
    SELECT OLD.id,
           OLD.tenant_id,
           OLD.workspace_id,
           OLD.carrier,
           OLD.carrier_call_id,
           coalesce(c.id, ''),
           coalesce(c.account_id, ''),
           coalesce(c.base_url, ''),
           c.api_key,
           OLD.created_at + CASE WHEN OLD.carrier_call_id = '' THEN interval '10 minutes' ELSE interval '0' END,
           OLD.created_at
    FROM (SELECT) AS one
    LEFT JOIN provider_credentials AS c ON c.tenant_id = OLD.tenant_id
        AND c.workspace_id = OLD.workspace_id
        AND c.kind = 'telephony'
        AND c.provider = OLD.carrier
    ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER phone_calls_go_on AFTER DELETE ON phone_calls
    FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION note_deleted_call();

--bun:split

-- Deleting a workspace or tenant takes its calls along without asking anybody. Those that go on are
-- deleted first, while the workspace's account at the carrier can still be noted with them.
CREATE OR REPLACE FUNCTION delete_open_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM phone_calls WHERE tenant_id = OLD.tenant_id AND workspace_id = OLD.id AND ended_at IS NULL;
    RETURN OLD;
END
$$;

--bun:split

CREATE OR REPLACE TRIGGER workspaces_end_calls BEFORE DELETE ON workspaces
    FOR EACH ROW EXECUTE FUNCTION delete_open_calls();
