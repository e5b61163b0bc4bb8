package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/workspaces"
)

const (
	// claimLife is how long a worker that does not answer any more keeps a request.
	claimLife = time.Minute
	// queuedTime is how long a task counts as being on its way.
	queuedTime = 10 * time.Second
	// busyPause is how long a request is delayed when its tenant has its share of the workers.
	busyPause = 200 * time.Millisecond
	// retryPause is the pause after the first failure; it is doubled with each, up to maxRetryPause.
	retryPause    = 5 * time.Second
	maxRetryPause = 10 * time.Minute
	// settleTimeout bounds what is written about an attempt after it ended.
	settleTimeout = 10 * time.Second
	// sweepBatch is how many files one sweep deletes.
	sweepBatch = 100
)

// Process does a request that is due. It does nothing when the request is done or another worker
// has it, so it may be called any number of times. A request that fails is due again later.
func (s *Service) Process(ctx context.Context, tenant workspaces.TenantID, id ID) error {
	now := s.now()
	request, ok, err := claim(ctx, s.DB, tenant, id, now, now.Add(claimLife))
	if err != nil || !ok {
		return err
	}
	telemetry.Note(ctx, telemetry.KeyTenantID, string(request.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(request.WorkspaceID))
	working, stop := s.keepAlive(ctx, request)
	if request.Kind == Erasure {
		err = s.doErasure(working, request)
	} else {
		err = s.doExport(working, request)
	}
	stop()
	if err == nil || errors.Is(context.Cause(working), errTaken) || errors.Is(err, errTaken) {
		return nil
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return s.giveBack(writing, request, err, ctx.Err() != nil)
}

// keepAlive moves the end of the claim on until stop is called. The context ends when another
// worker has the request.
func (s *Service) keepAlive(parent context.Context, request Request) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker.Every(ctx, claimLife/4, func() {
			request.DueAt = s.now().Add(claimLife)
			if err := update(ctx, s.DB, request, "due_at"); errors.Is(err, errTaken) {
				cancel(errTaken)
			}
		})
	}()
	return ctx, func() { cancel(nil); <-done }
}

// giveBack ends an attempt that failed, or was stopped with its worker.
func (s *Service) giveBack(ctx context.Context, request Request, cause error, stopped bool) error {
	request.DueAt, request.Status, request.Error = s.now(), Queued, postgres.Decide(cause).Message
	switch {
	case stopped: // another worker may go on at once
		request.Error = ""
	case request.Attempts >= maxAttempts:
		request.Status, request.FinishedAt = Failed, s.now()
	default:
		request.DueAt = request.DueAt.Add(min(retryPause<<(request.Attempts-1), maxRetryPause))
	}
	s.Log.WarnContext(ctx, "privacy request not done", "request", request.ID, "kind", request.Kind,
		telemetry.KeyAttempt, request.Attempts, telemetry.KeyError, cause)
	err := update(ctx, s.DB, request, "due_at", "error", "status", "finished_at")
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// doErasure erases, counts what is left and stores the tombstone.
func (s *Service) doErasure(ctx context.Context, request Request) error {
	if err := s.erase(ctx, &request); err != nil {
		return errors.Join(err, update(ctx, s.DB, request, "counts"))
	}
	left, err := s.count(ctx, s.DB, request.Ref(), request.UserID)
	if err != nil {
		return err
	}
	request.Status, request.FinishedAt, request.Remaining, request.Error = Ready, s.now(), &left, ""
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if err := forgetUser(ctx, tx, request); err != nil {
			return err
		}
		done := request
		done.UserID = ""
		return update(ctx, tx, done, "user_id", "status", "finished_at", "counts", "remaining", "error")
	})
}

// dueSQL selects requests that are due, tenants in turn, and marks them as queued.
const dueSQL = `,
due AS (
    SELECT own.id,
           own.rank,
           round_robin.place
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT q.id,
               row_number() OVER (ORDER BY q.due_at, q.id) AS rank
        FROM privacy_requests AS q
        WHERE q.tenant_id = round_robin.tenant_id
          AND q.finished_at IS NULL
          AND q.due_at <= ?
          AND (q.queued_until IS NULL OR q.queued_until < ?)
        ORDER BY q.due_at
        LIMIT ?
    ) AS own
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
    ORDER BY own.rank, round_robin.place
    LIMIT ?
), picked AS (
    SELECT p.id,
           due.rank,
           due.place
    FROM due
    JOIN privacy_requests AS p ON p.id = due.id
    -- Another worker may have been faster.
    WHERE p.finished_at IS NULL
      AND (p.queued_until IS NULL OR p.queued_until < ?)
    FOR UPDATE OF p SKIP LOCKED
), queued AS (
    UPDATE privacy_requests AS p
    SET queued_until = ?
    FROM picked
    WHERE p.id = picked.id
    RETURNING p.*, picked.rank, picked.place
)
SELECT id, tenant_id, workspace_id, traceparent, request_id
FROM queued
ORDER BY rank, place, id`

// Due returns up to ask.Room requests that are due and have no task on its way, in the order of the
// tenants' turns, and marks them as queued for ten seconds.
func (s *Service) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]Request, error) {
	var due []Request
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("privacy_requests", "w.finished_at IS NULL") + dueSQL
	err := s.DB.NewRaw(postgres.RawForAllTenants("tenants take turns with their privacy requests", query),
		ask.After, ask.After, ask.After, now, now, ask.Room, pgdialect.Array(ask.Except), ask.Room, now, now.Add(queuedTime)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("list due privacy requests: %w", err)
	}
	return due, nil
}

// Reschedule delays a request, because its tenant has its share of the workers.
func (s *Service) Reschedule(ctx context.Context, tenant workspaces.TenantID, id ID) error {
	_, err := s.DB.NewUpdate().Model((*Request)(nil)).Set("due_at = greatest(p.due_at, ?)", s.now().Add(busyPause)).
		Set("queued_until = NULL").Where("p.tenant_id = ?", tenant).Where("p.id = ?", id).Where("p.finished_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("reschedule privacy request: %w", err)
	}
	return nil
}

// Sweep deletes the files of exports that have expired or whose workspace was deleted.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	files, err := uselessFiles(ctx, s.DB, now, sweepBatch)
	if err != nil {
		return err
	}
	var failures []error // one file's error must not keep the others
	for _, f := range files {
		failures = append(failures, s.dropFile(ctx, f))
	}
	return errors.Join(failures...)
}

func (s *Service) dropFile(ctx context.Context, f file) error {
	if err := s.Bucket.Delete(ctx, f.Key); err != nil {
		return fmt.Errorf("delete the file of an export: %w", err)
	}
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*Request)(nil)).Set("file_key = ''").Where("p.tenant_id = ?", f.TenantID).
			Where("p.id = ?", f.RequestID).Where("p.file_key = ?", f.Key).Exec(ctx)
		if err != nil {
			return fmt.Errorf("take the file out of its request: %w", err)
		}
		return forgetFile(ctx, tx, f)
	})
}
