package realtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/live"
)

// TestNextCommand: a message and the Respond right behind it become one Ask, and no other commands
// do.
func TestNextCommand(t *testing.T) {
	t.Parallel()
	message := live.UserMessage{Text: "Hello?"}
	respond := live.Respond{CommandID: "respond"}
	commands := []live.Command{
		live.Cancel{}, message, respond, respond, message, message, live.Activity{}, respond, message,
	}
	want := []live.Command{
		live.Cancel{},
		live.Ask{Message: message, Respond: respond},
		respond, message, message,
		live.Activity{},
		respond, message,
	}
	var got []live.Command
	for len(commands) > 0 {
		var command live.Command
		command, commands = nextCommand(commands)
		got = append(got, command)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}
