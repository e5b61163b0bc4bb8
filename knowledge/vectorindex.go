package knowledge

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// How vectors are searched, and what an index of them is made of.
const (
	// exactChunks is up to how many chunks an agent's question is compared with each: some microseconds
	// a chunk.
	exactChunks = 2000
	// codedChunks is up to how many are searched by their codes, about 25 ns and 72 bytes of memory each.
	// Codes find more than an index and cost nothing to build, but their time grows with the chunks.
	codedChunks = 500_000
	// indexLinks and indexEffort are hnsw's m and ef_construction.
	indexLinks  = 16
	indexEffort = 100
	// searchEffort is hnsw.ef_search.
	searchEffort = 240
	// maxIndexed is pgvector's limit for halfvec; longer vectors are searched exactly.
	maxIndexed = 4000
	// indexMemory is for building: an index that does not fit takes far longer.
	indexMemory = "512MB"
)

// indexPrefix begins the names of all indexes made here, and of no other.
const indexPrefix = "chunks_hnsw_"

// vectorIndex is an index over one workspace's vectors of one model, so that a search in it passes
// no neighbour's rows. What was written after it was built is searched exactly beside it.
type vectorIndex struct {
	bun.BaseModel `bun:"table:vector_indexes,alias:v"`

	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id,pk"`
	Model       string              `bun:"model,pk"`
	Dimension   int                 `bun:"dimension"`
	Name        string              `bun:"name"`
	UpTo        int64               `bun:"up_to"`
	ChunkCount  int64               `bun:"chunk_count"`
	BuiltAt     time.Time           `bun:"built_at"`
}

// covers is the condition for which rows are in the index, as the index has it and a search must.
func (v vectorIndex) covers() string {
	return fmt.Sprintf("workspace_id = %s AND model = %s AND coalesce(batch, 0::bigint) <= '%d'::bigint",
		quoted(string(v.WorkspaceID)), quoted(v.Model), v.UpTo)
}

// expression is what is indexed.
func (v vectorIndex) expression() string {
	return fmt.Sprintf("(embedding::halfvec(%d)) halfvec_cosine_ops", v.Dimension)
}

// quoted is a string constant; DDL takes no parameters.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// tendIndexes builds the indexes that large workspaces lack and drops those that nobody needs.
func (s *Service) tendIndexes(ctx context.Context) error {
	wanted, err := wantedIndexes(ctx, s.db, s.codedChunks)
	if err != nil {
		return err
	}
	failed := []error{s.dropIndexes(ctx, wanted)}
	for _, index := range wanted {
		if index.Name == "" {
			failed = append(failed, s.buildIndex(ctx, index))
		}
	}
	return errors.Join(failed...)
}

// wantedIndexes are the indexes that there should be; one that must be built has no name. A
// workspace with twice as many chunks of a model as are searched by codes wants one; a new one
// when as many, and a quarter of what is in it, are newer.
func wantedIndexes(ctx context.Context, db bun.IDB, coded int) ([]vectorIndex, error) {
	var wanted []vectorIndex
	err := db.NewRaw(postgres.RawForAllTenants("large workspaces of all tenants get an index", `
		WITH large AS (
			SELECT s.tenant_id,
			       s.workspace_id,
			       s.embedding_model AS model,
			       sum(s.chunk_count) AS chunks
			FROM sources AS s
			WHERE s.ready_at IS NOT NULL
			GROUP BY s.tenant_id, s.workspace_id, s.embedding_model
			HAVING sum(s.chunk_count) >= ?
		), measured AS (
			SELECT l.tenant_id,
			       l.workspace_id,
			       l.model,
			       l.chunks,
			       v.name,
			       v.chunk_count AS indexed,
			       coalesce(v.up_to, 0) AS up_to,
			       (
			           SELECT vector_dims(c.embedding)
			           FROM chunks AS c
			           WHERE c.workspace_id = l.workspace_id
			             AND c.model = l.model
			           LIMIT 1
			       ) AS dimension,
			       (
			           SELECT coalesce(sum(w.chunk_count), 0)
			           FROM source_words AS w
			           WHERE w.workspace_id = l.workspace_id
			             AND w.batch > v.up_to
			       ) AS tail
			FROM large AS l
			LEFT JOIN vector_indexes AS v ON v.workspace_id = l.workspace_id AND v.model = l.model
		)
		SELECT tenant_id,
		       workspace_id,
		       model,
		       chunks AS chunk_count,
		       dimension,
		       up_to,
		       CASE WHEN tail > greatest(?, indexed / 4) THEN '' ELSE coalesce(name, '') END AS name
		FROM measured
		WHERE dimension <= ?
		  AND strpos(model, chr(63)) = 0`), 2*coded, coded, maxIndexed).Scan(ctx, &wanted)
	if err != nil {
		return nil, fmt.Errorf("look for large workspaces: %w", err)
	}
	return wanted, nil
}

