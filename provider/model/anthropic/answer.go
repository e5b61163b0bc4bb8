package anthropic

import "parlance.dev/parlance/provider/model"

// answer collects the events of one stream.
type answer struct {
	model.Draft
	req      model.Request
	provider string
	model    string
	reason   string
	usage    model.Usage
	// opened says that the server began to answer, counted that it sent the token counts of the whole
	// answer.
	opened, counted bool
	// begun says that some content has come: text, a piece of a call, or reasoning.
	begun bool
	// stopped says that message_stop came. With it, or with a stop reason, the answer is complete.
	stopped bool
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add adds an event and returns the text in it. It ignores unknown events, as the versioning policy
// of the API requires.
func (a *answer) add(e wireEvent) string {
	switch e.Type {
	case "message_start":
		if e.Message.Model != "" {
			a.model = e.Message.Model
		}
		a.count(e.Message.Usage)
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.delta(e)
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.reason = e.Delta.StopReason
		}
		a.count(e.Usage)
		a.counted = a.usage.InputTokens > 0 && e.Usage.OutputTokens > 0
	case "message_stop":
		a.stopped = true
	}
	return ""
}

func (a *answer) start(e wireEvent) string {
	a.begun = a.begun || e.ContentBlock.Type != "text" || e.ContentBlock.Text != ""
	switch e.ContentBlock.Type {
	case "text":
		return a.Say(e.ContentBlock.Text)
	case "tool_use":
		call := a.Call(e.Index)
		call.Identify(e.ContentBlock.ID, e.ContentBlock.Name)
		a.ArgueWhole(call, string(e.ContentBlock.Input)) // as gateways send it
	}
	return ""
}

func (a *answer) delta(e wireEvent) string {
	a.begun = a.begun || e.Delta.Type != "text_delta" || e.Delta.Text != ""
	switch e.Delta.Type {
	case "text_delta":
		return a.Say(e.Delta.Text)
	case "input_json_delta":
		for _, call := range a.Calls() {
			if call.Index == e.Index {
				a.Argue(call, e.Delta.PartialJSON)
			}
		}
	}
	return ""
}

// count keeps the latest value of each count. The output count of message_delta is cumulative.
func (a *answer) count(u wireUsage) {
	a.usage.InputTokens = max(a.usage.InputTokens, u.InputTokens)
	a.usage.OutputTokens = max(a.usage.OutputTokens, u.OutputTokens)
}

// finish emits the calls and returns the whole answer.
func (a *answer) finish(emit func(model.Event) error) (model.Result, error) {
	err := a.Finish(a.req, a.ended(), emit)
	return a.result(), err
}

func (a *answer) result() model.Result {
	result := a.Result(a.ended())
	result.Usage, result.Provider, result.Model = a.usage, a.provider, a.model
	result.Usage.Incomplete = a.opened && !a.counted
	return result
}

// ended converts the stop reason of the server.
func (a *answer) ended() model.FinishReason {
	switch a.reason {
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishFiltered
	}
	return model.FinishStop
}
