package extractive

import (
	"context"
	"fmt"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// Name is the responder's name, as provider and as model.
const Name = "extractive"

const (
	// wordsPerPiece is how many words go out at once.
	wordsPerPiece = 3

	unreachable = "My knowledge base cannot be reached right now, so I could not look that up. Please ask me again in a moment."
)

// Responder is a model.Provider without a model. The zero value is ready; it is safe for
// concurrent use, calls nobody and counts no tokens.
type Responder struct{}

// New makes a responder.
func New() *Responder { return &Responder{} }

// Name is Name.
func (*Responder) Name() string { return Name }

// Stream is model.Provider's. It fails only when emit does or ctx ends.
func (*Responder) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	planned := respond(req)
	said := model.Result{Provider: Name, Model: Name, FinishReason: model.FinishStop}
	for _, piece := range pieces(planned.Text) {
		if err := ctx.Err(); err != nil {
			return said, fmt.Errorf("answering: %w", err)
		}
		if err := emit(model.TextDelta{Text: piece}); err != nil {
			return said, fmt.Errorf("handing on a piece of the answer: %w", err)
		}
		said.Text += piece
	}
	said.Citations = planned.Citations
	for _, call := range planned.ToolCalls {
		if err := emit(model.ToolCallReady{Call: call}); err != nil {
			return said, fmt.Errorf("handing on a tool call: %w", err)
		}
		said.ToolCalls = append(said.ToolCalls, call)
		said.FinishReason = model.FinishToolCalls
	}
	return said, nil
}

// respond decides what to answer. Citations are never nil: what is not among them was not used.
func respond(req model.Request) model.Result {
	result := decide(req)
	if result.Citations == nil {
		result.Citations = []int{}
	}
	return result
}

func decide(req model.Request) model.Result {
	if len(req.Messages) == 0 {
		return model.Result{Text: phrasesFor(inEnglish).introduction()}
	}
	last := req.Messages[len(req.Messages)-1]
	if last.Role == model.RoleTool {
		return model.Result{Text: toolAnswers(req)}
	}
	if rest, ok := command(last.Text); ok {
		return toolCall(req, rest)
	}
	if result, ok := telephoneCalls(req, last.Text); ok {
		return result
	}
	if result, ok := memoryCalls(req, last.Text); ok {
		return result
	}
	if answer, ok := courtesyOf(last.Text); ok {
		return model.Result{Text: answer}
	}
	t := tongueOf(last.Text)
	words := t.contentWords(last.Text)
	if len(words) == 0 {
		return model.Result{Text: phrasesFor(t.code).introduction()}
	}
	if req.Unreachable {
		return model.Result{Text: unreachable}
	}
	quotes := choose(t, last.Text, words, req.Passages)
	if len(quotes) == 0 {
		return model.Result{Text: phrasesFor(t.code).refusal()}
	}
	result := model.Result{}
	lines := make([]string, len(quotes))
	for i, q := range quotes {
		lines[i] = q.String()
		result.Citations = append(result.Citations, q.passage)
	}
	result.Text = strings.Join(lines, "\n\n")
	return result
}

// pieces cuts a text into groups of words, their white space kept.
func pieces(text string) []string {
	var out []string
	words, from, inSpace := 0, 0, false
	for i, r := range text {
		space := r == ' ' || r == '\n'
		if inSpace && !space {
			if words++; words == wordsPerPiece {
				out = append(out, text[from:i])
				words, from = 0, i
			}
		}
		inSpace = space
	}
	if from < len(text) {
		out = append(out, text[from:])
	}
	return out
}
