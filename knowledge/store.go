package knowledge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// forUpdate locks the row that selectSource reads.
const forUpdate = "UPDATE"

// selectSource reads a source. lock is empty or forUpdate. Errors: NotFound.
func selectSource(ctx context.Context, db bun.IDB, ref workspaces.Ref, id SourceID, lock string) (Source, error) {
	var source Source
	query := db.NewSelect().Model(&source).Where("s.tenant_id = ?", ref.TenantID).
		Where("s.workspace_id = ?", ref.ID).Where("s.id = ?", id)
	if lock != "" {
		query = query.For(lock)
	}
	err := query.Scan(ctx)
	return source, postgres.OrNoSuch(err, "source", string(id))
}

// chunkKey is a chunk's place in its source: chunks are ordered by index, which Key has no word
// for, so it goes as a time of that many microseconds.
func chunkKey(c Chunk) postgres.Key {
	return postgres.Key{CreatedAt: time.UnixMicro(int64(c.Index)).UTC()}
}

func listChunks(ctx context.Context, db bun.IDB, source Source, page postgres.Page) ([]Chunk, string, error) {
	var chunks []Chunk
	query := db.NewSelect().Model(&chunks).ExcludeColumn("embedding").Where("c.tenant_id = ?", source.TenantID).
		Where("c.workspace_id = ?", source.WorkspaceID).Where("c.source_id = ?", source.ID).
		OrderExpr("c.index").Limit(int64(page.Limit()))
	if page.After != nil {
		query = query.Where("c.index > ?", page.After.CreatedAt.UnixMicro())
	}
	if err := query.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list chunks: %w", err)
	}
	for i := range chunks {
		chunks[i].Disabled = slices.Contains(source.DisabledChunks, int32(chunks[i].Index))
	}
	chunks, next := postgres.Cut(page, chunks, chunkKey)
	return chunks, next, nil
}

// requeue puts a source into the queue, or notes that it goes there when the run has ended that is
// at work. One that waits is only told how to be read.
func requeue(
	ctx context.Context, tx bun.IDB, ref workspaces.Ref, id SourceID, p ReprocessParams, now time.Time,
) (queued bool, err error) {
	origin, languages := telemetry.OriginOf(ctx), textArray(p.OCRLanguages)
	queued, err = postgres.Changed(tx.ExecContext(ctx, `
		UPDATE sources
		SET status = 'queued', stage = CASE WHEN blob_key = '' THEN 'fetching' ELSE '' END, progress = 0, force_ocr = ?,
		    owner = '', heartbeat_at = NULL,
		    ocr_languages = COALESCE(NULLIF(?::text[], '{}'), ocr_languages),
		    attempt = 0, due_at = ?, queued_until = NULL, error_code = '', error_message = '', updated_at = ?,
		    traceparent = ?, request_id = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?
		  AND status IN ('ready', 'failed')`,
		p.ForceOCR, languages, now, now, origin.Traceparent, origin.RequestID, ref.TenantID, ref.ID, id))
	if err != nil || queued {
		return queued, wrapRequeue(err)
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE sources
		SET force_ocr = CASE WHEN status = 'queued' THEN force_ocr OR ? ELSE force_ocr END,
		    stage = CASE WHEN status = 'queued' AND blob_key <> '' THEN '' ELSE stage END,
		    ocr_languages = CASE WHEN status = 'queued' THEN COALESCE(NULLIF(?::text[], '{}'), ocr_languages) ELSE ocr_languages END,
		    due_at = CASE WHEN status = 'queued' THEN least(due_at, ?) ELSE due_at END,
		    reprocess_force_ocr = CASE WHEN status = 'processing' THEN ? ELSE reprocess_force_ocr END,
		    reprocess_ocr_languages = CASE WHEN status = 'processing' THEN ?::text[] ELSE reprocess_ocr_languages END,
		    reprocess_wanted = reprocess_wanted OR status = 'processing', updated_at = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?
		  AND status IN ('queued', 'processing')`, p.ForceOCR, languages, now, p.ForceOCR, languages, now, ref.TenantID, ref.ID, id)
	return false, wrapRequeue(err)
}

func wrapRequeue(err error) error {
	if err != nil {
		return fmt.Errorf("queue source again: %w", err)
	}
	return nil
}

// QueueAgain puts a source whose run ends in tx into the queue when another run was asked for
// meanwhile.
func QueueAgain(ctx context.Context, tx bun.IDB, source Source, now time.Time) error {
	queued, err := postgres.Changed(tx.ExecContext(ctx, `
		UPDATE sources
		SET status = 'queued', progress = 0, force_ocr = reprocess_force_ocr,
		    ocr_languages = COALESCE(NULLIF(reprocess_ocr_languages, '{}'), ocr_languages), heartbeat_at = NULL, attempt = 0, due_at = ?,
		    queued_until = NULL, reprocess_wanted = false, reprocess_force_ocr = false, reprocess_ocr_languages = '{}'
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?
		  AND reprocess_wanted`, now, source.TenantID, source.WorkspaceID, source.ID))
	if err != nil || !queued {
		return wrapRequeue(err)
	}
	return appendQueued(ctx, tx, source, now)
}

// textArray is a parameter of the type text[], '{}' for nil.
func textArray(list []string) any { return pgdialect.Array(append([]string{}, list...)) }

func deleteSource(ctx context.Context, tx bun.IDB, ref workspaces.Ref, id SourceID) (Source, bool, error) {
	var source Source
	err := tx.NewDelete().Model(&source).Where("tenant_id = ?", ref.TenantID).
		Where("workspace_id = ?", ref.ID).Where("id = ?", id).Returning("*").Scan(ctx)
	if postgres.NoRows(err) {
		return Source{}, false, nil
	}
	if err != nil {
		return Source{}, false, fmt.Errorf("delete source: %w", err)
	}
	return source, true, nil
}

// countStored counts bytes of a new source against the plan; see freeBytes, which locks the same
// row.
func countStored(ctx context.Context, tx bun.IDB, ref workspaces.Ref, bytes int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE workspaces
		SET kb_used_bytes = kb_used_bytes + ?
		WHERE tenant_id = ?
		  AND id = ?`, bytes, ref.TenantID, ref.ID)
	if err != nil {
		return fmt.Errorf("count stored bytes: %w", err)
	}
	return meterBytes(ctx, tx, ref, bytes)
}

