package sessions

import (
	"testing"
)

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
