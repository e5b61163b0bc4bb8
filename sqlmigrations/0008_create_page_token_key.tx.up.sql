-- What page tokens are authenticated with, the same on every server. It is not sealed: it
-- protects a place in a list, and whoever reads this table reads the lists.
CREATE TABLE IF NOT EXISTS page_token_key (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    secret   bytea   NOT NULL CHECK (octet_length(secret) = 32)
);

--bun:split

-- gen_random_uuid() is cryptographically random: 244 bits in two of them.
INSERT INTO page_token_key (secret)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')))
ON CONFLICT DO NOTHING;
