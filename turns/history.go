package turns

import (
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns/roughtokens"
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
	n := roughtokens.In(m.Text) + turnOverhead
	for _, call := range m.Calls {
		n += roughtokens.In(call.Name) + roughtokens.In(string(call.Arguments)) + turnOverhead
	}
	return n
}

func tokensOfAll(messages []sessions.Message) int {
	n := 0
	for _, m := range messages {
		n += tokensOf(m)
	}
	return n
}

// pastTurn is an earlier turn as a later one sees it.
type pastTurn struct {
	id     sessions.TurnID
	index  int
	status sessions.TurnStatus
	// messages are those of a finished turn; tokens is their size, roughly.
	messages []sessions.Message
	tokens   int
	// cut are the messages that the model gets when they were shortened, with cutTokens tokens; nil:
	// it gets all.
	cut       []sessions.Message
	cutTokens int
}

func newPastTurn(turn sessions.Turn) pastTurn {
	return pastTurn{id: turn.ID, index: turn.Index, status: turn.Status, messages: turn.Messages, tokens: tokensOfAll(turn.Messages)}
}

// past is what the model sees of the earlier turns.
type past struct {
	// turns are the newest that fit the budget, oldest first. Large ones are shortened; see
	// shorten.go.
	turns []pastTurn
	// tokens is the size of what the model sees of them, roughly.
	tokens int
	// truncated says that older turns did not fit.
	truncated bool
}

// messages are the turns' messages as the model gets them, in order.
func (p past) messages() []sessions.Message {
	n := 0
	for i := range p.turns {
		n += len(p.turns[i].messages)
	}
	all := make([]sessions.Message, 0, n)
	for i := range p.turns {
		given, _ := p.turns[i].visible()
		all = append(all, given...)
	}
	return all
}

// historyBudget is how many tokens of earlier turns the model may see.
func historyBudget(session sessions.Session) int {
	if tokens := session.Config.Model.HistoryTokens; tokens > 0 {
		return tokens
	}
	return defaultHistoryTokens
}

// visible is what the model gets of the turn, and its tokens.
func (t *pastTurn) visible() ([]sessions.Message, int) {
	if t.cut != nil {
		return t.cut, t.cutTokens
	}
	return t.messages, t.tokens
}
