package turns

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// A session that is live on this node goes on while Postgres is away. What would have been written is kept on
// this node's disk (platform/wal), in order, and written when Postgres answers:
//
//	attached ──Postgres does not answer──► adrift ──all is written, no answer of its own going out──► attached
//
// Adrift, a turn is taken from what the node remembers of the session (recall): its configuration, earlier turns,
// tools and variables. There are no passages, and no calls of tools whose number is bounded; the model is told.
// Each record says what is so (a turn as it stands, a turn's end, a socket's leaving, an end), not what to do: it
// may be written twice, and is in Postgres once. turns.losses keeps out a turn that another node has taken up.
//
// A record becomes a row of the transcript in the transaction that also appends turn.persistence_failed, once a turn.
// While a node still has records of a session it says so (sessions.spill_until): nobody closes the session or takes a turn
// of it meanwhile; an end is written down as wanted and comes true behind the last record. A session that was closed
// before the node could say so gets its turns all the same. What can never be written (the session is erased,
// another node answered) is kept aside, and nothing waits for it.

const (
	// suspicion is how long an operation may take before the database is asked whether it is there.
	suspicion = 1500 * time.Millisecond
	// probeEvery is how often a database that is away is asked, probeTimeout how long it may think.
	probeEvery   = 900 * time.Millisecond
	probeTimeout = 2 * time.Second
	// dockWait is how long an operation waits for the session's records to be written before it is kept too.
	dockWait = 3 * time.Second
	// markLife is how long a mark holds a session's end and its turns, markRenewal how old one gets.
	markLife    = 30 * time.Second
	markRenewal = 10 * time.Second
	// adoptEvery is how often this node looks for what ended processes have left, when nothing hints at it.
	adoptEvery = 30 * time.Second
)

var (
	// errAdrift says that the session goes on without Postgres.
	errAdrift = errors.New("the session goes on without the database")
	// errAway is the cause of an operation that was given up because the database does not answer.
	errAway = errors.New("the database does not answer")
)

// spill is what this node keeps while Postgres is away. A nil one keeps nothing, and every method may be called.
type journal struct {
	s       *Service
	wal     *wal.Log
	metrics spillMetrics
	// wake has the loop look at once.
	wake chan struct{}
	// looked is closed when what ended processes have left has been looked for.
	looked chan struct{}

	probing sync.Mutex
	probed  time.Time
	answers bool

	adopting sync.Mutex
	adopted  time.Time // when it was looked for last
	// adoptions counts how often that has begun.
	adoptions atomic.Int64

	mu     sync.Mutex
	away   time.Time // since when; zero: Postgres is there
	drifts map[sessions.ID]*drift
}

// drift is a session that has records here. Its fields are guarded by spill.mu.
type drift struct {
	tenant workspaces.TenantID
	queue  []unwritten
	// busy counts the answers and appends that are under way.
	busy int
	// turns are those whose end is among the records.
	turns map[sessions.TurnID]bool
	// marked is when the session's row was told.
	marked time.Time
	tries  int
	// settled is closed when the session is attached again.
	settled chan struct{}
	// writing keeps the order of appends.
	writing sync.Mutex
}

// unwritten is a record that waits: kept on disk, or only held here.
type unwritten struct {
	kept wal.Record
	// held is what there was no room for on disk; nil: it is there.
	held *record
}

func newJournal(s *Service, kept *wal.Log) *journal {
	if kept == nil {
		return nil
	}
	return &journal{s: s, wal: kept, wake: make(chan struct{}, 1), looked: make(chan struct{}), drifts: map[sessions.ID]*drift{}}
}

// attached runs a piece of work on the session's rows. The error is errAdrift (as Unavailable unavailable) when
// Postgres is away, or the session has records here that come first.
func (s *Service) Attached(ctx context.Context, id sessions.ID, work func(ctx context.Context) error) error {
	p := s.spill
	if p == nil {
		return work(ctx)
	}
	if !p.docked(ctx, id) {
		return adrift(errAway)
	}
	return p.reach(ctx, work)
}

// Reach runs work that needs Postgres and keeps nothing for when it is back. The work is given up when Postgres stops
// to answer, and not begun while that is known. Errors: Unavailable unavailable, work's.
func (s *Service) Reach(ctx context.Context, work func(ctx context.Context) error) error {
	if s.spill == nil {
		return work(ctx)
	}
	if s.spill.IsAway() {
		return adrift(errAway)
	}
	return s.spill.reach(ctx, work)
}

func (p *journal) reach(ctx context.Context, work func(ctx context.Context) error) error {
	watched, stop := p.watch(ctx)
	defer stop()
	err := work(watched)
	if err == nil || ctx.Err() != nil || !postgres.IsAway(err) && !errors.Is(context.Cause(watched), errAway) {
		return err
	}
	if !p.answering() { // else one connection broke: the record is written at once
		p.lost(ctx, err)
	}
	return adrift(err)
}

func adrift(err error) error {
	refusal := fault.Wrap(fmt.Errorf("%w: %w", errAdrift, err), fault.ServiceUnavailable, "The database is not available right now. Try again in a moment.")
	refusal.RetryAfter = 2 * time.Second
	return refusal
}

// isAdrift says whether the session goes on without Postgres.
func (s *Service) IsAdrift(err error) bool {
	return s.spill != nil && errors.Is(err, errAdrift)
}

