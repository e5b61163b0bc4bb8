package knowledge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

const (
	// strayAge is far above the longest upload.
	strayAge = 24 * time.Hour
	// sweepBatch is how many stray blobs one Sweep looks at.
	sweepBatch = 500
)

// SweepBlob deletes a blob that may have lost its last source; one that is owned stays.
// Repeating it is harmless.
func (s *Service) SweepBlob(ctx context.Context, key string) error { return s.sweep(ctx, key) }

// sweep deletes the blob unless a row owns it, and ends the watch over it last.
func (s *Service) sweep(ctx context.Context, key string) error {
	condemned, err := condemn(ctx, s.db, key)
	if err != nil {
		return err
	}
	if condemned {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete blob: %w", err)
		}
	}
	return forgetStray(ctx, s.db, key)
}

// Sweep deletes blobs that nobody has owned for a day: those of uploads that a crash ended, also
// halfway, and of workspaces that were deleted. It forgets what such uploads held of their plans.
// Call it every few minutes.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	keys, err := strayBlobs(ctx, s.db, now.Add(-strayAge), sweepBatch)
	if err != nil {
		return err
	}
	failed := []error{dropOverdueHolds(ctx, s.db, now), s.bucket.Tidy(ctx, now.Add(-strayAge))}
	for _, key := range keys {
		failed = append(failed, s.sweep(ctx, key)) // one bad blob must not keep the others
	}
	return errors.Join(failed...)
}

// RequeueOtherModels queues up to limit ready sources, of all tenants, that another model than
// the configured one embedded, and says how many. Their old chunks stay, but a query compares
// vectors of its own model only. Call it after a change of the model, until it returns 0.
func (s *Service) RequeueOtherModels(ctx context.Context, now time.Time, limit int) (int, error) {
	now = now.UTC().Truncate(time.Microsecond)
	var queued []Source
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		queued = nil
		err := tx.NewRaw(postgres.RawForAllTenants("the embedding model is the installation's", `
			UPDATE sources
			SET status = 'queued', stage = '', progress = 0, owner = '', heartbeat_at = NULL,
			    attempt = 0, due_at = ?, queued_until = NULL, updated_at = ?
			WHERE id IN (
				SELECT id
				FROM sources
				WHERE status = 'ready'
				  AND embedding_model <> ?
				ORDER BY id
				LIMIT ?
				FOR UPDATE SKIP LOCKED
			)
			RETURNING *`), now, now, s.embedder.Model().Name, limit).Scan(ctx, &queued)
		if err != nil {
			return fmt.Errorf("queue sources of other models: %w", err)
		}
		for _, source := range queued {
			if err := appendQueued(ctx, tx, source, now); err != nil {
				return err
			}
		}
		return nil
	})
	return len(queued), err
}
