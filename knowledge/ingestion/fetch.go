package ingestion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
)

// Fetched is what a URL said.
type Fetched struct {
	// Replaced says that it has other content than the source had, which the source is queued with.
	Replaced bool
	// ETag and LastModified are of the content.
	ETag, LastModified string
}

// Fetcher is package webpages.
type Fetcher interface {
	// Fetch asks the source's URL for its content, and makes it the source's when it is another.
	// Errors: *knowledge.FetchError, those of the bucket and the database.
	Fetch(ctx context.Context, source knowledge.Source) (Fetched, error)
}

// queuedAtOnce is how many sources queueFetches queues.
const queuedAtOnce = 500

// errNoFetcher is for an installation that was put together without one.
var errNoFetcher = &knowledge.FetchError{Message: "This installation does not fetch URLs."}

// fetch is a run that only asks the source's URL. When it has other content, the source is queued
// with that, and is no longer this run's.
func (r *run) fetch(ctx context.Context) error {
	if r.fetcher == nil {
		return errNoFetcher
	}
	return r.stage(ctx, knowledge.StageFetching, func(ctx context.Context) error {
		got, err := r.fetcher.Fetch(ctx, r.source)
		if err != nil {
			return err
		}
		return r.endFetch(ctx, got, "")
	})
}

// isFinal says that another try of a fetch does not help.
func isFinal(cause error) bool {
	failed, ok := errors.AsType[*knowledge.FetchError](cause)
	return ok && !failed.Passing
}

// endFetch notes what a URL said, or why it said nothing, and when it is asked again. A source that
// got no other content is again what it was before.
func (r *run) endFetch(ctx context.Context, got Fetched, why string) error {
	now, next, source := r.moment(), bun.NullTime{}, r.source
	if every := time.Duration(source.RefreshEverySeconds) * time.Second; every > 0 {
		next.Time = now.Add(every)
	}
	noted := `
		UPDATE sources
		SET etag = ?, last_modified = ?, fetched_at = ?, fetch_error = '', fetch_due_at = ?
		WHERE tenant_id = ?
		  AND id = ?`
	args := []any{got.ETag, got.LastModified, now, next, source.TenantID, source.ID}
	if why != "" {
		noted = `
		UPDATE sources
		SET fetch_error = ?, fetch_due_at = ?
		WHERE tenant_id = ?
		  AND id = ?`
		args = []any{why, next, source.TenantID, source.ID}
	}
	err := postgres.InTx(ctx, r.db, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx, noted, args...); err != nil || got.Replaced {
			return err
		}
		return r.asBefore(ctx, tx, why, now)
	})
	if err != nil {
		return fmt.Errorf("end the fetch of a source: %w", err)
	}
	return nil
}

// asBefore gives a source that was only fetched the status that it had: failed when its URL never
// gave content, or when the content it gave could not be read.
func (r *run) asBefore(ctx context.Context, tx bun.Tx, why string, now time.Time) error {
	var after knowledge.Source
	err := tx.NewRaw(`
		UPDATE sources AS s
		SET status = CASE WHEN was.code <> '' OR s.ready_at IS NULL THEN 'failed' ELSE 'ready' END,
		    error_code = was.code, error_message = CASE WHEN was.code = ? THEN ? WHEN was.code = '' THEN '' ELSE s.error_message END,
		    stage = '', progress = CASE WHEN s.ready_at IS NULL THEN 0 ELSE 100 END, owner = ''
		FROM (
		    SELECT q.id,
		           CASE WHEN q.blob_key = '' THEN ? WHEN q.error_code IN (?, ?) THEN '' ELSE q.error_code END AS code
		    FROM sources AS q
		    WHERE q.tenant_id = ?
		      AND q.id = ?
		) AS was
		WHERE s.id = was.id
		  AND s.tenant_id = ?
		  AND s.owner = ?
		RETURNING s.*`, knowledge.CodeFetchFailed, why, knowledge.CodeFetchFailed, codeRetrying, knowledge.CodeFetchFailed,
		r.source.TenantID, r.source.ID, r.source.TenantID, r.source.Owner).Scan(ctx, &after)
	if postgres.NoRows(err) {
		return nil // it was taken over, or is gone
	}
	if err != nil || !after.ReprocessWanted {
		return err
	}
	return knowledge.QueueAgain(ctx, tx, after, now)
}

// queueFetches queues the sources whose URL is to be asked again.
func (s *Service) queueFetches(ctx context.Context, now time.Time) error {
	_, err := s.db.NewRaw(postgres.RawForAllTenants("all sources are fetched when they are due", `
		UPDATE sources
		SET status = 'queued', stage = 'fetching', attempt = 0, due_at = ?, queued_until = NULL, traceparent = '', request_id = ''
		WHERE id IN (
		    SELECT q.id
		    FROM sources AS q
		    WHERE q.fetch_due_at <= ?
		      AND q.status IN ('ready', 'failed')
		    ORDER BY q.fetch_due_at
		    LIMIT ?
		    FOR UPDATE SKIP LOCKED
		)`), now, now, queuedAtOnce).Exec(ctx)
	if err != nil {
		return fmt.Errorf("queue sources to be fetched: %w", err)
	}
	return nil
}
