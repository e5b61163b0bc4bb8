package turns

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/sessions"
)

// reclaimOnce takes back a turn that was taken for lost while Postgres was away.
func (s *Service) reclaimOnce(ctx context.Context, start Start, losses int) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sessions.WriteTimeout)
	defer cancel()
	now := s.sessions.Now()
	err = s.sessions.Locked(ctx, start.Tenant, start.Session, func(ctx context.Context, tx bun.Tx, session *sessions.Session) (err error) {
		mine, err = sessions.ReclaimTurnTx(ctx, tx, session, start.Turn, start.Response, losses, now)
		return err
	})
	return mine, err
}

// errOverdue is errBusy of a turn whose lease is over.
var errOverdue = fmt.Errorf("%w, and its lease is over", errBusy)

// deserted says whether a turn whose lease is over may be taken from its node: one that is there would have renewed it,
// and what the turn came to is not on this machine's disk.
func (s *Service) Deserted(ctx context.Context, id sessions.ID) bool {
	if !s.health.Steady() {
		return false
	}
	s.spill.adopt(ctx)
	return !s.spill.holds(id)
}
