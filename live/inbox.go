package live

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// inbox delivers messages to an engine one at a time. An idle engine has no goroutine: send starts
// one for the message, which also handles the messages that arrive meanwhile, in their order. Their
// senders wait until it does.
type inbox struct {
	// process handles a message. It returns true when the engine has ended.
	process func(message any) (ended bool)
	// start runs a function in a goroutine that the node waits for.
	start func(func())
	// done is closed when the engine has ended.
	done chan struct{}

	mu sync.Mutex
	// busy is set while a goroutine handles messages, ended once the engine takes no more.
	busy, ended bool
	waiting     []*queuedMessage
}

// queuedMessage is a message whose sender waits.
type queuedMessage struct {
	message any
	// accepted gets true when the message's turn has come, false when the engine has ended.
	accepted chan bool
}

// errEnded says that the engine takes no messages any more.
var errEnded = errors.New("the conversation has ended")

// send waits until the engine begins to handle the message; false when the engine has ended.
func (in *inbox) send(message any) bool { return in.put(context.Background(), message) == nil }

// put is send with a context. Errors: errEnded; ctx's, and then the message is not handled.
func (in *inbox) put(ctx context.Context, message any) error {
	in.mu.Lock()
	switch {
	case in.ended:
		in.mu.Unlock()
		return errEnded
	case !in.busy:
		in.busy = true
		in.mu.Unlock()
		in.start(func() { in.work(message) })
		return nil
	}
	queued := &queuedMessage{message: message, accepted: make(chan bool, 1)}
	in.waiting = append(in.waiting, queued)
	in.mu.Unlock()
	select {
	case accepted := <-queued.accepted:
		return deliveryError(accepted)
	case <-ctx.Done():
	}
	in.mu.Lock()
	if at := slices.Index(in.waiting, queued); at >= 0 {
		in.waiting = slices.Delete(in.waiting, at, at+1)
		in.mu.Unlock()
		return ctx.Err()
	}
	in.mu.Unlock()
	return deliveryError(<-queued.accepted)
}

func deliveryError(accepted bool) error {
	if accepted {
		return nil
	}
	return errEnded
}

// work handles a message and those that arrive meanwhile.
func (in *inbox) work(message any) {
	for {
		if in.process(message) {
			in.end()
			return
		}
		next := in.next()
		if next == nil {
			return
		}
		message = next.message
		next.accepted <- true
	}
}

// next returns the message that has waited longest. When there is none it returns nil, and the
// goroutine must end.
func (in *inbox) next() *queuedMessage {
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

// end refuses the messages that still wait and all later ones.
func (in *inbox) end() {
	in.mu.Lock()
	waiting := in.waiting
	in.waiting, in.ended = nil, true
	in.mu.Unlock()
	close(in.done)
	for _, queued := range waiting {
		queued.accepted <- false
	}
}
