package anthropic

import (
	"fmt"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// answer collects the events of one stream.
type answer struct {
	req      model.Request
	provider string
	model    string
	text     strings.Builder
	calls    []*partialCall
	ready    []model.ToolCall
	reason   string
	usage    model.Usage
	// opened says that the server began to answer, counted that it told the tokens of the whole answer.
	opened, counted bool
	// stopped says that message_stop came: only then is the answer whole.
	stopped bool
}

// partialCall is a tool_use block whose input is still arriving.
type partialCall struct {
	index    int
	id, name string
	input    strings.Builder
	// whole is input that came with the block's start, as gateways send it.
	whole string
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add takes an event and returns the text in it. Unknown events are passed over, as the API's
// versioning policy asks of clients.
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
	switch e.ContentBlock.Type {
	case "text":
		a.text.WriteString(e.ContentBlock.Text)
		return e.ContentBlock.Text
	case "tool_use":
		a.calls = append(a.calls, &partialCall{
			index: e.Index,
			id:    e.ContentBlock.ID,
			name:  e.ContentBlock.Name,
			whole: string(e.ContentBlock.Input),
		})
	}
	return ""
}

func (a *answer) delta(e wireEvent) string {
	switch e.Delta.Type {
	case "text_delta":
		a.text.WriteString(e.Delta.Text)
		return e.Delta.Text
	case "input_json_delta":
		for _, call := range a.calls {
			if call.index == e.Index {
				call.input.WriteString(e.Delta.PartialJSON)
			}
		}
	}
	return ""
}

// count keeps the latest word on each number: message_delta's output count is cumulative.
func (a *answer) count(u wireUsage) {
	a.usage.InputTokens = max(a.usage.InputTokens, u.InputTokens)
	a.usage.OutputTokens = max(a.usage.OutputTokens, u.OutputTokens)
}

// finish emits the calls and returns the whole answer.
func (a *answer) finish(emit func(model.Event) error) (model.Result, error) {
	for i, partial := range a.calls {
		if partial.id == "" {
			partial.id = a.req.CallID(i)
		}
		input := partial.input.String()
		if input == "" {
			input = partial.whole
		}
		call := model.NewToolCall(partial.id, partial.name, input)
		a.ready = append(a.ready, call)
		if err := emit(model.ToolCallReady{Call: call}); err != nil {
			return a.result(), fmt.Errorf("handing on a tool call: %w", err)
		}
	}
	return a.result(), nil
}

func (a *answer) result() model.Result {
	a.usage.Incomplete = a.opened && !a.counted
	return model.Result{
		Text:         a.text.String(),
		ToolCalls:    a.ready,
		FinishReason: a.finishReason(),
		Usage:        a.usage,
		Provider:     a.provider,
		Model:        a.model,
	}
}

func (a *answer) finishReason() model.FinishReason {
	if len(a.calls) > 0 {
		return model.FinishToolCalls
	}
	switch a.reason {
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishFiltered
	}
	return model.FinishStop
}
