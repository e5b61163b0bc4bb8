package convai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestMessageBeforeAnswer: a message that comes when the answer to the one before it has not begun
// is sent behind the end of that answer, or when that answer fails to begin.
func TestMessageBeforeAnswer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		events []turns.Event
		want   []string
	}{
		"interrupted": {
			[]turns.Event{turns.ResponseStarted{}, turns.ResponseDone{Status: turns.ResponseCancelled}},
			[]string{"1.1 user_transcript", "2.1 agent_typing", "2.2 interruption", "2.3 agent_typing", "3.1 user_transcript"},
		},
		"failed to begin": {
			[]turns.Event{live.Failed{Err: fault.New(fault.ServiceUnavailable, "Busy.")}},
			[]string{"1.1 user_transcript", "error", "3.1 user_transcript"},
		},
	} {
		d := newDialect(sessions.ChatChannel)
		events := append([]turns.Event{
			live.ItemAdded{Item: sessions.Item{ID: "item_1", Kind: sessions.UserItem, Text: "Hello."}},
			live.ItemAdded{Item: sessions.Item{ID: "item_2", Kind: sessions.UserItem, TurnIndex: 1, Text: "Stop."}},
		}, row.events...)
		var got []string
		for _, event := range events {
			step := d.Event(event)
			for i, e := range decoded(t, step) {
				kind, _ := e["type"].(string)
				got = append(got, strings.TrimSpace(step.Frames[i].ID+" "+kind))
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