// buildIndex builds an index of what is there, beside reading and writing, and then says that it
// is the workspace's.
func (s *Service) buildIndex(ctx context.Context, index vectorIndex) error {
	err := s.db.NewRaw(`
		SELECT coalesce(max(batch), 0)
		FROM source_words
		WHERE tenant_id = ?
		  AND workspace_id = ?`, index.TenantID, index.WorkspaceID).Scan(ctx, &index.UpTo)
	if err != nil {
		return fmt.Errorf("find the last batch: %w", err)
	}
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%s|%s|%d", index.WorkspaceID, index.Model, index.UpTo) // cannot fail
	index.Name, index.BuiltAt = fmt.Sprintf("%s%016x", indexPrefix, hash.Sum64()), s.moment()
	log := s.log.With(telemetry.KeyWorkspaceID, string(index.WorkspaceID), "index", index.Name, "chunks", index.ChunkCount)
	log.InfoContext(ctx, "building an index of vectors")
	err = s.db.Session(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		statement := fmt.Sprintf("CREATE INDEX CONCURRENTLY IF NOT EXISTS %s ON chunks USING hnsw (%s) WITH (m = %d, ef_construction = %d) WHERE %s",
			index.Name, index.expression(), indexLinks, indexEffort, index.covers())
		if _, err := conn.Exec(ctx, "SET maintenance_work_mem = '"+indexMemory+"'"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, postgres.RawForAllTenants("an index is the table's; its condition names the workspace", statement))
		return err
	})
	if err != nil {
		return fmt.Errorf("build index %s: %w", index.Name, err)
	}
	_, err = s.db.NewInsert().Model(&index).On("CONFLICT (workspace_id, model) DO UPDATE").
		Set("name = EXCLUDED.name").Set("up_to = EXCLUDED.up_to").Set("dimension = EXCLUDED.dimension").
		Set("chunk_count = EXCLUDED.chunk_count").Set("built_at = EXCLUDED.built_at").
		Where("v.tenant_id = EXCLUDED.tenant_id").Exec(ctx)
	if err != nil {
		return fmt.Errorf("note index %s: %w", index.Name, err)
	}
	log.InfoContext(ctx, "index of vectors built", telemetry.KeyDurationMS, s.now().Sub(index.BuiltAt).Milliseconds())
	return nil
}

// dropIndexes drops indexes of workspaces that are gone, small again or of another model by now, and
// what a crash while building has left: an index that no row names.
func (s *Service) dropIndexes(ctx context.Context, wanted []vectorIndex) error {
	var noted []vectorIndex
	err := s.db.NewRaw(postgres.RawForAllTenants("indexes that nobody needs are dropped, whosever they were", `
		SELECT tenant_id, workspace_id, model, name
		FROM vector_indexes`)).Scan(ctx, &noted)
	if err != nil {
		return fmt.Errorf("list noted indexes: %w", err)
	}
	needed := map[string]bool{}
	for _, index := range noted {
		if slices.ContainsFunc(wanted, func(w vectorIndex) bool { return w.WorkspaceID == index.WorkspaceID && w.Model == index.Model }) {
			needed[index.Name] = true // also while its successor is built
			continue
		}
		_, err := s.db.NewDelete().Model((*vectorIndex)(nil)).Where("tenant_id = ?", index.TenantID).
			Where("workspace_id = ?", index.WorkspaceID).Where("model = ?", index.Model).Exec(ctx)
		if err != nil {
			return fmt.Errorf("forget index %s: %w", index.Name, err)
		}
	}
	var names []string
	err = s.db.NewRaw(`
		SELECT c.relname
		FROM pg_index AS i
		JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid = 'chunks'::regclass
		  AND starts_with(c.relname, ?)`, indexPrefix).Scan(ctx, &names)
	if err != nil {
		return fmt.Errorf("list indexes: %w", err)
	}
	for _, name := range names {
		if needed[name] {
			continue
		}
		if _, err := s.db.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+name); err != nil {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}
