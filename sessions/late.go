package sessions

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// rewriteMessages stores the messages of a turn whatever its status: the session's row is locked.
func RewriteMessages(ctx context.Context, tx bun.Tx, turn Turn) error {
	_, err := tx.NewUpdate().Model(&turn).Column("messages").
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("rewriting a turn's messages: %w", err)
	}
	return nil
}
