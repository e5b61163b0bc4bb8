package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"

	"parlance.dev/parlance/provider/model"
)

// answer collects the chunks of one stream.
type answer struct {
	req      model.Request
	provider string
	model    string
	text     strings.Builder
	calls    []*partialCall
	ready    []model.ToolCall
	reason   string
	usage    model.Usage
	// finished says that a finish reason came.
	finished bool
}

// partialCall is a tool call whose arguments are still arriving.
type partialCall struct {
	index     int64
	id, name  string
	arguments strings.Builder
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add takes a chunk and returns the text in it.
func (a *answer) add(chunk openai.ChatCompletionChunk) string {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	// Some servers count up in each chunk, others send usage once: the last word counts.
	if chunk.Usage.PromptTokens > 0 || chunk.Usage.CompletionTokens > 0 {
		a.usage = model.Usage{InputTokens: int(chunk.Usage.PromptTokens), OutputTokens: int(chunk.Usage.CompletionTokens)}
	}
	if len(chunk.Choices) == 0 {
		return ""
	}
	choice := chunk.Choices[0]
	for _, delta := range choice.Delta.ToolCalls {
		a.addCall(delta)
	}
	if choice.FinishReason != "" {
		a.reason, a.finished = choice.FinishReason, true
	}
	text := choice.Delta.Content + choice.Delta.Refusal
	a.text.WriteString(text)
	return text
}

func (a *answer) addCall(delta openai.ChatCompletionChunkChoiceDeltaToolCall) {
	call := a.callFor(delta)
	if call.id == "" {
		call.id = delta.ID
	}
	if call.name == "" {
		call.name = delta.Function.Name
	}
	call.arguments.WriteString(delta.Function.Arguments)
}

// callFor finds the call that a piece belongs to. Pieces of parallel calls carry an index, but
// some servers send none, or 0 for each; then a new id, or a name after whole arguments, begins
// a new call.
func (a *answer) callFor(delta openai.ChatCompletionChunkChoiceDeltaToolCall) *partialCall {
	call := a.latest(delta)
	if call != nil && !call.followedBy(delta) {
		return call
	}
	call = &partialCall{index: delta.Index}
	a.calls = append(a.calls, call)
	return call
}

// latest is the newest call with the piece's index; without an index the newest of all.
func (a *answer) latest(delta openai.ChatCompletionChunkChoiceDeltaToolCall) *partialCall {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if a.calls[i].index == delta.Index || !delta.JSON.Index.Valid() {
			return a.calls[i]
		}
	}
	return nil
}

// followedBy says whether the piece begins another call although it carries this one's index.
func (c *partialCall) followedBy(delta openai.ChatCompletionChunkChoiceDeltaToolCall) bool {
	if delta.ID != "" && c.id != "" {
		return delta.ID != c.id
	}
	return delta.Function.Name != "" && c.name != "" && json.Valid([]byte(c.arguments.String()))
}

// finish emits the calls and returns the whole answer.
func (a *answer) finish(emit func(model.Event) error) (model.Result, error) {
	nameless := 0
	for _, partial := range a.calls {
		if partial.id == "" {
			partial.id = a.req.CallID(nameless)
			nameless++
		}
		call := model.NewToolCall(partial.id, partial.name, partial.arguments.String())
		a.ready = append(a.ready, call)
		if err := emit(model.ToolCallReady{Call: call}); err != nil {
			return a.result(), fmt.Errorf("handing on a tool call: %w", err)
		}
	}
	return a.result(), nil
}

func (a *answer) result() model.Result {
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
	case "length":
		return model.FinishLength
	case "content_filter":
		return model.FinishFiltered
	}
	return model.FinishStop
}
