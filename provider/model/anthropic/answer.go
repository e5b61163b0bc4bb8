package anthropic

import (
	"encoding/json"

	"parlance.dev/parlance/provider/model"
)

// reasons are the stop reasons of an answer that is not whole.
var reasons = map[string]model.FinishReason{
	"max_tokens": model.FinishLength, "model_context_window_exceeded": model.FinishLength, "refusal": model.FinishFiltered,
}

// addEvent adds an event to the answer and returns the text in it. It ignores unknown events, as
// the versioning policy of the API requires.
func (p *Provider) addEvent(a *model.Answer, data []byte) (string, error) {
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return "", p.exchange.Party.Reported(false, "an event is no JSON: "+string(data))
	}
	switch e.Type {
	case "error":
		kind := e.Error.Type
		return "", p.exchange.Party.Reported(kind == "overloaded_error" || kind == "rate_limit_error", string(data))
	case "message_start":
		if e.Message.Model != "" {
			a.Model = e.Message.Model
		}
		addUsage(a, e.Message.Usage)
	case "content_block_start":
		return startBlock(a, e), nil
	case "content_block_delta":
		return addDelta(a, e), nil
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.Reason = e.Delta.StopReason
		}
		addUsage(a, e.Usage)
		a.Counted = a.Usage.InputTokens > 0 && e.Usage.OutputTokens > 0
	case "message_stop":
		a.Done = true
	}
	return "", nil
}

func startBlock(a *model.Answer, e wireEvent) string {
	a.Begun = a.Begun || e.ContentBlock.Type != "text" || e.ContentBlock.Text != ""
	switch e.ContentBlock.Type {
	case "text":
		return a.AddText(e.ContentBlock.Text)
	case "tool_use":
		call := a.AddCall(e.Index)
		call.Identify(e.ContentBlock.ID, e.ContentBlock.Name)
		a.SetArguments(call, string(e.ContentBlock.Input)) // as gateways send it
	}
	return ""
}

func addDelta(a *model.Answer, e wireEvent) string {
	a.Begun = a.Begun || e.Delta.Type != "text_delta" || e.Delta.Text != ""
	switch e.Delta.Type {
	case "text_delta":
		return a.AddText(e.Delta.Text)
	case "input_json_delta":
		for _, call := range a.Calls() {
			if call.Index == e.Index {
				a.AddArguments(call, e.Delta.PartialJSON)
			}
		}
	}
	return ""
}

// addUsage keeps the latest value of each count. The output count of message_delta is cumulative.
func addUsage(a *model.Answer, u wireUsage) {
	a.Usage.InputTokens = max(a.Usage.InputTokens, u.InputTokens)
	a.Usage.OutputTokens = max(a.Usage.OutputTokens, u.OutputTokens)
}
