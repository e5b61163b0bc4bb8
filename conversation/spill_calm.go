package conversation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/beat"
	"parlance.dev/parlance/platform/postgres"
)

const (
	// calmTime is how long Postgres must have answered steadily before anything is taken for lost: nodes say first
	// that their sockets are there, renew their leases, and write the turns that they have kept.
	calmTime = 15 * time.Second
	// pulseEvery is how often Postgres is asked to commit, pulseWithin how long that may take.
	pulseEvery  = time.Second
	pulseWithin = 2500 * time.Millisecond
	// pulseGap is how far apart two pulses may be. When they were further, this process or its machine stood still, and
	// nobody knows what Postgres did meanwhile.
	pulseGap = pulseEvery + pulseWithin + time.Second
)

// calm is what this process knows of how steadily Postgres answers. A lease that was not renewed and a socket that was
// not seen tell of their node only while that could write: what stood still for as long as Postgres did was not silent.
// A Postgres that hangs gives no error: its statements end well, minutes later. So it is asked once a second (Watch).
type calm struct {
	mu sync.Mutex
	// last is when a pulse came back; zero: nobody asks.
	last time.Time
	// failed says that the last one did not.
	failed bool
	// since is since when all have; zero: for as long as anybody knows.
	since time.Time
}

// Watch asks Postgres how it does until ctx ends, for Sweep, which takes nothing for lost before it has seen it
// answer for a while: it may have been away until now. Run does it too.
func (s *Service) Watch(ctx context.Context) {
	s.calm.disturbed(time.Now())
	s.watch(ctx)
}

func (s *Service) watch(ctx context.Context) {
	defer s.calm.unwatched()
	beat.Every(ctx, pulseEvery, func() bool {
		if err := s.pulse(ctx); err != nil && ctx.Err() == nil {
			s.spill.suspect(ctx, err)
		}
		return true
	})
}

// pulse asks Postgres once.
func (s *Service) pulse(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, pulseWithin)
	defer cancel()
	err := s.db.Commits(asking)
	if ctx.Err() == nil {
		s.calm.pulsed(time.Now(), err)
	}
	return err
}

// pulsed takes how a pulse went.
func (c *calm) pulsed(now time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && (c.failed || c.stood(now)) {
		c.since = now
	}
	c.failed, c.last = err != nil, now
}

// stood says whether pulses are missing before now, by the clock on the wall: the other one stands while a machine
// sleeps. c.mu is held.
func (c *calm) stood(now time.Time) bool {
	return !c.last.IsZero() && now.Round(0).Sub(c.last.Round(0)) > pulseGap
}

// noted takes how a sweep went.
func (c *calm) noted(err error) {
	if postgres.IsAway(err) || errors.Is(err, context.DeadlineExceeded) {
		c.disturbed(time.Now())
	}
}

// disturbed begins the wait anew.
func (c *calm) disturbed(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = now
}

// unwatched says that nobody asks any more.
func (c *calm) unwatched() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Time{}
}

// away says that Postgres did not answer when it was asked last.
func (c *calm) away() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// over says whether silence can be taken for what it looks like.
func (c *calm) over(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.failed && !c.stood(now) && now.Sub(c.since) >= calmTime
}

// reclaimOnce takes back a turn that was taken for lost while Postgres was away.
func (s *Service) reclaimOnce(ctx context.Context, start turnStart, losses int) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := s.moment()
	err = s.locked(ctx, start.tenant, start.session, func(ctx context.Context, tx bun.Tx, session *Session) (err error) {
		mine, err = reclaim(ctx, tx, session, start, losses, now)
		return err
	})
	return mine, err
}

// errOverdue is errBusy of a turn whose lease is over.
var errOverdue = fmt.Errorf("%w, and its lease is over", errBusy)

// deserted says whether a turn whose lease is over may be taken from its node: one that is there would have renewed it,
// and what the turn came to is not on this machine's disk.
func (s *Service) deserted(ctx context.Context, id ID) bool {
	if !s.calm.over(time.Now()) {
		return false
	}
	s.spill.adopt(ctx)
	return !s.spill.holds(id)
}
