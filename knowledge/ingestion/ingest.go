package ingestion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
)

// Source of these: decisions, Knowledge base.
const (
	defaultHeartbeat = 5 * time.Second
	// takeoverAfter is how long a run may be silent before another may take its source.
	takeoverAfter = 60 * time.Second
	// maxAttempts is how many runs a source gets.
	maxAttempts = 5
)

// codeInternal is the error code of a source that failed without a fault of its own; the others are
// document.ErrorKind. Source: decisions, Knowledge base.
const codeInternal = "internal"

// codeRetrying is the error code of a queued source whose last attempt failed for a passing reason.
const codeRetrying = "retrying"

// firstRetry is the pause after the first failed run; each later one is four times as long.
const firstRetry = 5 * time.Second

// maxAskedPause bounds how long an outside party may have a source wait.
const maxAskedPause = time.Hour

// errLost ends a run whose source was taken over, queued anew or deleted.
var errLost = errors.New("the source belongs to another run")

// Ingest claims the source and reads, cuts and embeds it. It returns nil when there is nothing
// to do: another run is at work, it is not due yet, or it was deleted. A fault of the document
// makes the source failed, at once; any other makes it due again later, and failed after the
// fifth attempt: both are outcomes, not errors. When ctx ends the source goes back into the
// queue. Errors: those of claiming and of writing the outcome; the source is due again then.
func (s *Service) Ingest(ctx context.Context, id knowledge.SourceID) error {
	source, claimed, err := s.claim(ctx, id)
	if err != nil || !claimed {
		return err
	}
	r := &run{Service: s, source: source}
	if source.Attempt > maxAttempts { // the runs before crashed, and none wrote why
		return r.settle(ctx, errors.New("every run before ended without a word"))
	}
	note(ctx, source)
	ctx, span := telemetry.Start(source.Origin().Rejoin(ctx), telemetry.Internal, "ingest source",
		telemetry.Number("parlance.attempt", source.Attempt), telemetry.Text("parlance.media_type", document.BareType(source.MediaType)))
	work, stop := context.WithCancelCause(ctx)
	var heartbeats sync.WaitGroup
	heartbeats.Go(func() { s.sendHeartbeats(work, stop, source) })
	err = r.process(work)
	span.End(err)
	if errors.Is(context.Cause(work), errLost) {
		err = errLost
	}
	stop(nil)
	heartbeats.Wait()
	return r.settle(ctx, err)
}

