package live

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// inbox is how messages reach an engine. An engine that has nothing to do has no goroutine: whoever
// sends it something has the crew work on it. One that works takes what came meanwhile in its
// order, and its senders wait until it does.
type inbox struct {
	mu sync.Mutex
	// busy says that the engine works, over that it has ended.
	busy, over bool
	waiting    []*letter
}

// letter is a message that waits.
type letter struct {
	message any
	// taken is told whether the engine works on it; otherwise it has ended.
	taken chan bool
}

// errEnded says that the engine takes no messages any more.
var errEnded = errors.New("the conversation has ended")

// send hands a message over, which the engine begins to work on; false when it has ended.
func (e *engine) send(message any) bool { return e.put(context.Background(), message) == nil }

// put is send. Errors: errEnded; ctx's, and then the message is not taken.
func (e *engine) put(ctx context.Context, message any) error {
	in := &e.inbox
	in.mu.Lock()
	switch {
	case in.over:
		in.mu.Unlock()
		return errEnded
	case !in.busy:
		in.busy = true
		in.mu.Unlock()
		e.s.workers.Go(func() { e.work(message) })
		return nil
	}
	waits := &letter{message: message, taken: make(chan bool, 1)}
	in.waiting = append(in.waiting, waits)
	in.mu.Unlock()
	select {
	case taken := <-waits.taken:
		return answerOf(taken)
	case <-ctx.Done():
	}
	in.mu.Lock()
	if at := slices.Index(in.waiting, waits); at >= 0 {
		in.waiting = slices.Delete(in.waiting, at, at+1)
		in.mu.Unlock()
		return ctx.Err()
	}
	in.mu.Unlock()
	return answerOf(<-waits.taken)
}

func answerOf(taken bool) error {
	if taken {
		return nil
	}
	return errEnded
}

// work takes a message and those that come meanwhile.
func (e *engine) work(message any) {
	for {
		e.take(message)
		if e.retire() {
			e.retired()
			return
		}
		next := e.inbox.next()
		if next == nil {
			return
		}
		message = next.message
		next.taken <- true
	}
}

// next is the message that has waited longest; nil: there is none, and the engine has stopped
// working.
func (in *inbox) next() *letter {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 {
		in.waiting, in.busy = nil, false
		return nil
	}
	next := in.waiting[0]
	in.waiting[0] = nil
	in.waiting = in.waiting[1:]
	return next
}

// retired lets go of those that still wait: the engine is not on the node any more.
func (e *engine) retired() {
	e.client.stop()
	e.inbox.mu.Lock()
	waiting := e.inbox.waiting
	e.inbox.waiting, e.inbox.over = nil, true
	e.inbox.mu.Unlock()
	close(e.done)
	for _, one := range waiting {
		one.taken <- false
	}
	e.s.workers.Done()
}
