package sessions

import (
	"testing"

	"parlance.dev/parlance/tools"
)

// TestOutsideText: what the service wrote around a result does not come from outside.
func TestOutsideText(t *testing.T) {
	t.Parallel()
	failed := func(code, ours, text string) Message {
		return Message{
			Role: RoleTool, Text: text, Result: &CallResult{ToolID: "1", ErrorCode: code, ErrorMessage: ours},
		}
	}
	for want, m := range map[string]Message{
		"answer": {Role: RoleTool, Text: "answer", Result: &CallResult{ToolID: "1"}},
		"":       failed("timeout", "No answer.", ErrorText("timeout", "No answer.")),
		"no such order": failed("http-status", "The tool answered 404.",
			ErrorText("http-status", "The tool answered 404.")+tools.AnswerIntro+"no such order"),
		" no paper": failed("client-error", "It failed.", ErrorText("client-error", "It failed. no paper")),
	} {
		if got := m.OutsideText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
