package privacy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// insertRequest stores a request. One that was stored before under its id, because the caller sent
// it twice, is read instead.
func insertRequest(ctx context.Context, tx bun.Tx, request *Request) error {
	done, err := tx.NewInsert().Model(request).On("CONFLICT (id) DO NOTHING").Exec(ctx)
	stored, err := postgres.Changed(done, err)
	if err != nil {
		return fmt.Errorf("insert privacy request: %w", err)
	}
	if !stored {
		*request, err = findRequest(ctx, tx, request.Ref(), request.ID)
	}
	return err
}

// openRequest finds a request that does what a new one is to do, see Create.
func openRequest(ctx context.Context, tx bun.Tx, request Request) (open Request, found bool, err error) {
	query := tx.NewSelect().Model(&open).Where("p.tenant_id = ?", request.TenantID).Where("p.workspace_id = ?", request.WorkspaceID).
		Where("p.user_id = ?", request.UserID).Where("p.kind = ?", request.Kind).Where("p.finished_at IS NULL")
	if request.Kind == Export {
		query = query.Where("p.started_at IS NULL")
	}
	err = query.OrderExpr("p.created_at").Limit(1).Scan(ctx)
	if postgres.NoRows(err) {
		return Request{}, false, nil
	}
	if err != nil {
		return Request{}, false, fmt.Errorf("look for an open privacy request: %w", err)
	}
	return open, true, nil
}

func findRequest(ctx context.Context, db bun.IDB, ref workspaces.Ref, id ID) (Request, error) {
	var request Request
	err := db.NewSelect().Model(&request).Where("p.tenant_id = ?", ref.TenantID).Where("p.workspace_id = ?", ref.ID).
		Where("p.id = ?", id).Scan(ctx)
	return request, postgres.OrNoSuch(err, "privacy request", string(id))
}

// selectRequests reads a page of requests; of those about a user when userHash is not empty.
func selectRequests(
	ctx context.Context, db bun.IDB, ref workspaces.Ref, p ListParams, userHash string, page postgres.Page,
) ([]Request, error) {
	var requests []Request
	query := db.NewSelect().Model(&requests).Where("p.tenant_id = ?", ref.TenantID).Where("p.workspace_id = ?", ref.ID)
	if p.Kind != "" {
		query = query.Where("p.kind = ?", p.Kind)
	}
	if p.Status != "" {
		query = query.Where("p.status = ?", p.Status)
	}
	if userHash != "" {
		query = query.Where("p.user_hash = ?", userHash)
	}
	err := page.Apply(query).Scan(ctx)
	return requests, err
}

// claim takes a request that is due for a worker until a time. ok is false when another worker has
// it, or it is done.
func claim(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, now, until time.Time) (request Request, ok bool, err error) {
	err = db.NewUpdate().Model(&request).Set("status = ?", Processing).Set("attempts = p.attempts + 1").Set("due_at = ?", until).
		Set("started_at = coalesce(p.started_at, ?)", now).Set("queued_until = NULL").
		Where("p.tenant_id = ?", tenant).Where("p.id = ?", id).Where("p.finished_at IS NULL").Where("p.due_at <= ?", now).
		Returning("*").Scan(ctx)
	if postgres.NoRows(err) {
		return Request{}, false, nil
	}
	if err != nil {
		return Request{}, false, fmt.Errorf("claim privacy request: %w", err)
	}
	return request, true, nil
}

// errTaken says that another worker has taken the request over, or that it is done.
var errTaken = errors.New("another worker has the request")

// update writes columns of a request that this attempt still has. Errors: errTaken.
func update(ctx context.Context, db bun.IDB, request Request, columns ...string) error {
	mine, err := postgres.Changed(db.NewUpdate().Model(&request).Column(columns...).
		Where("p.tenant_id = ?", request.TenantID).Where("p.id = ?", request.ID).Where("p.finished_at IS NULL").
		Where("p.attempts = ?", request.Attempts).Exec(ctx))
	if err != nil {
		return fmt.Errorf("update privacy request: %w", err)
	}
	if !mine {
		return errTaken
	}
	return nil
}

// file is a row of privacy_files.
type file struct {
	bun.BaseModel `bun:"table:privacy_files,alias:f"`

	Key       string              `bun:"key,pk"`
	TenantID  workspaces.TenantID `bun:"tenant_id"`
	RequestID ID                  `bun:"request_id"`
	ExpiresAt time.Time           `bun:"expires_at"`
}

// noteFile stores that a file will be in the bucket until a time.
func noteFile(ctx context.Context, db bun.IDB, f file) error {
	_, err := db.NewInsert().Model(&f).On("CONFLICT (key) DO UPDATE").Set("expires_at = excluded.expires_at").
		Where("f.tenant_id = excluded.tenant_id").Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the file of an export: %w", err)
	}
	return nil
}

// uselessFiles reads files that have expired or whose request is gone with its workspace.
func uselessFiles(ctx context.Context, db bun.IDB, now time.Time, limit int) ([]file, error) {
	var files []file
	err := db.NewSelect().Model(&files).Comment(postgres.AllTenants("the sweep of expired exports")).
		Where("f.expires_at <= ? OR NOT EXISTS (SELECT FROM privacy_requests AS p WHERE p.id = f.request_id)", now).
		OrderExpr("f.expires_at").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read expired exports: %w", err)
	}
	return files, nil
}

// forgetFile deletes the note of a file that is not in the bucket any more.
func forgetFile(ctx context.Context, db bun.IDB, f file) error {
	_, err := db.NewDelete().Model((*file)(nil)).Where("f.tenant_id = ?", f.TenantID).Where("f.key = ?", f.Key).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget the file of an export: %w", err)
	}
	return nil
}
