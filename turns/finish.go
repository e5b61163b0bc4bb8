package turns

import (
	"context"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// recordEnd records the turn's end, although the caller has gone. Where no journal keeps it while
// Postgres is away, it tries for a few seconds.
func (r *Runner) recordEnd(ctx context.Context) (finished Finished, err error) {
	ctx = context.WithoutCancel(ctx)
	p := r.end
	p.Session, p.Turn, p.At, p.Offline, p.Cache = r.Session, r.Turn, r.S.sessions.Now(), r.offline, r.Start.Cache
	pauses := []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second}
	for {
		finished, err = r.S.store.Finish(ctx, p)
		if finished.Turn.ID != "" {
			r.Turn = finished.Turn
		}
		if err == nil || r.S.keepsOffline() || len(pauses) == 0 || postgres.Decide(err).Reason != fault.ServiceUnavailable {
			return finished, err
		}
		timer := time.NewTimer(pauses[0])
		pauses = pauses[1:]
		select {
		case <-timer.C:
		case <-r.S.live.Done():
			timer.Stop()
			return finished, err
		}
	}
}

// keepsOffline says whether turns go on while Postgres is away.
func (s *Service) keepsOffline() bool {
	_, none := s.Database.(directly)
	return !none
}
