package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/turns"
)

// TestJoinedPieces: pieces of one message that wait together become one event, and nothing else is
// joined.
func TestJoinedPieces(t *testing.T) {
	t.Parallel()
	piece := func(item, text string) turns.TextDelta {
		return turns.TextDelta{ResponseID: "r", ItemID: item, Text: text}
	}
	long := string(make([]byte, maxJoinedBytes-1))
	l := &Live{queue: []turns.Event{
		turns.MessageStarted{ItemID: "a"},
		piece("a", "One "), piece("a", "two "), piece("a", "three."),
		turns.MessageDone{ItemID: "a"},
		piece("b", "Other"), piece("c", long), piece("c", "x"), piece("c", "y"),
		turns.TextDelta{ResponseID: "s", ItemID: "c", Text: "z"},
	}}
	want := []turns.Event{
		turns.MessageStarted{ItemID: "a"},
		piece("a", "One two three."),
		turns.MessageDone{ItemID: "a"},
		piece("b", "Other"), piece("c", long+"x"), piece("c", "y"),
		turns.TextDelta{ResponseID: "s", ItemID: "c", Text: "z"},
	}
	var got []turns.Event
	for {
		e, ok := l.Poll()
		if !ok {
			break
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(got, want); diff != "" || len(l.queue) > 0 {
		t.Errorf("%s%v is left", diff, l.queue)
	}
}
