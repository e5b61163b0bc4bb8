package requests

import (
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
	turns map[sessions.TurnID]map[chan struct{}]bool
	// here counts the callers of Follow.
	here map[followed]int
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
	return &followers{turns: map[sessions.TurnID]map[chan struct{}]bool{}, here: map[followed]int{}}
}

// add has changed receive when the row of the turn has changed, until remove is called.
func (f *followers) add(turn sessions.TurnID) (changed <-chan struct{}, remove func()) {
	woken := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turns[turn] == nil {
		f.turns[turn] = map[chan struct{}]bool{}
	}
	f.turns[turn][woken] = true
	return woken, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if delete(f.turns[turn], woken); len(f.turns[turn]) == 0 {
			delete(f.turns, turn)
		}
	}
}

// wake wakes those who follow the turn; all of them when turn is empty.
func (f *followers) wake(turn sessions.TurnID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for followed, woken := range f.turns {
		if turn != "" && turn != followed {
			continue
		}
		for one := range woken {
			select {
			case one <- struct{}{}:
			default: // it is about to read the row
			}
		}
	}
}
