package live

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// inbox gives an engine one function at a time to run. An idle engine has no goroutine: send starts
// one for the function, which also runs the functions that arrive meanwhile, in their order. Their
// senders wait until it does.
type inbox struct {
	// process runs a function. It returns true when the engine has ended.
	process func(work func()) (ended bool)
	// start runs a function in a goroutine that the node waits for.
	start func(func())
	// done is closed when the engine has ended.
	done chan struct{}

	mu sync.Mutex
	// busy is set while a goroutine runs functions, ended once the engine takes no more.
	busy, ended bool
	waiting     []*queuedWork
}

// queuedWork is a function whose sender waits.
type queuedWork struct {
	work func()
	// accepted gets true when the function's turn has come, false when the engine has ended.
	accepted chan bool
}

// errEnded says that the engine takes no functions any more.
var errEnded = errors.New("the conversation has ended")

// send waits until the engine begins to run the function; false when the engine has ended.
func (in *inbox) send(work func()) bool { return in.put(context.Background(), work) == nil }

// call is send that waits until the function has returned.
func (in *inbox) call(work func()) bool {
	returned := make(chan struct{})
	accepted := in.send(func() {
		defer close(returned)
		work()
	})
	if accepted {
		<-returned
	}
	return accepted
}

// put is send with a context. Errors: errEnded; ctx's, and then the function is not run.
func (in *inbox) put(ctx context.Context, work func()) error {
	in.mu.Lock()
	switch {
	case in.ended:
		in.mu.Unlock()
		return errEnded
	case !in.busy:
		in.busy = true
		in.mu.Unlock()
		in.start(func() { in.run(work) })
		return nil
	}
	queued := &queuedWork{work: work, accepted: make(chan bool, 1)}
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

// run runs a function and those that arrive meanwhile.
func (in *inbox) run(work func()) {
	for {
		if in.process(work) {
			in.end()
			return
		}
		next := in.next()
		if next == nil {
			return
		}
		work = next.work
		next.accepted <- true
	}
}

// next returns the function that has waited longest. When there is none it returns nil, and the
// goroutine must end.
func (in *inbox) next() *queuedWork {
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

// end refuses the functions that still wait and all later ones.
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
