package pgstore

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Renew implements turns.Store. An update that Postgres was slow with may come behind a later one:
// it shortens nothing.
func (s *Store) Renew(ctx context.Context, p turns.LeaseParams) (turns.Renewed, error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	var rows []sessions.Session
	err := s.db.NewUpdate().Model((*sessions.Session)(nil)).
		Set("running_until = greatest(s.running_until, ?)", s.sessions.Now().Add(sessions.LeaseLife)).
		Where("s.tenant_id = ?", p.Session.TenantID).Where("s.id = ?", p.Session.ID).Where("s.running_turn_id = ?", p.Turn).
		Where("EXISTS (SELECT FROM turns AS t WHERE t.tenant_id = s.tenant_id AND t.id = s.running_turn_id AND t.losses = ?)", p.Losses).
		Returning("ending_at").Scan(ctx, &rows)
	if err != nil {
		return turns.Renewed{}, fmt.Errorf("renewing turn lease: %w", err)
	}
	return turns.Renewed{Mine: len(rows) > 0, Ending: len(rows) > 0 && !rows[0].EndingAt.IsZero()}, nil
}

// Reclaim implements turns.Store.
func (s *Store) Reclaim(ctx context.Context, p turns.LeaseParams) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now()
	err = s.sessions.Locked(ctx, p.Session.TenantID, p.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) (err error) {
		mine, err = sessions.ReclaimTurnTx(ctx, tx, row, p.Turn, p.Response, p.Losses, now)
		return err
	})
	return mine, err
}
