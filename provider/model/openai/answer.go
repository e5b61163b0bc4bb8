package openai

import (
	"encoding/json"
	"fmt"
	"strings"

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
	// opened says that the server began to answer, counted that it told the tokens.
	opened, counted bool
	// finished says that a finish reason came, done that [DONE] did: either makes the answer
	// whole, and tells it from one whose connection was closed politely half-way.
	finished, done bool
	piece          piece
}

// partialCall is a tool call whose arguments are still arriving.
type partialCall struct {
	index     int
	id, name  string
	arguments strings.Builder
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add takes a chunk and returns the text in it.
func (a *answer) add(c chunk) string {
	if c.Model != "" {
		a.model = c.Model
	}
	// Some servers count up in each chunk, others send usage once: the last word counts.
	if c.Usage.PromptTokens > 0 || c.Usage.CompletionTokens > 0 {
		a.usage, a.counted = model.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens}, true
	}
	if len(c.Choices) == 0 {
		return ""
	}
	choice := c.Choices[0]
	for _, piece := range choice.Delta.ToolCalls {
		a.addCall(piece)
	}
	if choice.FinishReason != "" {
		a.reason, a.finished = choice.FinishReason, true
	}
	text := choice.Delta.Content + choice.Delta.Refusal
	a.text.WriteString(text)
	return text
}

// answerRoom is made at once for an answer in pieces: most fit, and it need not grow with them.
const answerRoom = 1 << 10

// say is add for a chunk that is a piece of text alone.
func (a *answer) say(said words) string {
	if len(said.model) > 0 && string(said.model) != a.model {
		a.model = string(said.model)
	}
	text := string(said.content)
	if a.text.Len() == 0 {
		a.text.Grow(answerRoom)
	}
	a.text.WriteString(text)
	return text
}

func (a *answer) addCall(piece callDelta) {
	call := a.callFor(piece)
	if call.id == "" {
		call.id = piece.ID
	}
	if call.name == "" {
		call.name = piece.Function.Name
	}
	call.arguments.WriteString(string(piece.Function.Arguments))
}

// callFor finds the call that a piece belongs to. Pieces of parallel calls carry an index, but
// some servers send none, or 0 for each; then a new id, or a name after whole arguments, begins
// a new call.
func (a *answer) callFor(piece callDelta) *partialCall {
	call := a.latest(piece)
	if call != nil && !call.followedBy(piece) {
		return call
	}
	call = &partialCall{}
	if piece.Index != nil {
		call.index = *piece.Index
	}
	a.calls = append(a.calls, call)
	return call
}

// latest is the newest call with the piece's index; without an index the newest of all.
func (a *answer) latest(piece callDelta) *partialCall {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if piece.Index == nil || a.calls[i].index == *piece.Index {
			return a.calls[i]
		}
	}
	return nil
}

// followedBy says whether the piece begins another call although it carries this one's index.
func (c *partialCall) followedBy(piece callDelta) bool {
	if piece.ID != "" && c.id != "" {
		return piece.ID != c.id
	}
	return piece.Function.Name != "" && c.name != "" && json.Valid([]byte(c.arguments.String()))
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
	case "length":
		return model.FinishLength
	case "content_filter":
		return model.FinishFiltered
	}
	return model.FinishStop
}
