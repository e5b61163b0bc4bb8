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

func TestOutcome(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, tool string
		result     CallResult
		want       string
	}{
		{"well", "tool", CallResult{Attempts: 1, StatusCode: 200}, callSucceeded},
		{"badly", "tool", CallResult{Attempts: 3, StatusCode: 503, ErrorCode: "http-status"}, callFailed},
		{"no answer", "tool", CallResult{Attempts: 1, ErrorCode: "timeout"}, callFailed},
		{"not sent", "tool", CallResult{ErrorCode: "tool-arguments-invalid"}, callRefused},
		{"its node was lost", "tool", CallResult{ErrorCode: CodeUnknown}, callUnknown},
		{"a client's, well", "client:page", CallResult{}, callSucceeded},
		{"a client's, badly", "client:page", CallResult{ErrorCode: "client-error"}, callFailed},
		{"a client's, unanswered", "client:page", CallResult{ErrorCode: string(CodeClientTimeout)}, callUnknown},
		{"a client's, unanswered to the end", "client:page", CallResult{ErrorCode: CodeUnknown}, callUnknown},
	}
	for _, row := range rows {
		if got := callOutcome(row.tool, row.result); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
