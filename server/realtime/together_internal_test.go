package realtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/live"
)

// TestNextCommand: something said goes to the core with the wish for an answer right behind it, and with nothing else.
func TestNextCommand(t *testing.T) {
	t.Parallel()
	said, wish := live.UserMessage{Text: "Hello?"}, live.Respond{CommandID: "wish"}
	waiting := []live.Command{live.Cancel{}, said, wish, wish, said, said, live.Activity{}, wish, said}
	want := []live.Command{live.Cancel{}, live.Ask{Said: said, Wish: wish}, wish, said, said, live.Activity{}, wish, said}
	var got []live.Command
	for len(waiting) > 0 {
		var command live.Command
		command, waiting = nextCommand(waiting)
		got = append(got, command)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}
