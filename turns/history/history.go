package history

import (
	"slices"

	"parlance.dev/parlance/sessions"
)

const (
	// defaultHistoryTokens bounds the earlier turns that the model sees, when the agent sets no bound.
	// It leaves most of a small model's window of 16k to instructions, passages and tools.
	defaultHistoryTokens = 6000
	// turnOverhead is what a message costs beside its words: its role and separators.
	turnOverhead = 4
)

// tokensOf is a rough count of everything that the model sees of a message.
func tokensOf(m sessions.Message) int {
	n := tokensIn(m.Text) + turnOverhead
	for _, call := range m.Calls {
		n += tokensIn(call.Name) + tokensIn(string(call.Arguments)) + turnOverhead
	}
	return n
}

// TokensOf is a rough count of everything that the model sees of messages.
func TokensOf(messages []sessions.Message) int {
	n := 0
	for _, m := range messages {
		n += tokensOf(m)
	}
	return n
}

// Turn is an earlier turn as a later one sees it.
type Turn struct {
	id     sessions.TurnID
	index  int
	status sessions.TurnStatus
	// Messages are those of a finished turn; tokens is their size, roughly.
	Messages []sessions.Message
	tokens   int
	// cut are the messages that the model gets when they were shortened, with cutTokens tokens; nil:
	// it gets all.
	cut       []sessions.Message
	cutTokens int
}

// NewTurn is a finished turn as later ones see it.
func NewTurn(turn sessions.Turn) Turn {
	return Turn{id: turn.ID, index: turn.Index, status: turn.Status, Messages: turn.Messages, tokens: TokensOf(turn.Messages)}
}

// Past is what the model sees of the earlier turns.
type Past struct {
	// Turns are the newest that fit the budget, oldest first. Large ones are shortened; see
	// shorten.go.
	Turns []Turn
	// Tokens is the size of what the model sees of them, roughly.
	Tokens int
	// Truncated says that older turns did not fit.
	Truncated bool
}

// Add appends a finished turn, unless it is there. Beyond the budget the oldest turns are dropped,
// or large ones shortened.
func (p *Past) Add(turn sessions.Turn, budget int) {
	if turn.Status == sessions.TurnInProgress || slices.ContainsFunc(p.Turns, func(t Turn) bool { return t.id == turn.ID }) {
		return
	}
	all := append(p.Turns, NewTurn(turn))
	if tokens := all[len(all)-1].tokens; p.Tokens+tokens <= budget {
		p.Turns = all
		p.Tokens += tokens
		return
	}
	fitted := Past{Truncated: p.Truncated}
	for _, one := range slices.Backward(all) {
		one.cut = nil
		if !fitted.Prepend(one, budget) {
			fitted.Truncated = true
			break
		}
	}
	slices.Reverse(fitted.Turns)
	*p = fitted
}

// Messages are the turns' messages as the model gets them, in order.
func (p Past) Messages() []sessions.Message {
	n := 0
	for i := range p.Turns {
		n += len(p.Turns[i].Messages)
	}
	all := make([]sessions.Message, 0, n)
	for i := range p.Turns {
		given, _ := p.Turns[i].visible()
		all = append(all, given...)
	}
	return all
}

// Budget is how many tokens of earlier turns the model may see.
func Budget(session sessions.Session) int {
	if tokens := session.Config.Model.HistoryTokens; tokens > 0 {
		return tokens
	}
	return defaultHistoryTokens
}

// visible is what the model gets of the turn, and its tokens.
func (t *Turn) visible() ([]sessions.Message, int) {
	if t.cut != nil {
		return t.cut, t.cutTokens
	}
	return t.Messages, t.tokens
}

// ToSummarise are the first turns, so many that two fifths of the budget are left, and at most
// twice the budget. They end before a turn that runs or waits for a client's result, and before the
// newest finished one, which the model is to see once more.
func ToSummarise(turns []sessions.Turn, budget int) []sessions.Turn {
	total, taken, newest := 0, 0, 0
	for i, turn := range turns {
		total += TokensOf(turn.Messages)
		if turn.Status != sessions.TurnInProgress {
			newest = i
		}
	}
	for i, turn := range turns {
		if i == newest || turn.Status == sessions.TurnInProgress || turn.HasOpenCalls() || total-taken <= budget*2/5 || taken > 2*budget {
			return turns[:i]
		}
		taken += TokensOf(turn.Messages)
	}
	return turns
}
