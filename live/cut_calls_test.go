package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
)

// TestCutCalls: a call in which the model's answer was cut off is not made, whatever kind its tool
// is. The model is told why, and the conversation continues.
func TestCutCalls(t *testing.T) {
	t.Parallel()
	const why = "The answer was cut off by its token limit."
	cut := func(name, malformed string) model.ToolCall {
		return model.ToolCall{ID: "call_0", Name: name, Arguments: json.RawMessage(`{}`), Malformed: malformed, Cut: why}
	}
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 0)
	f.model = &script{steps: []step{
		say("", cut("find_order", `{"id":"A1"}…`), cut("skip_turn", "…"), cut("end_call", "…"), cut("beep", "…"),
			cut("no such tool", "…")), say("Shorter then."),
	}}
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.Configure{ClientTools: []model.Tool{{Name: "beep"}}})
	done, _ := talk(s, "Go.")
	turn, err := f.GetTurn(t.Context(), f.principal, made.Session.ID, done.TurnID)
	if err != nil {
		t.Fatal(err)
	}
	calls := turn.ToolCalls()
	if turn.AgentText != "Shorter then." || len(calls) != 5 {
		t.Fatalf("answered %q after %d calls", turn.AgentText, len(calls))
	}
	for _, call := range calls {
		if call.ErrorCode != "tool-arguments-invalid" || !strings.Contains(call.Output, why) {
			t.Errorf("%s: %s, %q", call.Name, call.ErrorCode, call.Output)
		}
	}
	if sent := f.endpoint.Requests("/find_order"); len(sent) > 0 {
		t.Errorf("sent %+v", sent)
	}
}
