package journal

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

const (
	// patience is how long an operation may take before the database is probed.
	patience = 1500 * time.Millisecond
	// probeEvery is how often a database that is away is probed, probeTimeout how long a probe may
	// take.
	probeEvery   = 900 * time.Millisecond
	probeTimeout = 2 * time.Second
	// catchUpWait is how long an operation waits for the session's records to be replayed before it
	// becomes a record too.
	catchUpWait = 3 * time.Second
	// markLife is how long spill_until holds back a session's end and turns of other nodes; it is
	// renewed when it is markRenewal old.
	markLife    = 30 * time.Second
	markRenewal = 10 * time.Second
	// adoptEvery is how often this node looks for the records of processes that have ended, when
	// nothing hints at some.
	adoptEvery = 30 * time.Second
)

// errAway is the cause of an operation that was given up because the database does not answer.
var errAway = errors.New("the database does not answer")

// Journal implements turns.Store and turns.Database. Safe for concurrent use.
type Journal struct {
	turns.Store

	db       *postgres.DB
	sessions *sessions.Service
	tools    *tools.Service
	log      *slog.Logger
	now      func() time.Time

	wal     *wal.Log
	metrics metrics
	// wake has the loop look at once.
	wake chan struct{}
	// looked is closed when the records of ended processes have been looked for.
	looked chan struct{}

	probing sync.Mutex
	probed  time.Time
	answers bool

	adopting sync.Mutex
	adopted  time.Time // when it was looked for last
	// adoptions counts how often that has begun.
	adoptions atomic.Int64

	mu       sync.Mutex
	away     time.Time // since when; zero: Postgres is there
	backlogs map[sessions.ID]*backlog
	// running counts the turns of a session that have their rows and run here.
	running map[sessions.ID]int
}

// backlog is a session's records that wait to be replayed. Its fields are guarded by Journal.mu.
type backlog struct {
	tenant workspaces.TenantID
	queue  []pending
	// busy counts the offline turns and appends that are under way.
	busy int
	// turns are those whose end is among the records.
	turns map[sessions.TurnID]bool
	// marked is when the session's row was told.
	marked time.Time
	tries  int
	// settled is closed when the session is online again.
	settled chan struct{}
	// writing keeps the order of appends.
	writing sync.Mutex
}

// pending is a record that waits to be replayed: on disk, or only in memory.
type pending struct {
	kept wal.Record
	// held is a record that the disk had no room for; nil: the record is on disk.
	held *record
}

