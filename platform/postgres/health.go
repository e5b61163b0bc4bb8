package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"parlance.dev/parlance/platform/ticker"
)

const (
	// SteadyAfter is how long Postgres must have answered before an expired lease proves anything:
	// meanwhile nodes renew their leases and write what they kept.
	SteadyAfter = 15 * time.Second
	// probeEvery is how often Postgres is probed, probeTimeout how long a probe may take.
	probeEvery   = time.Second
	probeTimeout = 2500 * time.Millisecond
	// probeGap is how far apart two probes may be. A longer gap means that this process or its machine
	// was suspended, so nothing is known of what Postgres did meanwhile.
	probeGap = probeEvery + probeTimeout + time.Second
)

// Health is what this process knows of how steadily Postgres answers.
//
// While Postgres is unavailable no node can renew its leases, so an expired lease proves nothing.
// Leases are judged only while Steady is true. A Postgres that hangs reports no error, it answers
// minutes later, so Watch probes it with a commit each second.
//
// Safe for concurrent use.
type Health struct {
	db  *DB
	now func() time.Time

	mu sync.Mutex
	// lastProbe is when a probe ended last; zero: there are no probes.
	lastProbe time.Time
	failed    bool
	// steadySince is since when every probe succeeded; zero: for as long as anything is known.
	steadySince time.Time
}

// NewHealth makes the health of a database. It counts as steady until Watch or Probe is called. now
// is the wall clock; nil is time.Now.
func NewHealth(db *DB, now func() time.Time) *Health {
	if now == nil {
		now = time.Now
	}
	return &Health{db: db, now: now}
}

// Watch probes Postgres until ctx ends. onFailure, which may be nil, is called for each probe
// that failed.
func (h *Health) Watch(ctx context.Context, onFailure func(ctx context.Context, err error)) {
	defer h.stopped()
	ticker.Every(ctx, probeEvery, func() {
		if err := h.Probe(ctx); err != nil && ctx.Err() == nil && onFailure != nil {
			onFailure(ctx, err)
		}
	})
}

// Probe has Postgres commit once. Errors: those of the commit, and of one that takes too long.
func (h *Health) Probe(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := h.db.Commits(bounded)
	if ctx.Err() == nil {
		h.probed(err)
	}
	return err
}

func (h *Health) probed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if err == nil && (h.failed || h.missedProbes(now)) {
		h.steadySince = now
	}
	h.failed, h.lastProbe = err != nil, now
}

// missedProbes reports whether probes are missing before now, by the wall clock: the monotonic one
// stands still while a machine is suspended. h.mu is held.
func (h *Health) missedProbes(now time.Time) bool {
	return !h.lastProbe.IsZero() && now.Round(0).Sub(h.lastProbe.Round(0)) > probeGap
}

// Observe learns from the error of other work: one that says that Postgres is away makes the wait
// for Steady begin again.
func (h *Health) Observe(err error) {
	if IsAway(err) || errors.Is(err, context.DeadlineExceeded) {
		h.Disturb()
	}
}

// Disturb makes the wait for Steady begin again.
func (h *Health) Disturb() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steadySince = h.now()
}

func (h *Health) stopped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastProbe = time.Time{}
}

// Failing reports whether the last probe failed.
func (h *Health) Failing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// Steady reports whether Postgres has answered for so long that an expired lease proves that its
// node is lost.
func (h *Health) Steady() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	return !h.failed && !h.missedProbes(now) && now.Sub(h.steadySince) >= SteadyAfter
}
