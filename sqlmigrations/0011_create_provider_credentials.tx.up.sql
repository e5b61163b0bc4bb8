-- Keys of a workspace's own at model, speech and telephony providers.
CREATE TABLE IF NOT EXISTS provider_credentials (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    workspace_id  text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('model', 'stt', 'tts', 'telephony')),
    provider      text NOT NULL CHECK (provider <> ''),
    name          text NOT NULL,
    base_url      text NOT NULL,
    account_id    text NOT NULL,
    default_model text NOT NULL,
    -- Sealed for (tenant, credential, field).
    api_key       bytea NOT NULL,
    api_key_hint  text NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, workspace_id) REFERENCES workspaces (tenant_id, id) ON DELETE CASCADE
);

--bun:split

-- One for each kind and provider; every turn reads by it.
CREATE UNIQUE INDEX IF NOT EXISTS provider_credentials_one ON provider_credentials (workspace_id, kind, provider);