// meterBytes counts bytes that were added to what is stored, or removed from it when they are
// negative. The caller's transaction changes the workspace's row, so it happens once.
func meterBytes(ctx context.Context, tx bun.IDB, ref workspaces.Ref, bytes int64) error {
	used := usage.Record{Source: idgen.New(idgen.Request), Meter: usage.KBBytes, Quantity: bytes}
	return usage.Add(ctx, tx, usage.Place{Workspace: ref}, used)
}

// releaseStored is the reverse of countStored; it locks the same row.
func releaseStored(ctx context.Context, tx bun.IDB, ref workspaces.Ref, bytes int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE workspaces
		SET kb_used_bytes = greatest(kb_used_bytes - ?, 0)
		WHERE tenant_id = ?
		  AND id = ?`, bytes, ref.TenantID, ref.ID)
	if err != nil {
		return fmt.Errorf("release storage: %w", err)
	}
	return meterBytes(ctx, tx, ref, -bytes)
}

// sharedBlob is the key under which the workspace has these bytes already; empty: it has not.
func sharedBlob(ctx context.Context, tx bun.IDB, ref workspaces.Ref, sha256 string) (string, error) {
	var key string
	err := tx.NewRaw(`
		SELECT blob_key
		FROM sources
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND sha256 = ?
		LIMIT 1`, ref.TenantID, ref.ID, sha256).Scan(ctx, &key)
	if err != nil && !postgres.NoRows(err) {
		return "", fmt.Errorf("look for equal bytes: %w", err)
	}
	return key, nil
}

func insertSource(ctx context.Context, tx bun.IDB, source Source) error {
	if _, err := tx.NewInsert().Model(&source).Exec(ctx); err != nil {
		return fmt.Errorf("insert source: %w", err)
	}
	return nil
}

// noteStray remembers a blob that no row owns yet.
func noteStray(ctx context.Context, db bun.IDB, key string, now time.Time) error {
	_, err := db.ExecContext(ctx, `
		INSERT INTO stray_blobs (key, noted_at)
		VALUES (?, ?)`, key, now)
	if err != nil {
		return fmt.Errorf("note blob %s: %w", key, err)
	}
	return nil
}

// ownStray says that a row owns the blob from now on; false when the sweeper has condemned it.
func ownStray(ctx context.Context, tx bun.IDB, key string) (bool, error) {
	taken, err := postgres.Changed(tx.ExecContext(ctx, "DELETE FROM stray_blobs WHERE key = ? AND NOT condemned", key))
	if err != nil {
		return false, fmt.Errorf("own blob %s: %w", key, err)
	}
	return taken, nil
}

// condemn forbids everybody to own the blob; false when somebody does.
func condemn(ctx context.Context, db bun.IDB, key string) (bool, error) {
	condemned, err := postgres.Changed(db.NewRaw(postgres.RawForAllTenants("nobody at all may own a blob that goes", `
		UPDATE stray_blobs
		SET condemned = true
		WHERE key = ?
		  AND NOT EXISTS (SELECT 1 FROM sources WHERE blob_key = ? OR previous_blob_key = ? AND previous_blob_key <> '')`), key, key, key).
		Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("condemn blob %s: %w", key, err)
	}
	return condemned, nil
}

// forgetStray ends the watch over a blob that is gone or owned.
func forgetStray(ctx context.Context, db bun.IDB, key string) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM stray_blobs WHERE key = ?", key); err != nil {
		return fmt.Errorf("forget blob %s: %w", key, err)
	}
	return nil
}

func strayBlobs(ctx context.Context, db bun.IDB, before time.Time, limit int) ([]string, error) {
	var keys []string
	err := db.NewRaw(`
		SELECT key
		FROM stray_blobs
		WHERE noted_at <= ?
		ORDER BY noted_at
		LIMIT ?`, before, limit).Scan(ctx, &keys)
	if err != nil {
		return nil, fmt.Errorf("list stray blobs: %w", err)
	}
	return keys, nil
}
