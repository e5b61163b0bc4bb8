package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// keptFor is how long pages and vectors of a source that was given up are kept for a person who
// has it processed again.
const keptFor = 24 * time.Hour

// textHash names a text among a source's.
type textHash [sha256.Size]byte

// keptPages is a document.PageStore in the table source_pages.
type keptPages struct{ run *run }

// key stands for the bytes, how they are read and by what.
func (k keptPages) key(reader string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %s", k.run.source.SHA256, k.run.source.ForceOCR, reader))
	return hex.EncodeToString(sum[:16])
}

// Load implements document.PageStore.
func (k keptPages) Load(ctx context.Context, reader string) ([]document.StoredPage, error) {
	source := k.run.source
	var rows []struct {
		Page    int    `bun:"page"`
		Content string `bun:"content"`
	}
	err := k.run.db.NewRaw(`
		SELECT page,
		       content
		FROM source_pages
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?
		  AND key = ?`, source.TenantID, source.WorkspaceID, source.ID, k.key(reader)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("load kept pages: %w", err)
	}
	pages := make([]document.StoredPage, len(rows))
	for i, row := range rows {
		pages[i] = document.StoredPage{Number: row.Page, Content: row.Content}
	}
	return pages, nil
}

// Save implements document.PageStore. A run that has lost its source keeps nothing; its next
// report says so.
func (k keptPages) Save(ctx context.Context, reader string, page document.StoredPage) error {
	source := k.run.source
	_, err := k.run.db.ExecContext(ctx, `
		INSERT INTO source_pages (source_id, tenant_id, workspace_id, key, page, content, stored_at)
		SELECT id,
		       tenant_id,
		       workspace_id,
		       ?,
		       ?::integer,
		       ?,
		       ?::timestamptz
		FROM sources
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?
		ON CONFLICT DO NOTHING`, k.key(reader), page.Number, page.Content, k.run.moment(), source.TenantID, source.ID, source.Owner)
	if err != nil {
		return fmt.Errorf("keep a page: %w", err)
	}
	k.run.markKept()
	return nil
}

// stagedVector is a row of staged_vectors.
type stagedVector struct {
	bun.BaseModel `bun:"table:staged_vectors,alias:v"`

	SourceID    knowledge.SourceID  `bun:"source_id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Model       string              `bun:"model,pk"`
	TextHash    []byte              `bun:"text_hash,pk"`
	Embedding   pgvector.Vector     `bun:"embedding,type:vector"`
	StoredAt    time.Time           `bun:"stored_at"`
}

// keepVectors keeps what was paid for. Errors: errLost when the source is gone.
func (r *run) keepVectors(ctx context.Context, model string, hashes []textHash, vectors [][]float32) error {
	now := r.moment()
	rows := make([]stagedVector, len(hashes))
	for i := range hashes {
		rows[i] = stagedVector{
			SourceID: r.source.ID, TenantID: r.source.TenantID, WorkspaceID: r.source.WorkspaceID,
			Model: model, TextHash: hashes[i][:], Embedding: pgvector.NewVector(vectors[i]), StoredAt: now,
		}
	}
	_, err := r.db.NewInsert().Model(&rows).On("CONFLICT DO NOTHING").Exec(ctx)
	if postgres.IsForeignKey(err, "staged_vectors_workspace_id_source_id_fkey") {
		return errLost
	}
	if err != nil {
		return fmt.Errorf("keep vectors: %w", err)
	}
	r.markKept()
	return nil
}

// knownVectors finds vectors of the model for the texts among what an unfinished run kept and what
// the source's chunks have. It calls found with those that are wanted.
func (r *run) knownVectors(ctx context.Context, model string, wanted map[textHash][]int, found func(textHash, pgvector.Vector)) error {
	var staged []stagedVector
	err := r.db.NewSelect().Model(&staged).Column("text_hash", "embedding").Where("v.tenant_id = ?", r.source.TenantID).
		Where("v.workspace_id = ?", r.source.WorkspaceID).Where("v.source_id = ?", r.source.ID).Where("v.model = ?", model).Scan(ctx)
	if err != nil {
		return fmt.Errorf("load kept vectors: %w", err)
	}
	for _, one := range staged {
		if hash := textHash(one.TextHash); wanted[hash] != nil {
			found(hash, one.Embedding)
		}
	}
	if !r.source.Usable() {
		return nil
	}
	var old []knowledge.Chunk
	err = r.db.NewSelect().Model(&old).Column("content", "heading", "embedding").Where("c.tenant_id = ?", r.source.TenantID).
		Where("c.workspace_id = ?", r.source.WorkspaceID).Where("c.source_id = ?", r.source.ID).Where("c.model = ?", model).Scan(ctx)
	if err != nil {
		return fmt.Errorf("load the vectors before: %w", err)
	}
	for _, one := range old {
		if hash := textHash(sha256.Sum256([]byte(one.EmbeddedText()))); wanted[hash] != nil {
			found(hash, one.Embedding)
		}
	}
	return nil
}

// dropKept forgets what was kept for the source.
func dropKept(ctx context.Context, db bun.IDB, source knowledge.Source) error {
	var errs []error
	for _, table := range []string{"source_pages", "staged_vectors"} {
		_, err := db.NewDelete().Table(table).Where("tenant_id = ?", source.TenantID).
			Where("workspace_id = ?", source.WorkspaceID).Where("source_id = ?", source.ID).Exec(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("drop %s: %w", table, err))
		}
	}
	return errors.Join(errs...)
}

// dropKeptBefore drops what nobody came back for.
func dropKeptBefore(ctx context.Context, db bun.IDB, before time.Time) error {
	const idle = "NOT EXISTS (SELECT 1 FROM sources AS s WHERE s.id = k.source_id AND s.status IN ('queued', 'processing'))"
	var errs []error
	for _, table := range []string{"source_pages", "staged_vectors"} {
		_, err := db.NewDelete().TableExpr(table+" AS k").Comment(postgres.AllTenants("the sweep of what unfinished runs kept")).
			Where("k.stored_at <= ?", before).Where(idle).Exec(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep %s: %w", table, err))
		}
	}
	return errors.Join(errs...)
}
