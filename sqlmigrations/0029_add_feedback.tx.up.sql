-- What the user thought of the turn's answer: like, dislike, or nothing.
ALTER TABLE turns ADD COLUMN IF NOT EXISTS feedback text NOT NULL DEFAULT '';

--bun:split

-- The same, counted.
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS likes integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS dislikes integer NOT NULL DEFAULT 0;
