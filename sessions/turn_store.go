package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// InsertTurn stores a new turn, with its receipt and the caller's tools when it has them.
func InsertTurn(ctx context.Context, db bun.IDB, turn Turn) error {
	insert := db.NewInsert().Model(&turn)
	if turn.Receipt != nil {
		insert = insert.Value("receipt", "?", string(turn.Receipt))
	}
	if turn.ClientTools != nil {
		insert = insert.Value("client_tools", "?", string(turn.ClientTools))
	}
	if _, err := insert.Exec(ctx); err != nil {
		return fmt.Errorf("storing turn: %w", err)
	}
	return markSealed(ctx, db, turn)
}

// markSealed notes that the session has content to delete, also when some was deleted before: turns
// of a journal and late results of calls come after the session's end.
func markSealed(ctx context.Context, db bun.IDB, turn Turn) error {
	if !turn.isSealed() {
		return nil
	}
	_, err := db.NewUpdate().Model((*Session)(nil)).Set("sealed = true").
		Where("s.tenant_id = ?", turn.TenantID).Where("s.id = ?", turn.SessionID).Where("NOT s.sealed").Exec(ctx)
	if err != nil {
		return fmt.Errorf("noting sealed content: %w", err)
	}
	return nil
}

// UpdateTurn writes the named columns of a turn that is in progress, and its receipt when it has
// one. It returns false when another node has finished the turn or has declared it lost.
func UpdateTurn(ctx context.Context, db bun.IDB, turn Turn, columns ...string) (bool, error) {
	update := db.NewUpdate().Model(&turn).Column(columns...)
	if turn.Receipt != nil {
		update = update.Set("receipt = ?", string(turn.Receipt)).Set("receipt_hash = ?", turn.ReceiptHash)
	}
	changed, err := postgres.Changed(update.
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).Where("t.status = ?", TurnInProgress).
		Where("t.losses = ?", turn.Losses).Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("updating turn: %w", err)
	}
	return changed, markSealed(ctx, db, turn)
}

// RewriteMessages stores the messages of a turn in any status. The session's row must be locked.
func RewriteMessages(ctx context.Context, tx bun.Tx, turn Turn) error {
	_, err := tx.NewUpdate().Model(&turn).Column("messages").
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("rewriting a turn's messages: %w", err)
	}
	return markSealed(ctx, tx, turn)
}

// FindTurn reads one turn. Errors: NotFound.
func FindTurn(ctx context.Context, db bun.IDB, session Session, id TurnID) (Turn, error) {
	var turn Turn
	err := db.NewSelect().Model(&turn).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return Turn{}, fault.NoSuch("turn", string(id))
	}
	if err != nil {
		return Turn{}, fmt.Errorf("reading turn: %w", err)
	}
	return turn, nil
}

// AllTurns reads all turns of a session in order.
func AllTurns(ctx context.Context, db bun.IDB, session Session) ([]Turn, error) {
	return selectTurns(ctx, db, session, inOrder)
}

// NewestTurns reads the newest turns of a session, oldest first, with the columns that a new socket
// needs.
func NewestTurns(ctx context.Context, db bun.IDB, session Session, limit int) ([]Turn, error) {
	turns, err := selectTurns(ctx, db, session, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Column("id", "index", "status", "messages", "started_at", "losses", "lost_response_id").
			OrderExpr("t.index DESC").Limit(int64(limit))
	})
	slices.Reverse(turns)
	return turns, err
}

// UnansweredTurns reads the turns in progress that no node runs: the user's message is stored, and
// its answer has not begun or is to be resumed.
func UnansweredTurns(ctx context.Context, db bun.IDB, session Session) ([]Turn, error) {
	return selectTurns(ctx, db, session, func(q *bun.SelectQuery) *bun.SelectQuery {
		return inOrder(q).Where("t.status = ?", TurnInProgress).Where("t.id <> ?", session.RunningTurnID)
	})
}

// TurnsWithItem reads the turns of a session whose messages contain an id. It may return more turns
// than those.
func TurnsWithItem(ctx context.Context, db bun.IDB, session Session, id string) ([]Turn, error) {
	if id == "" || strings.Trim(id, plainIDChars) != "" { // JSON can encode the id in several ways
		return AllTurns(ctx, db, session)
	}
	return selectTurns(ctx, db, session, func(q *bun.SelectQuery) *bun.SelectQuery {
		return inOrder(q).Where("strpos(CAST(t.messages AS text), ?) > 0", `"`+id+`"`)
	})
}

// plainIDChars are the characters that JSON encodes in one way only.
const plainIDChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

// selectTurnPage reads one page of a transcript.
func selectTurnPage(ctx context.Context, db bun.IDB, session Session, page postgres.Page) ([]Turn, error) {
	return selectTurns(ctx, db, session, func(q *bun.SelectQuery) *bun.SelectQuery {
		if page.After != nil {
			q = q.Where("t.index > ?", page.After.CreatedAt.UnixMicro())
		}
		return inOrder(q).Limit(int64(page.Limit()))
	})
}

// inOrder selects turns in the order in which they were taken.
func inOrder(q *bun.SelectQuery) *bun.SelectQuery { return q.OrderExpr("t.index") }

// selectTurns reads the turns of a session that narrow selects.
func selectTurns(
	ctx context.Context, db bun.IDB, session Session, narrow func(*bun.SelectQuery) *bun.SelectQuery,
) ([]Turn, error) {
	var turns []Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Apply(narrow).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading turns: %w", err)
	}
	return turns, nil
}
