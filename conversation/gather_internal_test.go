package conversation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJoinedPieces: pieces of one message that wait together are one event for the socket, and nothing else is.
func TestJoinedPieces(t *testing.T) {
	t.Parallel()
	piece := func(item, text string) TextDelta { return TextDelta{ResponseID: "r", ItemID: item, Text: text} }
	long := string(make([]byte, maxJoined-1))
	l := &Live{queue: []Event{
		MessageStarted{ItemID: "a"},
		piece("a", "One "), piece("a", "two "), piece("a", "three."),
		MessageDone{ItemID: "a"},
		piece("b", "Other"), piece("c", long), piece("c", "x"), piece("c", "y"),
		TextDelta{ResponseID: "s", ItemID: "c", Text: "z"},
	}}
	want := []Event{
		MessageStarted{ItemID: "a"},
		piece("a", "One two three."),
		MessageDone{ItemID: "a"},
		piece("b", "Other"), piece("c", long+"x"), piece("c", "y"),
		TextDelta{ResponseID: "s", ItemID: "c", Text: "z"},
	}
	var got []Event
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
