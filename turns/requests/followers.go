package requests

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
)

// MaxFollowers is how many callers may follow a turn on a node at the same time.
const MaxFollowers = 32

// followers wait for changes of the rows of turns. Safe for concurrent use.
type followers struct {
	mu    sync.Mutex
	turns map[sessions.TurnID]map[chan time.Time]bool
	// here counts the callers of Follow.
	here map[followed]int
	rows map[followed]*row
}

// row is the row of a turn as its followers on this node have last read it.
type row struct {
	readers int
	mu      sync.Mutex
	turn    sessions.Turn
	// readAt is when it was read; zero: it was not.
	readAt time.Time
}

// read returns the row as it was at since or later: of the followers that wake at the same time one
// reads it for all.
func (r *row) read(
	ctx context.Context, now func() time.Time, since time.Time, find func(context.Context) (sessions.Turn, error),
) (sessions.Turn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readAt.After(since) {
		return r.turn, nil
	}
	at := now()
	turn, err := find(ctx)
	if err == nil {
		r.turn, r.readAt = turn, at
	}
	return turn, err
}

// followed is a turn as its caller names it: the turn may not be one of the session.
type followed struct {
	session sessions.ID
	turn    sessions.TurnID
}

// followersRetry is when a refused follower may try again.
const followersRetry = 5 * time.Second

// enter counts a follower of a turn until leave is called. Errors: RateLimited rate-limited.
func (f *followers) enter(session sessions.ID, turn sessions.TurnID) (leave func(), err error) {
	at := followed{session: session, turn: turn}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.here[at] >= MaxFollowers {
		refusal := fault.New(fault.RateLimitedReason, "%d requests follow this turn already. End one of them, or read the turn.", MaxFollowers)
		refusal.RetryAfter = followersRetry
		return nil, refusal
	}
	f.here[at]++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.here[at]--; f.here[at] == 0 {
			delete(f.here, at)
		}
	}, nil
}

func newFollowers() *followers {
	return &followers{turns: map[sessions.TurnID]map[chan time.Time]bool{}, here: map[followed]int{}, rows: map[followed]*row{}}
}

// add returns the row of a turn that its followers share, and has changed receive the time when
// the row has changed, until remove is called.
func (f *followers) add(session sessions.ID, turn sessions.TurnID) (shared *row, changed <-chan time.Time, remove func()) {
	woken, at := make(chan time.Time, 1), followed{session: session, turn: turn}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows[at] == nil {
		f.rows[at] = &row{}
	}
	shared = f.rows[at]
	shared.readers++
	if f.turns[turn] == nil {
		f.turns[turn] = map[chan time.Time]bool{}
	}
	f.turns[turn][woken] = true
	return shared, woken, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if shared.readers--; shared.readers == 0 {
			delete(f.rows, at)
		}
		if delete(f.turns[turn], woken); len(f.turns[turn]) == 0 {
			delete(f.turns, turn)
		}
	}
}

// wake wakes those who follow the turn, which has changed by now; all of them when turn is empty.
func (f *followers) wake(turn sessions.TurnID, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for followed, woken := range f.turns {
		if turn != "" && turn != followed {
			continue
		}
		for one := range woken {
			select {
			case one <- now:
			default: // it is about to read the row
			}
		}
	}
}
