package voice

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

const (
	// notePause is how long a note waits that could not be written.
	notePause = time.Second
	// noteTimeout bounds the writing of one.
	noteTimeout = 5 * time.Second
	// maxNotes bounds what waits while the database is away: some hours of 300 calls.
	maxNotes = 100_000
)

// notes writes to the database what calls have used, how fast they were and what was heard, in the
// background: no call waits for it. A note that cannot be written now goes behind the others.
type notes struct {
	log   *slog.Logger
	life  context.Context //nolint:containedctx // the life of the goroutine that writes
	start func(func())

	mu      sync.Mutex
	waiting []note
	writing bool
}

// note writes one thing. It is called again while it fails for a reason that may pass.
type note func(ctx context.Context) error

// add has a note written.
func (n *notes) add(write note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) < maxNotes {
		n.waiting = append(n.waiting, write)
	}
	if !n.writing {
		n.writing = true
		n.start(n.run)
	}
}

// run writes until nothing waits.
func (n *notes) run() {
	for {
		next := n.take()
		if next == nil {
			return
		}
		if n.write(next) {
			continue
		}
		n.mu.Lock()
		n.waiting = append(n.waiting, next)
		n.mu.Unlock()
		select {
		case <-time.After(notePause):
		case <-n.life.Done():
		}
	}
}

// take is the note to write next; nil: nothing waits, or there is no time left.
func (n *notes) take() note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 || n.life.Err() != nil {
		n.writing = false
		return nil
	}
	next := n.waiting[0]
	n.waiting = n.waiting[1:]
	return next
}

// write writes a note, and reports whether that is done with: it is also when it can never succeed,
// such as for a tenant that was deleted meanwhile.
func (n *notes) write(one note) bool {
	ctx, cancel := context.WithTimeout(n.life, noteTimeout)
	defer cancel()
	err := one(ctx)
	if err == nil {
		return true
	}
	if mayPass(postgres.Decide(err)) {
		return false
	}
	n.log.WarnContext(ctx, "what a call has to note was not written", "error", err)
	return true
}

// mayPass reports whether what has failed may succeed when it is tried again.
func mayPass(err *fault.Error) bool {
	return err.Kind() != fault.Internal && err.Kind().Retryable()
}
