package callbacks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// findBatch reads a batch; lock is empty or UPDATE. Errors: NotFound.
func findBatch(ctx context.Context, db bun.IDB, ref workspaces.Ref, id BatchID, lock string) (Batch, error) {
	if !idgen.Valid(idgen.Batch, string(id)) {
		return Batch{}, fault.NoSuch("batch", string(id))
	}
	var batch Batch
	query := db.NewSelect().Model(&batch).Where("bat.tenant_id = ?", ref.TenantID).
		Where("bat.workspace_id = ?", ref.ID).Where("bat.id = ?", id)
	if lock != "" {
		query.For(lock)
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Batch{}, fault.NoSuch("batch", string(id))
	}
	if err != nil {
		return Batch{}, fmt.Errorf("read a batch: %w", err)
	}
	return batch, nil
}

func updateBatch(ctx context.Context, db bun.IDB, batch Batch) error {
	_, err := db.NewUpdate().Model(&batch).Column("status", "updated_at", "ended_at").
		Where("bat.tenant_id = ?", batch.TenantID).Where("bat.id = ?", batch.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	return nil
}

// lockCallbacks locks the open callbacks of a batch.
func lockCallbacks(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id BatchID) error {
	_, err := tx.NewRaw(`
SELECT cb.id
FROM callbacks AS cb
WHERE cb.tenant_id = ?
  AND cb.batch_id = ?
  AND cb.status = 'scheduled'
ORDER BY cb.id
FOR UPDATE`, ref.TenantID, id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("lock the callbacks of a batch: %w", err)
	}
	return nil
}

// wake makes callbacks due that wait because their batch is paused.
func wake(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id BatchID, now time.Time) error {
	_, err := tx.NewUpdate().Model((*Callback)(nil)).Set("due_at = ?", now).Set("waits_for = ''").Set("queued_until = NULL").
		Where("cb.tenant_id = ?", ref.TenantID).Where("cb.batch_id = ?", id).Where("cb.status = ?", Scheduled).
		Where("cb.waits_for = ?", WaitsBatchPaused).Exec(ctx)
	if err != nil {
		return fmt.Errorf("wake the callbacks of a batch: %w", err)
	}
	return nil
}

// wakeNext makes as many callbacks due as a batch may have calls, of those that wait for room.
func wakeNext(ctx context.Context, tx bun.Tx, batch Batch, now time.Time) error {
	_, err := tx.NewRaw(`
WITH next AS (
    SELECT cb.id
    FROM callbacks AS cb
    WHERE cb.tenant_id = ?
      AND cb.batch_id = ?
      AND cb.status = 'scheduled'
      AND cb.waits_for = 'batch_full'
      AND cb.due_at > ?
    ORDER BY cb.place
    LIMIT ?
    FOR UPDATE SKIP LOCKED
)
UPDATE callbacks AS cb
SET due_at = ?,
    queued_until = NULL
FROM next
WHERE cb.tenant_id = ?
  AND cb.id = next.id`, batch.TenantID, batch.ID, now, batch.Concurrency, now, batch.TenantID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("wake the next callbacks of a batch: %w", err)
	}
	return nil
}

// addProgress adds the counts of batches.
func (s *Service) addProgress(ctx context.Context, ref workspaces.Ref, batches []Batch) error {
	if len(batches) == 0 {
		return nil
	}
	ids := make([]BatchID, len(batches))
	progress := make(map[BatchID]map[Status]int, len(batches))
	for i := range batches {
		of := map[Status]int{}
		ids[i], batches[i].Progress, progress[batches[i].ID] = batches[i].ID, of, of
	}
	var counts []struct {
		BatchID BatchID `bun:"batch_id"`
		Status  Status  `bun:"status"`
		N       int     `bun:"n"`
	}
	err := s.DB.NewSelect().Model((*Callback)(nil)).ColumnExpr("cb.batch_id, cb.status, count(*) AS n").
		Where("cb.tenant_id = ?", ref.TenantID).Where("cb.workspace_id = ?", ref.ID).Where("cb.batch_id IN (?)", bun.List(ids)).
		GroupExpr("cb.batch_id, cb.status").Scan(ctx, &counts)
	if err != nil {
		return fmt.Errorf("count the callbacks of batches: %w", err)
	}
	for _, c := range counts {
		progress[c.BatchID][c.Status] = c.N
	}
	return nil
}

// resultRow is a line of the results of a batch.
type resultRow struct {
	ID              ID        `bun:"id"`
	Place           int       `bun:"place"`
	PhoneNumber     string    `bun:"phone_number"`
	UserID          string    `bun:"user_id"`
	Status          Status    `bun:"status"`
	EndReason       string    `bun:"end_reason"`
	Attempts        int       `bun:"attempts"`
	SessionID       string    `bun:"session_id"`
	DurationSeconds int       `bun:"duration_seconds"`
	DialedAt        time.Time `bun:"dialed_at"`
	EndedAt         time.Time `bun:"ended_at"`
}

func (r resultRow) fields() []string {
	return []string{
		string(r.ID), r.PhoneNumber, plainCell(r.UserID), string(r.Status), r.EndReason, strconv.Itoa(r.Attempts), r.SessionID,
		strconv.Itoa(r.DurationSeconds), postgres.TimeFilter(r.DialedAt), postgres.TimeFilter(r.EndedAt),
	}
}

// resultRows reads the results of some recipients behind a place.
func resultRows(ctx context.Context, db bun.IDB, ref workspaces.Ref, id BatchID, after int) ([]resultRow, error) {
	var rows []resultRow
	err := db.NewRaw(`
SELECT cb.id, cb.place, cb.phone_number, cb.user_id, cb.status, cb.end_reason, cb.attempts, cb.session_id, cb.dialed_at, cb.ended_at,
       coalesce((SELECT pc.duration_seconds FROM phone_calls AS pc WHERE pc.tenant_id = ? AND pc.id = cb.call_id), 0) AS duration_seconds
FROM callbacks AS cb
WHERE cb.tenant_id = ?
  AND cb.workspace_id = ?
  AND cb.batch_id = ?
  AND cb.place > ?
ORDER BY cb.place
LIMIT ?`, ref.TenantID, ref.TenantID, ref.ID, id, after, insertAtOnce).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the results of a batch: %w", err)
	}
	return rows, nil
}
