-- Large workspaces had an approximate index of their vectors each. All searches go by codes in
-- memory now (docs/decisions/0035), so the indexes go. The table vector_indexes stays while the
-- version before may still run: it reads the table, and would build the indexes again if the rows
-- were gone.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'chunks'::regclass
          AND starts_with(c.relname, 'chunks_hnsw_')
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END
$$;
