package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// reasons are the finish reasons of an answer that is not whole.
var reasons = map[string]model.FinishReason{"length": model.FinishLength, "content_filter": model.FinishFiltered}

// decoder reads the events of one answer.
type decoder struct {
	party      model.Party
	surrogates surrogates
}

// addEvent adds an event to the answer and returns the text in it.
func (d *decoder) addEvent(a *model.Answer, data []byte) (string, error) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.Done = true
		return "", nil
	}
	var c chunk
	if err := json.Unmarshal(d.surrogates.join(data), &c); err != nil {
		// encoding/json leaves a field of another type at zero and reads the rest.
		mistyped, is := errors.AsType[*json.UnmarshalTypeError](err)
		if !is {
			return "", d.party.Reported(false, "an event is no JSON: "+string(data))
		}
		a.Begun = a.Begun || strings.HasPrefix(mistyped.Field, "choices.delta.") // reasoning in another form
	}
	if c.failed() {
		return "", d.party.Reported(overloaded(data), string(data))
	}
	if c.Model != "" {
		a.Model = c.Model
	}
	// Some servers count up in each chunk, others send usage once: the last one counts.
	if c.Usage.PromptTokens > 0 || c.Usage.CompletionTokens > 0 {
		a.Usage, a.Counted = model.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens}, true
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 { // no request asks for several
			return addChoice(a, &c.Choices[i]), nil
		}
	}
	return "", nil
}

func addChoice(a *model.Answer, c *choice) string {
	if a.Whole && c.Message != nil {
		c.Delta, a.Done = *c.Message, true
	}
	for _, piece := range c.Delta.ToolCalls {
		call := callFor(a, piece)
		call.Identify(piece.ID, piece.Function.Name)
		a.AddArguments(call, string(piece.Function.Arguments))
	}
	if c.FinishReason != "" {
		a.Reason = c.FinishReason
	}
	text := c.Delta.Content + c.Delta.Refusal
	a.Begun = a.Begun || text != "" || len(c.Delta.ToolCalls) > 0 || c.Delta.thinks()
	return a.AddText(text)
}

// callFor finds the call that a piece belongs to: the newest with its index, or the newest if the
// piece has no index. Some servers send none, or 0 in each: there a new call begins with a new id,
// or with a name that follows complete arguments.
func callFor(a *model.Answer, piece callDelta) *model.AnswerCall {
	index := 0
	if piece.Index != nil {
		index = *piece.Index
	}
	for _, call := range slices.Backward(a.Calls()) {
		if piece.Index != nil && call.Index != index {
			continue
		}
		if followedBy(call, piece) {
			break
		}
		return call
	}
	return a.AddCall(index)
}

// followedBy says whether the piece begins another call although it has the index of this one.
func followedBy(call *model.AnswerCall, piece callDelta) bool {
	if piece.ID != "" && call.ID != "" {
		return piece.ID != call.ID
	}
	return piece.Function.Name != "" && call.Name != "" && json.Valid([]byte(call.Arguments()))
}
