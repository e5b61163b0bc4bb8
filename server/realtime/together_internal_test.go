package realtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/conversation"
)

// TestNextCommand: something said goes to the core with the wish for an answer right behind it, and with nothing else.
func TestNextCommand(t *testing.T) {
	t.Parallel()
	said, wish := conversation.UserMessage{Text: "Hello?"}, conversation.Respond{CommandID: "wish"}
	waiting := []conversation.Command{conversation.Cancel{}, said, wish, wish, said, said, conversation.Activity{}, wish, said}
	want := []conversation.Command{conversation.Cancel{}, conversation.Ask{Said: said, Wish: wish}, wish, said, said, conversation.Activity{}, wish, said}
	var got []conversation.Command
	for len(waiting) > 0 {
		var command conversation.Command
		command, waiting = nextCommand(waiting)
		got = append(got, command)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}
