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
	// opened says that the server began to answer, counted that it sent its token counts.
	opened, counted bool
	// begun says that some content has come: text, a piece of a call, or reasoning.
	begun bool
	// finished says that a finish reason came, done that [DONE] came. Without either of them the
	// connection was closed half-way through the answer.
	finished, done bool
	// atOnce says that the answer came as one JSON object instead of as a stream.
	atOnce     bool
	surrogates surrogates
}

func newAnswer(req model.Request, provider string) *answer {
	return &answer{req: req, provider: provider, model: req.Model}
}

// add adds a chunk and returns the text in it.
func (a *answer) add(c *chunk) string {
	if c.Model != "" {
		a.model = c.Model
	}
	// Some servers count up in each chunk, others send usage once: the last one counts.
	if c.Usage.PromptTokens > 0 || c.Usage.CompletionTokens > 0 {
		a.usage, a.counted = model.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens}, true
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 { // no request asks for several
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

func (a *answer) addCall(piece callDelta) {
	call := a.callFor(piece)
	call.Identify(piece.ID, piece.Function.Name)
	a.Argue(call, string(piece.Function.Arguments))
}

// callFor finds the call that a piece belongs to. Pieces of parallel calls carry an index. Some
// servers send none, or 0 in each: there a new call begins with a new id, or with a name that
// follows complete arguments.
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

// latest is the newest call with the index of the piece, or the newest call if it has no index.
func (a *answer) latest(piece callDelta) *model.DraftCall {
	for _, call := range slices.Backward(a.Calls()) {
		if piece.Index == nil || call.Index == *piece.Index {
			return call
		}
	}
	return nil
}

// followedBy says whether the piece begins another call although it has the index of this one.
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

// ended converts the finish reason that the server sent.
func (a *answer) ended() model.FinishReason {
	switch a.reason {
	case "length":
		return model.FinishLength
	case "content_filter":
		return model.FinishFiltered
	}
	return model.FinishStop
}
