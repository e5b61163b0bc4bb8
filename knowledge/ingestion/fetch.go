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
	// SHA256 is the content's; empty: the server has only said that it is as before.
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
	err := postgres.InTx(ctx, r.db, func(ctx context.Context, tx bun.Tx) error {
		if got.Replaced {
			return r.keepValidators(ctx, tx, got)
		}
		return r.asBefore(ctx, tx, got, why)
	})
	if err != nil {
		return fmt.Errorf("end the fetch of a source: %w", err)
	}
	return nil
}

// keepValidators keeps what a URL said of its content, which the source was queued with, if it has
// that still.
func (r *run) keepValidators(ctx context.Context, tx bun.Tx, got Fetched) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET etag = ?, last_modified = ?, fetched_at = ?
		WHERE tenant_id = ?
		  AND id = ?
		  AND sha256 = ?`, got.ETag, got.LastModified, r.moment(), r.source.TenantID, r.source.ID, got.SHA256)
	return err
}

// asBefore gives a source that was only fetched the status that it had: failed when its URL never
// gave content, or when the content it gave could not be read and is there still.
func (r *run) asBefore(ctx context.Context, tx bun.Tx, got Fetched, why string) error {
	now, s := r.moment(), r.source
	if why == "" {
		s.ETag, s.LastModified, s.FetchedAt = got.ETag, got.LastModified, now
	}
	switch {
	case s.BlobKey == "":
		s.ErrorCode, s.ErrorMessage = knowledge.CodeFetchFailed, why
	case got.SHA256 != "", s.ErrorCode == codeRetrying, s.ErrorCode == knowledge.CodeFetchFailed:
		s.ErrorCode, s.ErrorMessage = "", ""
	}
	s.Status, s.Progress = knowledge.StatusReady, progressReady
	if !s.Usable() {
		s.Progress = 0
	}
	if s.ErrorCode != "" || !s.Usable() {
		s.Status = knowledge.StatusFailed
	}
	var after knowledge.Source
	err := tx.NewRaw(`
		UPDATE sources
		SET status = ?, stage = '', progress = ?, owner = '', error_code = ?, error_message = ?,
		    etag = ?, last_modified = ?, fetched_at = ?, fetch_error = ?,
		    fetch_due_at = CASE WHEN refresh_every_seconds > 0 THEN ?::timestamptz + make_interval(secs => refresh_every_seconds) END
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?
		RETURNING *`, s.Status, s.Progress, s.ErrorCode, s.ErrorMessage, s.ETag, s.LastModified, bun.NullTime{Time: s.FetchedAt}, why, now,
		s.TenantID, s.ID, s.Owner).Scan(ctx, &after)
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
