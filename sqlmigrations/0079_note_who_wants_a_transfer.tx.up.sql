-- answered_at is when the person began to hear the summary. by_session says that the session has
-- asked for the transfer, which is made only while it still does.
ALTER TABLE phone_calls
    ADD COLUMN IF NOT EXISTS transfer_answered_at timestamptz,
    ADD COLUMN IF NOT EXISTS transfer_by_session boolean NOT NULL DEFAULT false;
