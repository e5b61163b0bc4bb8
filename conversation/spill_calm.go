package conversation

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// Watch asks Postgres how it does until ctx ends, for Sweep, which takes nothing for lost before it has seen it
// answer for a while: it may have been away until now. Run does it too.
func (s *Service) Watch(ctx context.Context) {
	s.health.Disturb()
	s.watch(ctx)
}

func (s *Service) watch(ctx context.Context) { s.health.Watch(ctx, s.spill.suspect) }

// reclaimOnce takes back a turn that was taken for lost while Postgres was away.
func (s *Service) reclaimOnce(ctx context.Context, start turnStart, losses int) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := s.moment()
	err = s.locked(ctx, start.tenant, start.session, func(ctx context.Context, tx bun.Tx, session *Session) (err error) {
		mine, err = reclaim(ctx, tx, session, start.turn, start.response, losses, now)
		return err
	})
	return mine, err
}

// errOverdue is errBusy of a turn whose lease is over.
var errOverdue = fmt.Errorf("%w, and its lease is over", errBusy)

// deserted says whether a turn whose lease is over may be taken from its node: one that is there would have renewed it,
// and what the turn came to is not on this machine's disk.
func (s *Service) deserted(ctx context.Context, id ID) bool {
	if !s.health.Steady() {
		return false
	}
	s.spill.adopt(ctx)
	return !s.spill.holds(id)
}
