package sessions

import (
	"slices"
	"strings"

	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// Codes of results that the service gives to calls without one.
const (
	CodeUnfinished    = "canceled"
	CodeUnknown       = "unknown"
	CodeNotApproved   = tools.Code("not-approved")
	CodeClientTimeout = failure.Timeout
)

// Outputs of calls that have no result of their own.
const (
	OutputUnfinished   = "The call was not made: the answer was stopped before."
	outputUnanswered   = "The client has not answered this call."
	outputSessionEnded = "The conversation ended before the client had answered this call."
	outputLost         = "It is not known how this call ended: the server that made it was lost before it had a result. " +
		"It may have happened. Check whether it has before you call the tool again, or ask the user."
	outputApprovalLost = "The call was not made: the server that had asked for its approval was lost before anybody answered. " +
		"Call the tool again if it is still wanted."
	OutputLate = "The answer was stopped while this call was running, and it went on. It may have happened; its result is not known yet. " +
		"Do not call the tool again without looking whether it has."
)

// NoMoreTools tells a model that its turn has used up the rounds of calls.
const NoMoreTools = "You have called tools as often as one turn may. No tool can be called now: " +
	"answer with what you have, and say what is missing."

// ErrorText returns an error in the form in which models read it.
func ErrorText(code, words string) string { return "Error (" + code + "): " + words }

// OutsideText returns what comes from outside in a tool's result, without what the service wrote
// around it.
func (m Message) OutsideText() string {
	switch {
	case m.Result == nil:
		return m.Text
	case m.Result.ErrorCode == "" && strings.HasPrefix(m.Result.ToolID, "system:"):
		return ""
	case m.Result.ErrorCode == "":
		return m.Text
	}
	rest := strings.TrimPrefix(m.Text, ErrorText(m.Result.ErrorCode, m.Result.ErrorMessage))
	return strings.TrimPrefix(rest, tools.AnswerIntro)
}

// OfBuiltin reports whether the message is the result of a tool of the service.
func (m Message) OfBuiltin() bool {
	return m.Result != nil && (strings.HasPrefix(m.Result.ToolID, "system:") || strings.HasPrefix(m.Result.ToolID, "builtin:"))
}

// The states of a call in a receipt. Source: docs/receipts.md.
const (
	callSucceeded = "succeeded"
	callFailed    = "failed"
	callRefused   = "refused"
	callUnknown   = "unknown"
	callWaiting   = "waiting"
)

// callOutcome returns the state of a call that has this result.
func callOutcome(toolID string, result CallResult) string {
	client := strings.HasPrefix(toolID, tools.ClientPrefix)
	switch {
	case result.ErrorCode == "":
		return callSucceeded
	case result.ErrorCode == CodeUnknown, client && result.ErrorCode == string(CodeClientTimeout):
		return callUnknown // a client that did not answer may have made the call
	case client:
		return callFailed
	case result.Attempts == 0 && result.StatusCode == 0:
		return callRefused
	}
	return callFailed
}

// resultsOf returns the results among the messages by the ids of their calls.
func resultsOf(messages []Message) map[string]Message {
	results := map[string]Message{}
	for _, m := range messages {
		if m.Role == RoleTool {
			results[m.CallID] = m
		}
	}
	return results
}

// SettleOpenCalls returns the messages with a result for every call of the service that has none,
// so that the transcript of an interrupted turn has no open calls. Calls of the client are left
// out: their results may arrive in a later turn.
func SettleOpenCalls(messages []Message, code, words string) []Message {
	return settleCalls(messages, nil, CallResult{ErrorCode: code, ErrorMessage: words})
}

// settleCalls is SettleOpenCalls for the calls with these ids; nil means all calls.
func settleCalls(messages []Message, only []string, result CallResult) []Message {
	results := resultsOf(messages)
	settled := slices.Clone(messages)
	for _, m := range messages {
		for _, call := range m.Calls {
			if _, answered := results[call.ID]; call.Client || answered || only != nil && !slices.Contains(only, call.ID) {
				continue
			}
			settled = append(settled, Message{
				Role: RoleTool, ItemID: call.ItemID, CallID: call.ID, Text: ErrorText(result.ErrorCode, result.ErrorMessage),
				Result: new(result),
			})
		}
	}
	return settled
}