// docked says whether the session's rows may be worked on, and waits a moment for its records to be written.
func (p *journal) docked(ctx context.Context, id sessions.ID) bool {
	p.mu.Lock()
	d, away := p.drifts[id], !p.away.IsZero()
	busy := d != nil && d.busy > 0
	p.mu.Unlock()
	if away || busy || d == nil {
		return !away && !busy
	}
	p.kick()
	waiting := time.NewTimer(dockWait)
	defer waiting.Stop()
	select {
	case <-d.settled:
		return !p.IsAway()
	case <-waiting.C:
	case <-ctx.Done():
	}
	return false
}

// watch ends work whose database has stopped to answer: a network that swallows packets says nothing.
func (p *journal) watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	var again func()
	var timer *time.Timer
	var mu sync.Mutex
	again = func() {
		mu.Lock()
		defer mu.Unlock()
		if watched.Err() != nil {
			return
		}
		timer = time.AfterFunc(suspicion, func() {
			if watched.Err() == nil && !p.answering() {
				cancel(errAway)
			}
			again()
		})
	}
	again()
	return watched, func() {
		cancel(nil)
		mu.Lock()
		defer mu.Unlock()
		if timer != nil { // there is none when ctx had ended before
			timer.Stop()
		}
	}
}

// answering asks the database, on a connection of its own, whether it can be written; at most once in probeEvery.
func (p *journal) answering() bool {
	p.probing.Lock()
	defer p.probing.Unlock()
	if p.s.now().Sub(p.probed) < probeEvery {
		return p.answers
	}
	ctx, cancel := context.WithTimeout(p.s.live, probeTimeout)
	defer cancel()
	p.answers, p.probed = p.s.db.Writable(ctx) == nil, p.s.now()
	return p.answers
}

// suspect notes that Postgres is away when it does not answer now either.
func (p *journal) Suspect(ctx context.Context, err error) {
	if p != nil && !p.IsAway() && !p.answering() && ctx.Err() == nil {
		p.lost(ctx, err)
	}
}

// lost notes that Postgres is away: nobody asks it again until the loop has found it.
func (p *journal) lost(ctx context.Context, err error) {
	p.mu.Lock()
	first := p.away.IsZero()
	if first {
		p.away = p.s.sessions.Now()
	}
	p.mu.Unlock()
	if first {
		p.s.log.WarnContext(ctx, "Postgres is away: turns are kept on disk until it answers", "error", err)
		p.probing.Lock()
		p.probed = time.Time{}
		p.probing.Unlock()
	}
}

func (p *journal) IsAway() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.away.IsZero()
}

// hasLooked says that what ended processes have left has been looked for: no session of theirs is closed before.
func (p *journal) HasLooked() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.looked:
		return true
	default:
		return false
	}
}

// holds says that the session has records here, or an answer that will be one.
func (p *journal) holds(id sessions.ID) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drifts[id] != nil
}

// ended says that the turn's end is among the records.
func (p *journal) Ended(id sessions.ID, turn sessions.TurnID) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.drifts[id]
	return d != nil && d.turns[turn]
}

func (p *journal) kick() {
	select {
	case p.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// enter has the session be adrift until leave.
func (p *journal) enter(tenant workspaces.TenantID, id sessions.ID) *drift {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.drifts[id]
	if d == nil {
		d = &drift{tenant: tenant, turns: map[sessions.TurnID]bool{}, settled: make(chan struct{})}
		p.drifts[id] = d
	}
	d.busy++
	return d
}

// leave is the end of an enter. The session is attached when nothing is left.
func (p *journal) leave(id sessions.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.drifts[id]
	if d.busy--; d.busy == 0 && len(d.queue) == 0 && d.marked.IsZero() {
		p.settle(id, d)
	}
	p.kick()
}

// settle attaches the session. p.mu is held.
func (p *journal) settle(id sessions.ID, d *drift) {
	delete(p.drifts, id)
	close(d.settled)
}

// keep puts a record behind the session's others: it is on disk when there is no error.
// Errors: Unavailable unavailable.
func (p *journal) keep(r record) error {
	d := p.enter(r.Tenant, r.Session)
	defer p.leave(r.Session)
	encoded, err := r.encode()
	if err != nil {
		return err
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	kept, err := p.wal.Append(string(r.Session), encoded)
	switch {
	case errors.Is(err, wal.ErrFull):
		p.metrics.refused.Inc()
		return fault.Wrap(err, fault.ServiceUnavailable, "The database is not available, and this server has no room left to keep turns until it is (PARLANCE_SPILL_MAX_BYTES). Try again in a moment.")
	case err != nil:
		p.metrics.refused.Inc()
		return fault.Wrap(err, fault.ServiceUnavailable, "The database is not available, and the turn could not be kept on disk. Try again in a moment.")
	}
	p.metrics.kept.WithLabelValues(string(r.Kind)).Inc()
	p.mu.Lock()
	defer p.mu.Unlock()
	d.put(r, unwritten{kept: kept})
	return nil
}

// hold is keep in memory, for what must come behind what is on disk already, where there is no room for it.
func (p *journal) hold(r record) {
	d := p.enter(r.Tenant, r.Session)
	defer p.leave(r.Session)
	d.writing.Lock()
	defer d.writing.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	d.put(r, unwritten{held: &r})
}

// put puts a record behind the others. spill.mu is held.
func (d *drift) put(r record, w unwritten) {
	d.queue = append(d.queue, w)
	if r.Kind == recordFinish {
		d.turns[r.Turn.ID] = true
	}
}
