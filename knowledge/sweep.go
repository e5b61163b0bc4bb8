package knowledge

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// strayAge is far above the longest upload.
	strayAge = 24 * time.Hour
	// sweepBatch is how many stray blobs one Sweep looks at.
	sweepBatch = 500
)

// SweepBlob deletes a blob that may have lost its last source; one that is owned stays. It ends the
// watch over the blob last. Repeating it is harmless.
func (s *Service) SweepBlob(ctx context.Context, key string) error {
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
		failed = append(failed, s.SweepBlob(ctx, key)) // one bad blob must not keep the others
	}
	return errors.Join(failed...)
}
