package requests

import (
	"sync"

	"parlance.dev/parlance/sessions"
)

// followers wait for changes of the rows of turns. Safe for concurrent use.
type followers struct {
	mu    sync.Mutex
	turns map[sessions.TurnID]map[chan struct{}]bool
}

func newFollowers() *followers {
	return &followers{turns: map[sessions.TurnID]map[chan struct{}]bool{}}
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
