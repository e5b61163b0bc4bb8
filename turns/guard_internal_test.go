package turns

import (
	"testing"

	"parlance.dev/parlance/sessions"
)

// TestTurnsWithoutUser: in a turn that the user did not begin, no call has their intent.
func TestTurnsWithoutUser(t *testing.T) {
	t.Parallel()
	p := &pendingCall{Call: sessions.MessageCall{Name: "pay_bill"}}
	r := &Runner{}
	if rule := r.lacksIntent(p); rule != ruleNoUser {
		t.Errorf("without messages: %q", rule)
	}
	r.Turn.Messages = []sessions.Message{
		{Role: sessions.RoleTool, CallID: "c1", Text: "done", Result: &sessions.CallResult{ToolID: "client:look"}},
	}
	if rule := r.lacksIntent(p); rule != ruleNoUser {
		t.Errorf("after a client's result: %q", rule)
	}
	r.Turn.Messages = append(r.Turn.Messages, sessions.Message{Role: sessions.RoleUser, Text: "Pay it."})
	if rule := r.lacksIntent(p); rule != ruleAfterAnswer {
		t.Errorf("with what a user said: %q", rule)
	}
}
