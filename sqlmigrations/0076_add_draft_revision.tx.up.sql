-- The revision of the last draft that an agent had, so that the next one goes on counting: whoever
-- has seen an earlier draft cannot take the next one for it.
ALTER TABLE agents ADD COLUMN IF NOT EXISTS draft_revision integer NOT NULL DEFAULT 0;

--bun:split

UPDATE agents AS a
SET draft_revision = d.revision
FROM agent_drafts AS d
WHERE d.agent_id = a.id;
