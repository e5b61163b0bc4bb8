-- When the attempt under way began: its row is written when it has ended, or when its holder is
-- found to have died. The binary before does not set it, and writes the row as it begins.
ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS claimed_at timestamptz;
