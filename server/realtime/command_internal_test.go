package realtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/conversation"
)

// TestNextCommand: a message and the Respond right behind it become one Ask, and no other commands
// do.
func TestNextCommand(t *testing.T) {
	t.Parallel()
	message := conversation.UserMessage{Text: "Hello?"}
	respond := conversation.Respond{CommandID: "respond"}
	commands := []conversation.Command{
		conversation.Cancel{}, message, respond, respond, message, message, conversation.Activity{}, respond, message,
	}
	want := []conversation.Command{
		conversation.Cancel{},
		conversation.Ask{Said: message, Wish: respond},
		respond, message, message,
		conversation.Activity{},
		respond, message,
	}
	var got []conversation.Command
	for len(commands) > 0 {
		var command conversation.Command
		command, commands = nextCommand(commands)
		got = append(got, command)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}
