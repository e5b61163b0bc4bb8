package voice

import (
	"context"
	"sync"
	"time"
)

const (
	// notePause is how long a note waits that could not be written.
	notePause = time.Second
	// noteTimeout bounds the writing of one.
	noteTimeout = 5 * time.Second
	// maxNotes bounds what waits while the database is away: some hours of 300 calls.
	maxNotes = 100_000
)

// notes writes to the database what calls have used and how fast they were, in order and in the
// background: no call waits for it.
type notes struct {
	life  context.Context //nolint:containedctx // the life of the goroutine that writes
	start func(func())

	mu      sync.Mutex
	waiting []note
	writing bool
}

// note writes one thing. It is called again until it has succeeded.
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
		n.mu.Lock()
		if len(n.waiting) == 0 || n.life.Err() != nil {
			n.writing = false
			n.mu.Unlock()
			return
		}
		next := n.waiting[0]
		n.mu.Unlock()
		if !n.write(next) {
			select {
			case <-time.After(notePause):
			case <-n.life.Done():
			}
			continue
		}
		n.mu.Lock()
		n.waiting = n.waiting[1:]
		n.mu.Unlock()
	}
}

// write writes a note, and reports whether it could.
func (n *notes) write(one note) bool {
	ctx, cancel := context.WithTimeout(n.life, noteTimeout)
	defer cancel()
	return one(ctx) == nil
}