// note puts the source on the log lines of its run.
func note(ctx context.Context, source knowledge.Source) {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(source.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(source.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySourceID, string(source.ID))
}

// claim makes this run the source's owner. It is the one read before the tenant is known.
func (s *Service) claim(ctx context.Context, id knowledge.SourceID) (knowledge.Source, bool, error) {
	now := s.moment()
	var source knowledge.Source
	err := s.db.NewRaw(postgres.RawForAllTenants("a task names its source only", `
		UPDATE sources
		SET status = 'processing', stage = CASE WHEN stage = 'fetching' THEN stage ELSE 'parsing' END, progress = 0,
		    owner = ?, attempt = attempt + 1, queued_until = NULL, heartbeat_at = ?, updated_at = ?,
		    pages_done = CASE WHEN stage = 'fetching' THEN pages_done ELSE 0 END,
		    ocr_page_count = CASE WHEN stage = 'fetching' THEN ocr_page_count ELSE 0 END,
		    error_code = CASE WHEN stage = 'fetching' THEN error_code ELSE '' END,
		    error_message = CASE WHEN stage = 'fetching' THEN error_message ELSE '' END
		WHERE id = ?
		  AND (status = 'queued' AND due_at <= ? OR status = 'processing' AND heartbeat_at <= ?)
		RETURNING *`), rand.Text(), now, now, id, now, now.Add(-takeoverAfter)).Scan(ctx, &source)
	if postgres.NoRows(err) {
		return knowledge.Source{}, false, nil
	}
	if err != nil {
		return knowledge.Source{}, false, fmt.Errorf("claim source %s: %w", id, err)
	}
	return source, true, nil
}

// sendHeartbeats says that the run is alive until ctx ends, and ends the run when the source is
// lost. While the database is unavailable the run goes on: a takeover is decided by what it knows.
func (s *Service) sendHeartbeats(ctx context.Context, stop context.CancelCauseFunc, source knowledge.Source) {
	ticker.Until(ctx, s.heartbeatEvery, func() (done bool) {
		mine, err := postgres.Changed(s.db.ExecContext(ctx, `
			UPDATE sources
			SET heartbeat_at = ?
			WHERE tenant_id = ?
			  AND id = ?
			  AND owner = ?`, s.moment(), source.TenantID, source.ID, source.Owner))
		if err == nil && !mine {
			stop(errLost)
			return true
		}
		return false
	})
}

// settle writes the outcome of a run that did not commit. The worker may be stopping, so it has
// its own time.
func (r *run) settle(ctx context.Context, cause error) error {
	if cause == nil {
		return nil
	}
	source := r.source
	log := r.log.With(telemetry.KeyAttempt, source.Attempt)
	stopping := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	now := r.moment()
	if errors.Is(cause, errLost) {
		log.InfoContext(ctx, "source taken over from this run")
		return nil
	}
	if wrong, ok := errors.AsType[*document.Error](cause); ok {
		log.InfoContext(ctx, "source refused", telemetry.KeyReason, string(wrong.Kind))
		return errors.Join(r.fail(ctx, source, string(wrong.Kind), wrong.Message, now), dropKept(ctx, r.db, source))
	}
	if stopping {
		return r.retry(ctx, source, source.Attempt-1, now, "")
	}
	attempt := source.Attempt
	if source.Stage == knowledge.StageFetching && (attempt >= maxAttempts || isFinal(cause)) {
		log.InfoContext(ctx, "source not fetched", telemetry.KeyError, cause)
		return r.endFetch(ctx, Fetched{}, blamed(cause))
	}
	if r.kept { // each such run does a part of the work for good, so there is an end to them
		attempt--
	}
	if attempt >= maxAttempts {
		log.ErrorContext(ctx, "source given up", telemetry.KeyError, cause)
		return r.fail(ctx, source, codeInternal, gaveUp(cause), now)
	}
	log.WarnContext(ctx, "source will be tried again", telemetry.KeyError, cause)
	return r.retry(ctx, source, attempt, now.Add(retryPause(max(attempt, 1), cause)), whyAgain(cause))
}

// retryPause is 5 s, 20 s, 80 s, 320 s, or what the outside party asked for when that is longer.
func retryPause(attempt int, cause error) time.Duration {
	asked := fault.From(cause).RetryAfter
	if failed, ok := errors.AsType[*knowledge.FetchError](cause); ok {
		asked = failed.RetryAfter
	}
	asked = min(asked, maxAskedPause)
	return max(firstRetry<<(2*(attempt-1)), asked)
}

// gaveUp is what a person is told after the last attempt: what the outside party did, or that
// it was us.
func gaveUp(cause error) string {
	return fmt.Sprintf("The source could not be processed in %d attempts. %s Reprocess it later.", maxAttempts, blamed(cause))
}

// whyAgain is what a person is told while the source waits for its next attempt.
func whyAgain(cause error) string { return blamed(cause) + " It is tried again by itself." }

// blamed is a sentence about what an outside party did, or that it was us.
func blamed(cause error) string {
	if failed, ok := errors.AsType[*knowledge.FetchError](cause); ok {
		return failed.Message
	}
	if decided := fault.From(cause); decided.Kind() != fault.Internal {
		return decided.Message
	}
	return "Something went wrong on our side."
}

// fail ends the source's ingestion. Chunks that it has from before stay. A replacement that failed
// is given up: the source goes back to the content that its chunks are of.
func (s *Service) fail(ctx context.Context, source knowledge.Source, code, message string, now time.Time) error {
	if source.Replacing {
		message = "The new content could not be used, and the one before answers still: " + message
	}
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		failed, err := postgres.Changed(tx.ExecContext(ctx, `
			UPDATE sources
			SET status = 'failed', stage = '', owner = '', error_code = ?, error_message = ?, updated_at = ?
			WHERE tenant_id = ?
			  AND id = ?
			  AND owner = ?`, code, message, now, source.TenantID, source.ID, source.Owner))
		if err != nil || !failed {
			return err
		}
		if source.Replacing {
			if err := knowledge.GoBack(ctx, tx, source, now); err != nil {
				return err
			}
		}
		return knowledge.QueueAgain(ctx, tx, source, now)
	})
	if err != nil {
		return fmt.Errorf("mark source failed: %w", err)
	}
	return nil
}

// retry puts the source back into the queue; why is empty when nothing went wrong with it.
func (s *Service) retry(ctx context.Context, source knowledge.Source, attempt int, dueAt time.Time, why string) error {
	code := ""
	if why != "" {
		code = codeRetrying
	}
	_, err := s.db.ExecContext(ctx, `
		UPDATE sources
		SET status = 'queued', stage = CASE WHEN stage = 'fetching' THEN stage ELSE '' END, progress = 0, owner = '',
		    heartbeat_at = NULL, attempt = ?, due_at = ?, queued_until = NULL, error_code = ?, error_message = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?`, attempt, dueAt, code, why, s.moment(), source.TenantID, source.ID, source.Owner)
	if err != nil {
		return fmt.Errorf("queue source again: %w", err)
	}
	return nil
}
