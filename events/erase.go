package events

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// ErasedData is the data of the body of an erased event.
const ErasedData = `{"erased": true}`

// About selects the public events of a workspace that are about sessions, or about a user.
type About struct {
	TenantID    string
	WorkspaceID string
	// SessionIDs are the sessions; with none, UserID is the user.
	SessionIDs []string
	UserID     string
}

// Match returns the condition on events e, with its two parameters: by the columns, and for rows of
// older versions by the body.
func (a About) Match() (condition string, args []any) {
	column, value := "user_id", any(a.UserID)
	operator := "= ?"
	if len(a.SessionIDs) > 0 {
		column, value, operator = "session_id", pgdialect.Array(a.SessionIDs), "= ANY (?)"
	}
	condition = `e.tenant_id = ? AND e.workspace_id = ? AND left(e.type, 1) <> '_' AND NOT e.erased
  AND (e.` + column + " " + operator + " AND e." + column + ` <> ''
       OR e.user_id IS NULL AND convert_from(e.body, 'UTF8')::jsonb #>> '{data,` + column + `}' ` + operator + ")"
	return condition, []any{a.TenantID, a.WorkspaceID, value, value}
}

// CountAbout counts the events that Erase would erase.
func CountAbout(ctx context.Context, db bun.IDB, about About) (n int, err error) {
	condition, args := about.Match()
	if err := db.NewRaw("SELECT count(*) FROM events AS e WHERE "+condition, args...).Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	return n, nil
}

// Erase deletes those events that are not relayed yet. It takes the data out of the bodies of the
// others, which keep their places in the feed, and returns their seqs with the number of all. It
// waits for relays that hold one of them.
func Erase(ctx context.Context, tx bun.Tx, about About) (seqs []int64, n int, err error) {
	condition, args := about.Match()
	deleted, err := tx.NewRaw("DELETE FROM events AS e WHERE e.relayed_at IS NULL AND "+condition, args...).Exec(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("delete events: %w", err)
	}
	gone, err := deleted.RowsAffected()
	if err != nil {
		return nil, 0, fmt.Errorf("count deleted events: %w", err)
	}
	err = tx.NewRaw(`
UPDATE events AS e
SET body = convert_to(jsonb_set(convert_from(e.body, 'UTF8')::jsonb, '{data}', ?::jsonb)::text, 'UTF8'),
    sealed = NULL,
    erased = true,
    session_id = '',
    user_id = ''
WHERE `+condition+`
RETURNING e.seq`, append([]any{ErasedData}, args...)...).Scan(ctx, &seqs)
	if err != nil {
		return nil, 0, fmt.Errorf("erase events: %w", err)
	}
	return seqs, int(gone) + len(seqs), nil
}
