package requests

import (
	"context"
	"errors"
	"sync"
	"time"

	"parlance.dev/parlance/sessions"
)

// errNoListeners is why a streamed turn was stopped to which nobody listened any more.
var errNoListeners = errors.New("nobody listened to the answer any more")

// broadcast is a streamed turn that runs on this node, with the events it has had.
type broadcast struct {
	session sessions.ID
	// grace is how long the turn goes on while nobody listens.
	grace  time.Duration
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	events []Event
	// changed is closed when there is something new, and replaced.
	changed   chan struct{}
	over      bool
	err       error
	listeners int
	// abandoned cancels the turn when grace is over.
	abandoned *time.Timer
}

func newBroadcast(session sessions.ID, grace time.Duration, cancel context.CancelCauseFunc) *broadcast {
	return &broadcast{session: session, grace: grace, cancel: cancel, changed: make(chan struct{})}
}

func (b *broadcast) add(e Event) {
	b.change(func() { b.events = append(b.events, e) })
}

func (b *broadcast) finish(err error) {
	b.change(func() { b.over, b.err = true, err })
}

func (b *broadcast) change(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	close(b.changed)
	b.changed = make(chan struct{})
}

// join counts a listener; leave takes it off, and grace begins when the last one leaves.
func (b *broadcast) join() (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners++
	if b.abandoned != nil {
		b.abandoned.Stop()
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.listeners--; b.listeners == 0 && !b.over {
			b.abandoned = time.AfterFunc(b.grace, func() { b.cancel(errNoListeners) })
		}
	}
}

// play gives emit the events from the next one on until the turn is over, and returns how it went.
func (b *broadcast) play(ctx context.Context, next int, emit EmitFunc) error {
	for {
		b.mu.Lock()
		changed, over, err := b.changed, b.over, b.err
		rest := b.events[min(next, len(b.events)):]
		b.mu.Unlock()
		for _, e := range rest {
			if err := emit(e); err != nil {
				return errGone(err)
			}
		}
		next += len(rest)
		if over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// after is the index of the first event that a caller at the position does not have. The position
// may come from the turn's row, whose deltas are longer than those of the broadcast.
func (b *broadcast) after(turn sessions.TurnID, has position) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := has.events; n > 0 && n <= len(b.events) && b.events[n-1].ID == has.eventID(turn, b.events[n-1].Type) {
		return n
	}
	next := 0
	for i, e := range b.events {
		_, at, err := parseEventID(e.ID)
		if err != nil || at.losses != has.losses {
			return 0
		}
		if has.events > 0 && e.Type != EventDone && e.Type != EventClientCall && e.Type != EventApproval &&
			at.bytes <= has.bytes && at.calls <= has.calls {
			next = i + 1
		}
	}
	return next
}

// broadcasts are the streamed turns that run on this node. Safe for concurrent use.
type broadcasts struct {
	mu    sync.Mutex
	turns map[sessions.TurnID]*broadcast
}

func newBroadcasts() *broadcasts { return &broadcasts{turns: map[sessions.TurnID]*broadcast{}} }

// register makes a broadcast be found by its turn; false when the turn has another one.
func (r *broadcasts) register(turn sessions.TurnID, b *broadcast) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.turns[turn]; other != nil {
		return other == b
	}
	r.turns[turn] = b
	return true
}

func (r *broadcasts) unregister(turn sessions.TurnID, b *broadcast) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turns[turn] == b {
		delete(r.turns, turn)
	}
}

// find is the broadcast of a session's turn; nil when there is none here.
func (r *broadcasts) find(session sessions.ID, turn sessions.TurnID) *broadcast {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.turns[turn]; b != nil && b.session == session {
		return b
	}
	return nil
}