// Deps is what a Journal works with. Store, DB, Sessions and WAL are required.
type Deps struct {
	// Store is where turns are kept while Postgres is there.
	Store    turns.Store
	DB       *postgres.DB
	Sessions *sessions.Service
	// Tools writes traces of calls; nil: they are dropped.
	Tools *tools.Service
	// WAL is this process's part of the disk.
	WAL *wal.Log
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// New makes the journal. Run writes what it keeps.
func New(d Deps) *Journal {
	j := &Journal{
		Store: d.Store, db: d.DB, sessions: d.Sessions, tools: d.Tools, wal: d.WAL, log: d.Log, now: d.Now,
		wake: make(chan struct{}, 1), looked: make(chan struct{}), backlogs: map[sessions.ID]*backlog{}, running: map[sessions.ID]int{},
	}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if j.now == nil {
		j.now = time.Now
	}
	j.measure(d.Registry)
	return j
}

// ReachSession implements turns.Database.
func (j *Journal) ReachSession(ctx context.Context, id sessions.ID, work func(ctx context.Context) error) error {
	if !j.caughtUp(ctx, id) {
		return turns.OfflineError(errAway)
	}
	return j.reach(ctx, work)
}

// Reach implements turns.Database.
func (j *Journal) Reach(ctx context.Context, work func(ctx context.Context) error) error {
	if j.Offline() {
		return turns.OfflineError(errAway)
	}
	return j.reach(ctx, work)
}

func (j *Journal) reach(ctx context.Context, work func(ctx context.Context) error) error {
	watched, stop := j.watch(ctx)
	defer stop()
	err := work(watched)
	if err == nil || ctx.Err() != nil || !postgres.IsAway(err) && !errors.Is(context.Cause(watched), errAway) {
		return err
	}
	if !j.answering() { // else one connection broke: the record is written at once
		j.markAway(ctx, err)
	}
	return turns.OfflineError(err)
}

// caughtUp says whether the session's rows may be worked on: Postgres is there and no record waits.
// It waits a moment for the session's records to be replayed.
func (j *Journal) caughtUp(ctx context.Context, id sessions.ID) bool {
	j.mu.Lock()
	d, away := j.backlogs[id], !j.away.IsZero()
	busy := d != nil && d.busy > 0
	j.mu.Unlock()
	if away || busy || d == nil {
		return !away && !busy
	}
	j.wakeUp()
	waiting := time.NewTimer(catchUpWait)
	defer waiting.Stop()
	select {
	case <-d.settled:
		return !j.Offline()
	case <-waiting.C:
	case <-ctx.Done():
	}
	return false
}

// watch returns a context that ends when the database does not answer any more: a network that
// drops packets reports no error.
func (j *Journal) watch(ctx context.Context) (watched context.Context, stop func()) {
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
		timer = time.AfterFunc(patience, func() {
			if watched.Err() == nil && !j.answering() {
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

// answering probes the database, on a connection of its own, for whether it can be written; at most
// once in probeEvery.
func (j *Journal) answering() bool {
	j.probing.Lock()
	defer j.probing.Unlock()
	if j.now().Sub(j.probed) < probeEvery {
		return j.answers
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	j.answers, j.probed = j.db.Writable(ctx) == nil, j.now()
	return j.answers
}

// Check implements turns.Database.
func (j *Journal) Check(ctx context.Context, err error) {
	if !j.Offline() && !j.answering() && ctx.Err() == nil {
		j.markAway(ctx, err)
	}
}

// markAway notes that Postgres is away: nothing but the probes of Run asks it from then on.
func (j *Journal) markAway(ctx context.Context, err error) {
	j.mu.Lock()
	first := j.away.IsZero()
	if first {
		j.away = j.sessions.Now()
	}
	j.mu.Unlock()
	if first {
		j.log.WarnContext(ctx, "Postgres is away: turns are kept on disk until it answers", "error", err)
		j.probing.Lock()
		j.probed = time.Time{}
		j.probing.Unlock()
	}
}

// Offline implements turns.Database.
func (j *Journal) Offline() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.away.IsZero()
}

// Ready implements turns.Database: before, no session of an ended process is closed.
func (j *Journal) Ready() bool {
	select {
	case <-j.looked:
		return true
	default:
		return false
	}
}

// Holds implements turns.Database.
func (j *Journal) Holds(id sessions.ID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.backlogs[id] != nil
}

// HasEnd implements turns.Database.
func (j *Journal) HasEnd(id sessions.ID, turn sessions.TurnID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.backlogs[id]
	return d != nil && d.turns[turn]
}

func (j *Journal) wakeUp() {
	select {
	case j.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// enter keeps the session offline until leave.
func (j *Journal) enter(tenant workspaces.TenantID, id sessions.ID) *backlog {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.backlogs[id]
	if d == nil {
		d = &backlog{tenant: tenant, turns: map[sessions.TurnID]bool{}, settled: make(chan struct{})}
		j.backlogs[id] = d
	}
	d.busy++
	return d
}

// leave ends an enter. The session is online when no record waits.
func (j *Journal) leave(id sessions.ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.backlogs[id]
	if d.busy--; d.busy == 0 && len(d.queue) == 0 && d.marked.IsZero() {
		j.settle(id, d)
	}
	j.wakeUp()
}

// settle puts the session online. j.mu is held.
func (j *Journal) settle(id sessions.ID, d *backlog) {
	delete(j.backlogs, id)
	close(d.settled)
}

// keep appends a record to those of its session: it is on disk when there is no error.
// Errors: Unavailable unavailable.
func (j *Journal) keep(r record) error {
	d := j.enter(r.Tenant, r.Session)
	defer j.leave(r.Session)
	encoded, err := r.encode()
	if err != nil {
		return err
	}
	d.writing.Lock()
	defer d.writing.Unlock()
	kept, err := j.wal.Append(string(r.Session), encoded)
	switch {
	case errors.Is(err, wal.ErrFull):
		j.metrics.refused.Inc()
		return fault.Wrap(err, fault.ServiceUnavailable,
			"The database is not available, and this server has no room left to keep turns "+
				"until it is (PARLANCE_SPILL_MAX_BYTES). Try again in a moment.")
	case err != nil:
		j.metrics.refused.Inc()
		return fault.Wrap(err, fault.ServiceUnavailable,
			"The database is not available, and the turn could not be kept on disk. Try again in a moment.")
	}
	j.metrics.kept.WithLabelValues(string(r.Kind)).Inc()
	j.mu.Lock()
	defer j.mu.Unlock()
	d.put(r, pending{kept: kept})
	return nil
}

// hold appends a record in memory only: it must be replayed behind those on disk, and the disk has
// no room.
func (j *Journal) hold(r record) {
	d := j.enter(r.Tenant, r.Session)
	defer j.leave(r.Session)
	d.writing.Lock()
	defer d.writing.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	d.put(r, pending{held: &r})
}

// put appends a record. Journal.mu is held.
func (d *backlog) put(r record, w pending) {
	d.queue = append(d.queue, w)
	if r.Kind == recordFinish {
		d.turns[r.Turn.ID] = true
	}
}
