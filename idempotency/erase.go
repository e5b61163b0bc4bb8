package idempotency

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/workspaces"
)

// About selects the requests of a tenant's callers that were about sessions, or about a user.
type About struct {
	// SessionIDs are the sessions; with none, UserID is the user. The user of another workspace
	// with the same id is not told apart.
	SessionIDs []string
	UserID     string
}

func (a About) match(tenant workspaces.TenantID) (condition string, args []any) {
	if len(a.SessionIDs) > 0 {
		return "tenant_id = ? AND session_id = ANY (?) AND session_id <> ''", []any{tenant, pgdialect.Array(a.SessionIDs)}
	}
	return "tenant_id = ? AND user_hash = ?", []any{tenant, userHash(a.UserID)}
}

// CountAbout counts what Erase would delete.
func (s *Service) CountAbout(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, about About) (n int, err error) {
	condition, args := about.match(tenant)
	if err := db.NewRaw("SELECT count(*) FROM idempotency_keys WHERE "+condition, args...).Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("count kept answers: %w", err)
	}
	return n, nil
}

// Erase deletes keys and answers. A request whose key is deleted while it runs is done, and its
// answer is not kept.
func (s *Service) Erase(ctx context.Context, tx bun.IDB, tenant workspaces.TenantID, about About) (int, error) {
	condition, args := about.match(tenant)
	done, err := tx.NewRaw("DELETE FROM idempotency_keys WHERE "+condition, args...).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("delete kept answers: %w", err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("count deleted answers: %w", err)
	}
	return int(n), nil
}

// userHash is how a row names a user; nil: it names nobody.
func userHash(userID string) []byte {
	if userID == "" {
		return nil
	}
	return digestOf([]byte("user"), []byte(userID))
}
