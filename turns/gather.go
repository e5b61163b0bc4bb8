package turns

import (
	"strings"
	"time"
)

// GatherFor is how long pieces of text wait for each other on their way to a socket, which gets
// them as one. The first piece of a message does not wait, and what lies behind the last one takes
// it along. A model that says 200 a second would otherwise cost as many wake-ups, frames and
// writes; people read 25 lumps a second as a flow.
const GatherFor = 40 * time.Millisecond

// KeptQueue is how many events an empty queue keeps room for: during an answer there is a next one
// soon.
const KeptQueue = 16

// MaxJoined bounds what becomes one piece: a client that did not read for a while gets some.
const MaxJoined = 16 << 10

// Run is how many events at the beginning of a queue are pieces of d's message, which is first.
func (d TextDelta) Run(queue []Event) int {
	size := 0
	for i, e := range queue {
		next, is := e.(TextDelta)
		if !is || next.ItemID != d.ItemID || next.ResponseID != d.ResponseID || i > 0 && size+len(next.Text) > MaxJoined {
			return i
		}
		size += len(next.Text)
	}
	return len(queue)
}

// Joined is d with the pieces behind it.
func (d TextDelta) Joined(behind []Event) TextDelta {
	var text strings.Builder
	text.WriteString(d.Text)
	for _, e := range behind {
		text.WriteString(e.(TextDelta).Text) //nolint:errcheck,forcetypeassert // see run
	}
	d.Text = text.String()
	return d
}
