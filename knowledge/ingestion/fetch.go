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
	// NotModified says that the server has only said that the content is as before.
	NotModified bool
	// SHA256 is the content's; empty: it was not sent.
	SHA256 string
	// ETag and LastModified are of the content.
	ETag, LastModified string
}

// Fetcher is package webpages.
type Fetcher interface {
	// Fetch asks the source's URL for its content, and makes it the source's when it is another.
	// Errors: *knowledge.FetchError, those of the bucket and the database.
	Fetch(ctx context.Context, source knowledge.Source) (Fetched, error)
}

const (
	// fetchPause is how long a source waits for a slot.
	fetchPause = 2 * time.Second
	// fetchesAtOnce is how many URLs this process fetches at once.
	fetchesAtOnce = 4
)

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
	leave, ok := r.slots.fetch.TryEnter(string(r.source.TenantID))
	if !ok { // a slow site does not keep runs from what is there to be read
		return r.retry(ctx, r.source, r.source.Attempt-1, r.moment().Add(fetchPause), "")
	}
	defer leave()
	return r.stage(ctx, knowledge.StageFetching, func(ctx context.Context) error {
		got, err := r.fetcher.Fetch(ctx, r.source)
		if errors.Is(err, knowledge.ErrTakenOver) {
			return errLost
		}
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
	now := r.moment()
	err := postgres.InTx(ctx, r.db, func(ctx context.Context, tx bun.Tx) error {
		if got.Replaced {
			return r.keepValidators(ctx, tx, got, "sha256", got.SHA256, now)
		}
		if why == "" {
			if err := r.keepValidators(ctx, tx, got, "owner", r.source.Owner, now); err != nil {
				return err
			}
		}
		return r.asBefore(ctx, tx, got, why, now)
	})
	if err != nil {
		return fmt.Errorf("end the fetch of a source: %w", err)
	}
	return nil
}

// keepValidators keeps what a URL said of the content that the source has, if it has it still: when
// column, owner or sha256, is is.
func (r *run) keepValidators(ctx context.Context, tx bun.Tx, got Fetched, column bun.Ident, is string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET etag = ?, last_modified = ?, fetched_at = ?, fetch_error = ''
		WHERE tenant_id = ?
		  AND id = ?
		  AND ? = ?`, got.ETag, got.LastModified, now, r.source.TenantID, r.source.ID, column, is)
	return err
}

// asBefore gives a source that was only fetched the status that it had: failed when its URL never
// gave content, or when the content it gave could not be read and is there still.
func (r *run) asBefore(ctx context.Context, tx bun.Tx, got Fetched, why string, now time.Time) error {
	var after knowledge.Source
	err := tx.NewRaw(`
		UPDATE sources AS s
		SET status = CASE WHEN was.code <> '' OR s.ready_at IS NULL THEN 'failed' ELSE 'ready' END,
		    error_code = was.code, error_message = CASE WHEN was.code = ? THEN ? WHEN was.code = '' THEN '' ELSE s.error_message END,
		    fetch_error = ?,
		    fetch_due_at = CASE WHEN s.refresh_every_seconds > 0 THEN ?::timestamptz + make_interval(secs => s.refresh_every_seconds) END,
		    stage = '', progress = CASE WHEN s.ready_at IS NULL THEN 0 ELSE 100 END, owner = ''
		FROM (
		    SELECT q.id,
		           CASE WHEN q.blob_key = '' THEN ? WHEN ? OR q.error_code IN (?, ?) THEN '' ELSE q.error_code END AS code
		    FROM sources AS q
		    WHERE q.tenant_id = ?
		      AND q.id = ?
		) AS was
		WHERE s.id = was.id
		  AND s.tenant_id = ?
		  AND s.owner = ?
		RETURNING s.*`, knowledge.CodeFetchFailed, why, why, now, knowledge.CodeFetchFailed, got.SHA256 != "", codeRetrying,
		knowledge.CodeFetchFailed,
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
