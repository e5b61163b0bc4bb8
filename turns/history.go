package turns

import (
	"parlance.dev/parlance/sessions"
)

const (
	// defaultHistoryTokens bounds what of the earlier turns the model sees when the agent does not
	// say. It leaves most of a small model's window of 16k to instructions, passages and tools.
	defaultHistoryTokens = 6000
	// historyPage is how many turns are read at once, from the newest: most conversations are
	// shorter.
	historyPage = 24
	// turnOverhead is what a turn costs beside its words: roles and marks.
	turnOverhead = 4
)

// tokensIn is a rough count: four letters a token for text in ASCII, two for other alphabets, one
// for characters of Chinese, Japanese and Korean. The bound need not be exact, so the vocabulary
// that counts chunks (knowledge/document) is not asked: it takes a hundred times as long, in every
// turn.
func tokensIn(text string) int {
	ascii, letters, characters := 0, 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
			ascii++
		case r < 0x2E80:
			letters++
		default:
			characters++
		}
	}
	return (ascii+3)/4 + (letters+1)/2 + characters
}

// tokensOf is tokensIn of everything that the model sees of a message.
func tokensOf(m sessions.Message) int {
	n := tokensIn(m.Text) + turnOverhead
	for _, call := range m.Calls {
		n += tokensIn(call.Name) + tokensIn(string(call.Arguments)) + turnOverhead
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

// pastTurn is what a later turn has of an earlier one.
type pastTurn struct {
	id     sessions.TurnID
	index  int
	status sessions.TurnStatus
	// messages are read of finished turns only; tokens of them, roughly.
	messages []sessions.Message
	tokens   int
	// cut are the messages as the model gets them when they had to be shortened, cutTokens their
	// tokens; nil: it gets them whole.
	cut       []sessions.Message
	cutTokens int
}

func newPastTurn(turn sessions.Turn) pastTurn {
	return pastTurn{id: turn.ID, index: turn.Index, status: turn.Status, messages: turn.Messages, tokens: tokensOfAll(turn.Messages)}
}

// past is what the model sees of the turns before.
type past struct {
	// turns are the newest that fit the budget, oldest first, large ones shortened (fit.go).
	turns []pastTurn
	// tokens of what is given of them, roughly.
	tokens int
	// left says that there are older turns that did not fit.
	left bool
}

// messages are those of the turns as the model gets them, in order.
func (p past) messages() []sessions.Message {
	n := 0
	for i := range p.turns {
		n += len(p.turns[i].messages)
	}
	all := make([]sessions.Message, 0, n)
	for i := range p.turns {
		given, _ := p.turns[i].given()
		all = append(all, given...)
	}
	return all
}

// whole are the messages of the turns as they were.
func (p past) whole() []sessions.Message {
	var all []sessions.Message
	for i := range p.turns {
		all = append(all, p.turns[i].messages...)
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

// given is what the model gets of the turn, and its tokens.
func (t *pastTurn) given() ([]sessions.Message, int) {
	if t.cut != nil {
		return t.cut, t.cutTokens
	}
	return t.messages, t.tokens
}
