package live_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/turns"
)

// TestLargeTurnIsShortened: after a turn that exceeds the model's budget for earlier turns, the
// model sees that turn shortened, and what was said before; over HTTP, on a socket, and while
// Postgres is unavailable.
func TestLargeTurnIsShortened(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 10)
	long := `{"orders":"` + strings.Repeat("shipped, ", 4000) + `"}`
	f.endpoint.Script("/find_order", httptool.Step{Body: long}, httptool.Step{Body: long}, httptool.Step{Body: long},
		httptool.Step{Body: long})
	two := func(turn int) step {
		first, second := call("find_order", `{"id":"A1"}`), call("find_order", `{"id":"A2"}`)
		first.ID, second.ID = fmt.Sprintf("call_%d_1", turn), fmt.Sprintf("call_%d_2", turn)
		return say("", first, second)
	}
	answers := &script{steps: []step{
		say("Hello."), two(1), say("Both are shipped."), say("Zebulon."), say("Hello."),
		two(2), say("Both are shipped."), say("Zebulon."), say("Zebulon."),
	}}
	f.model = answers
	r := newRemote(t, f, t.TempDir(), 1<<20)
	check := func(what string) {
		t.Helper()
		asked := answers.requests()
		said := asked[len(asked)-1].Messages
		calls, results, text := 0, 0, ""
		for _, m := range said {
			text += m.Text + "\n"
			calls += len(m.ToolCalls)
			if m.Role == model.RoleTool && strings.Contains(m.Text, `{"orders":"shipped`) && strings.Contains(m.Text,
				"bytes are left out here]") {
				results++
			}
		}
		if calls != 2 || results != 2 || !strings.Contains(text, "My name is Zebulon Quartz.") ||
			!strings.Contains(text, "Both are shipped.") || len(text) > 4*6000 {
			t.Errorf("%s: %d calls and %d results in %d messages: %.300s", what, calls, results, len(said), text)
		}
	}
	given := func(turn sessions.Turn) {
		t.Helper()
		if history := f.receipt(t, turn).History; history.Turns != turn.Index || history.SummarizedTurns != 0 ||
			history.Tokens < 2000 || history.Tokens > 6000 {
			t.Errorf("history %+v before turn %d", history, turn.Index)
		}
	}
	over := f.create(t, withPin).Session.ID
	f.turn(t, over, "My name is Zebulon Quartz.")
	f.turn(t, over, "Where are they?")
	last := f.turn(t, over, "What did the tool say, and what is my name?")
	check("over HTTP")
	given(last)

	made := f.create(t, withPin)
	s := f.join(t, r.Node, made)
	for _, text := range []string{"My name is Zebulon Quartz.", "Where are they?", "What did the tool say, and what is my name?"} {
		if done, _ := talk(s, text); done.Status != turns.ResponseCompleted {
			t.Fatalf("%s: %+v", text, done)
		}
	}
	check("on a socket")
	taken := f.transcript(t, made.Session.ID)
	given(taken[len(taken)-1])
	r.wire.down()
	if done, _ := talk(s, "And my name?"); done.Status != turns.ResponseCompleted {
		t.Fatalf("while Postgres is away: %+v", done)
	}
	check("while Postgres is away")
	r.wire.mend()
}
