package openai

import (
	"encoding/json"
	"slices"

	"parlance.dev/parlance/provider/model"
)

// answer collects the chunks of one stream.
type answer struct {
	model.Draft
	req      model.Request
	provider string
	model    string
	reason   string
	usage    model.Usage
	// opened says that the server began to answer, counted that it told the tokens.
	opened, counted bool
	// begun says that it has said something: words, a piece of a call or a thought.
	begun bool
	// finished says that a finish reason came, done that [DONE] did: either makes the answer
	// whole, and tells it from one whose connection was closed politely half-way.
	finished, done bool
	// atOnce says that the answer came as one JSON object instead of as a stream.
	atOnce bool
	piece  piece
	halves halves
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add takes a chunk and returns the text in it.
func (a *answer) add(c *chunk) string {
	if c.Model != "" {
		a.model = c.Model
	}
	// Some servers count up in each chunk, others send usage once: the last word counts.
	if c.Usage.PromptTokens > 0 || c.Usage.CompletionTokens > 0 {
		a.usage, a.counted = model.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens}, true
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 { // nobody asks for several
			return a.choose(&c.Choices[i])
		}
	}
	return ""
}

func (a *answer) choose(c *choice) string {
	if a.atOnce && c.Message != nil {
		c.Delta, a.done = *c.Message, true
	}
	for _, piece := range c.Delta.ToolCalls {
		a.addCall(piece)
	}
	if c.FinishReason != "" {
		a.reason, a.finished = c.FinishReason, true
	}
	text := c.Delta.Content + c.Delta.Refusal
	a.begun = a.begun || text != "" || len(c.Delta.ToolCalls) > 0 || c.Delta.thinks()
	return a.Say(text)
}

// say is add for a chunk that is a piece of text alone.
func (a *answer) say(said words) string {
	if len(said.model) > 0 && string(said.model) != a.model {
		a.model = string(said.model)
	}
	a.begun, a.halves.first = a.begun || len(said.content) > 0, nil
	return a.Say(string(said.content))
}

func (a *answer) addCall(piece callDelta) {
	call := a.callFor(piece)
	call.Identify(piece.ID, piece.Function.Name)
	a.Argue(call, string(piece.Function.Arguments))
}

// callFor finds the call that a piece belongs to. Pieces of parallel calls carry an index, but
// some servers send none, or 0 for each; then a new id, or a name after whole arguments, begins
// a new call.
func (a *answer) callFor(piece callDelta) *model.DraftCall {
	call := a.latest(piece)
	if call != nil && !followedBy(call, piece) {
		return call
	}
	index := 0
	if piece.Index != nil {
		index = *piece.Index
	}
	return a.Call(index)
}

// latest is the newest call with the piece's index; without an index the newest of all.
func (a *answer) latest(piece callDelta) *model.DraftCall {
	for _, call := range slices.Backward(a.Calls()) {
		if piece.Index == nil || call.Index == *piece.Index {
			return call
		}
	}
	return nil
}

// followedBy says whether the piece begins another call although it carries this one's index.
func followedBy(call *model.DraftCall, piece callDelta) bool {
	if piece.ID != "" && call.ID != "" {
		return piece.ID != call.ID
	}
	return piece.Function.Name != "" && call.Name != "" && json.Valid([]byte(call.Arguments()))
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

// ended is why the answer ended, as the server says.
func (a *answer) ended() model.FinishReason {
	switch a.reason {
	case "length":
		return model.FinishLength
	case "content_filter":
		return model.FinishFiltered
	}
	return model.FinishStop
}
