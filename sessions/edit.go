package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"
)

// selectTurnsHolding reads the turns of a session in whose messages an id stands; perhaps more.
func TurnsHolding(ctx context.Context, db bun.IDB, session Session, id string) ([]Turn, error) {
	if id == "" || strings.Trim(id, plainIDChars) != "" { // its JSON may be written in several ways
		return AllTurns(ctx, db, session)
	}
	var turns []Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Where("strpos(CAST(t.messages AS text), ?) > 0", `"`+id+`"`).OrderExpr("t.index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading turns that hold an item: %w", err)
	}
	return turns, nil
}

const plainIDChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
