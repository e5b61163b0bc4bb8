-- Headers of a tool that are sealed, as auth_header is: their names, and all of them as one JSON
-- object. The binary before neither sends nor changes them.
ALTER TABLE tools ADD COLUMN IF NOT EXISTS secret_header_names text[];
--bun:split
ALTER TABLE tools ADD COLUMN IF NOT EXISTS secret_headers bytea;
