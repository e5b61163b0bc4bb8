package recordings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// errGone says that the recording was erased, or its session deleted, while it went on.
var errGone = errors.New("the recording was erased while it went on")

// insertPart stores a part once. Errors: errGone when its session is deleted.
func insertPart(ctx context.Context, db bun.IDB, part Part) error {
	_, err := db.NewInsert().Model(&part).On("CONFLICT (id) DO NOTHING").Exec(ctx)
	if postgres.IsForeignKey(err, "") {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("insert a part of a recording: %w", err)
	}
	return nil
}

// endPart notes that nothing more of a part will be stored.
func endPart(ctx context.Context, db bun.IDB, part Part) error {
	_, err := db.NewUpdate().Model(&part).Column("ended_at", "incomplete").
		Where("p.tenant_id = ?", part.TenantID).Where("p.id = ?", part.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end a part of a recording: %w", err)
	}
	return nil
}

// selectParts reads the parts of sessions in their order, with how much of them is stored.
func selectParts(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, ids ...sessions.ID) ([]Part, error) {
	var parts []Part
	frames := db.NewSelect().Model((*storedSegment)(nil)).ColumnExpr("coalesce(sum(g.frames), 0)").
		Where("g.tenant_id = ?", tenant).Where("g.part_id = p.id").Where("g.due_at IS NULL")
	err := db.NewSelect().Model(&parts).ColumnExpr("p.*").ColumnExpr("(?) AS frames", frames).
		Where("p.tenant_id = ?", tenant).Where("p.session_id IN (?)", bun.List(ids)).OrderExpr("p.started_at, p.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the parts of a recording: %w", err)
	}
	return parts, nil
}

// livePartSQL finds a part that is not erased, and keeps others from erasing it until the
// transaction ends. Parameters: tenant, part.
const livePartSQL = `
WITH live AS (
    SELECT p.id
    FROM recording_parts AS p
    WHERE p.tenant_id = ?
      AND p.id = ?
      AND p.erased_at IS NULL
    FOR SHARE
)`

// insertSegmentSQL stores a segment of a part that is not erased, once.
const insertSegmentSQL = livePartSQL + `
INSERT INTO recording_segments AS g (part_id, number, tenant_id, workspace_id, session_id, key, frames, marks, due_at)
SELECT live.id, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::timestamptz
FROM live
ON CONFLICT (part_id, number) DO UPDATE
SET due_at = excluded.due_at
WHERE g.tenant_id = excluded.tenant_id`

// insertSegment stores a segment, and when its file is deleted if confirmSegment is not called.
// Errors: errGone.
func insertSegment(ctx context.Context, db bun.IDB, g storedSegment) error {
	marks, err := json.Marshal(g.Marks)
	if err != nil {
		return fmt.Errorf("encode the marks of a segment: %w", err)
	}
	stored, err := postgres.Changed(db.NewRaw(insertSegmentSQL, g.TenantID, g.PartID, g.Number, g.TenantID, g.WorkspaceID, g.SessionID,
		g.Key, g.Frames, string(marks), bun.NullTime{Time: g.DueAt}).Exec(ctx))
	if err != nil {
		return fmt.Errorf("insert a segment: %w", err)
	}
	if !stored {
		return errGone
	}
	return nil
}

// confirmSegment notes that the file of a segment is stored. Errors: errGone.
func confirmSegment(ctx context.Context, db bun.IDB, g storedSegment) error {
	confirmed, err := postgres.Changed(db.NewRaw(livePartSQL+`
UPDATE recording_segments AS g
SET due_at = NULL
FROM live
WHERE g.tenant_id = ?
  AND g.part_id = live.id
  AND g.number = ?`, g.TenantID, g.PartID, g.TenantID, g.Number).Exec(ctx))
	if err != nil {
		return fmt.Errorf("confirm a segment: %w", err)
	}
	if !confirmed {
		return errGone
	}
	return nil
}

// selectSegments reads the stored segments of a session's parts in the order of the recording.
func selectSegments(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, session sessions.ID) ([]storedSegment, error) {
	var segments []storedSegment
	err := db.NewSelect().Model(&segments).
		Join("JOIN recording_parts AS p ON p.tenant_id = g.tenant_id AND p.id = g.part_id").
		Where("g.tenant_id = ?", tenant).Where("g.session_id = ?", session).Where("g.due_at IS NULL").Where("p.erased_at IS NULL").
		OrderExpr("p.started_at, p.id, g.number").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the segments of a recording: %w", err)
	}
	return segments, nil
}

// eraseParts marks the parts of sessions as erased and their files as due, and returns the sessions
// that had any.
func eraseParts(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, ids []sessions.ID, now time.Time) ([]sessions.ID, error) {
	var had []sessions.ID
	err := tx.NewUpdate().Model((*Part)(nil)).Set("erased_at = ?", now).Where("p.tenant_id = ?", tenant).
		Where("p.session_id IN (?)", bun.List(ids)).Where("p.erased_at IS NULL").Returning("p.session_id").Scan(ctx, &had)
	if err != nil {
		return nil, fmt.Errorf("erase the parts of recordings: %w", err)
	}
	_, err = tx.NewUpdate().Model((*storedSegment)(nil)).Set("due_at = ?", now).Where("g.tenant_id = ?", tenant).
		Where("g.session_id IN (?)", bun.List(ids)).Where("g.due_at IS NULL").Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("erase the segments of recordings: %w", err)
	}
	return had, nil
}

// segmentsOf reads some segments of sessions, with and without files. Those behind a place are
// read.
func segmentsOf(
	ctx context.Context, db bun.IDB, tenant workspaces.TenantID, ids []sessions.ID, after storedSegment, limit int,
) ([]storedSegment, error) {
	var segments []storedSegment
	err := db.NewSelect().Model(&segments).Where("g.tenant_id = ?", tenant).Where("g.session_id IN (?)", bun.List(ids)).
		Where("(g.part_id, g.number) > (?, ?)", after.PartID, after.Number).OrderExpr("g.part_id, g.number").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the segments of sessions: %w", err)
	}
	return segments, nil
}

// dueSegments reads segments whose files are to be deleted.
func dueSegments(ctx context.Context, db bun.IDB, now time.Time, limit int) ([]storedSegment, error) {
	var segments []storedSegment
	err := db.NewSelect().Model(&segments).Comment(postgres.AllTenants("the sweep of files that nothing needs")).
		Where("g.due_at <= ?", now).OrderExpr("g.due_at").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read segments that are due: %w", err)
	}
	return segments, nil
}

// deleteSegment deletes the row of a segment whose file was deleted. A file that its writer may
// still store keeps its row without marks, and Sweep deletes it later.
func deleteSegment(ctx context.Context, db bun.IDB, g storedSegment, now time.Time) error {
	if g.DueAt.After(now) {
		_, err := db.NewUpdate().Model((*storedSegment)(nil)).Set("marks = '[]'").Where("g.tenant_id = ?", g.TenantID).
			Where("g.part_id = ?", g.PartID).Where("g.number = ?", g.Number).Exec(ctx)
		if err != nil {
			return fmt.Errorf("empty a segment: %w", err)
		}
		return nil
	}
	_, err := db.NewDelete().Model((*storedSegment)(nil)).Where("g.tenant_id = ?", g.TenantID).
		Where("g.part_id = ?", g.PartID).Where("g.number = ?", g.Number).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete a segment: %w", err)
	}
	return nil
}
