package history

import (
	"encoding/json"
	"slices"

	"parlance.dev/parlance/sessions"
)

// A turn that is larger than the rest of the budget is shortened, so that the turns before it are
// still seen, until a summary covers them:
//
//	newest turn            whole, or ⅔ of the budget at most
//	one of more than ⅔     whole, until others do not fit beside it; then ⅔
//	other large ones       whole, or the largest of ⅔, ⅓, ⅙ and ¹⁄₁₂ that fits: few steps, so that
//	                       a turn mostly reads as before, and providers can reuse prompt caches
//	others                 whole; the first that does not fit ends the list
//
// A turn is large if it has more than ⅓ of the budget. Its tool results lose their middle first,
// then its messages, then the arguments of its calls. A call always keeps its result.

const (
	// shareSteps is how many sizes a large turn may be shortened to.
	shareSteps = 4
	// leastPart is the least that a part of a turn is shortened to, in tokens: less would say nothing.
	leastPart = 60
)

// LargestShare is how much of the budget a turn may take when there are others.
func LargestShare(budget int) int { return budget * 2 / 3 }

// Prepend adds a turn that is older than the others. It is false when the turn does not fit; then
// no older one does.
func (p *Past) Prepend(turn Turn, budget int) bool {
	if turn.tokens > budget-p.Tokens && len(p.Turns) > 0 {
		p.makeRoom(turn, budget)
	}
	left := budget - p.Tokens
	if turn.tokens > left {
		if len(p.Turns) > 0 && turn.tokens <= budget/3 {
			return false
		}
		room := LargestShare(budget)
		for step := 1; room > left*3/4; step++ {
			if room /= 2; step == shareSteps || room < 2*leastPart {
				return false
			}
		}
		turn.shorten(room)
	}
	_, tokens := turn.visible()
	p.Tokens += tokens
	p.Turns = append(p.Turns, turn)
	return true
}

// makeRoom shortens the turn that has more than its share, if there is one and the next turn then
// fits.
func (p *Past) makeRoom(next Turn, budget int) {
	share := LargestShare(budget)
	at := slices.IndexFunc(p.Turns, func(t Turn) bool { return t.cut == nil && t.tokens > share })
	if at < 0 || min(next.tokens, budget/3) > budget-p.Tokens+p.Turns[at].tokens-share {
		return
	}
	p.Tokens -= p.Turns[at].tokens
	p.Turns[at].shorten(share)
	p.Tokens += p.Turns[at].cutTokens
}

// shorten makes the turn visible in at most room tokens.
func (t *Turn) shorten(room int) {
	cut, tokens := slices.Clone(t.Messages), t.tokens
	for _, parts := range []func(sessions.Message) []part{outputOf, textOf, argumentsOf} {
		if tokens <= room {
			break
		}
		tokens -= shortenParts(cut, parts, tokens-room)
	}
	for tokens > room && len(cut) > 0 {
		var less int
		cut, less = withoutOldest(cut)
		tokens -= less
	}
	t.cut, t.cutTokens = cut, tokens
}

// part is a text of a message: its own, or the arguments of the call with this index (-1: its own).
type part struct {
	text string
	call int
}

func outputOf(m sessions.Message) []part {
	if m.Role != sessions.RoleTool {
		return nil
	}
	return []part{{m.Text, -1}}
}

func textOf(m sessions.Message) []part {
	if m.Role == sessions.RoleTool {
		return nil
	}
	return []part{{m.Text, -1}}
}

func argumentsOf(m sessions.Message) []part {
	all := make([]part, len(m.Calls))
	for i, call := range m.Calls {
		all[i] = part{string(call.Arguments), i}
	}
	return all
}

// shortenParts takes at least over tokens from the longest parts, if they have as many, and returns
// how many it took.
func shortenParts(messages []sessions.Message, parts func(sessions.Message) []part, over int) (taken int) {
	var sizes []int
	sum := 0
	for _, m := range messages {
		for _, one := range parts(m) {
			sizes = append(sizes, tokensIn(one.text))
			sum += sizes[len(sizes)-1]
		}
	}
	most, at := max(leastPart, sizeLimit(sizes, sum-over)), 0
	for i := range messages {
		for _, one := range parts(messages[i]) {
			if size := sizes[at]; size > most {
				taken += size - shorten(&messages[i], one, most)
			}
			at++
		}
	}
	return taken
}

// shorten shortens a part of the message to so many tokens, and returns how many it has then.
func shorten(m *sessions.Message, one part, most int) int {
	if one.call < 0 {
		m.Text = cutMiddle(one.text, most)
		return tokensIn(m.Text)
	}
	// The JSON text escapes quotes, which takes room.
	short, _ := json.Marshal(map[string]string{"cut": cutMiddle(one.text, most*3/4)}) //nolint:errchkjson // a text
	m.Calls = slices.Clone(m.Calls)
	m.Calls[one.call].Arguments = short
	return tokensIn(string(short))
}

// sizeLimit is the size that all larger ones must shrink to, so that all sizes together fit the
// room.
func sizeLimit(sizes []int, room int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > room {
			return max(0, room) / left
		}
		room -= size
	}
	return room
}

// withoutOldest leaves out the oldest calls with their results, or the first message when there are
// no calls, and returns how many tokens that saves.
func withoutOldest(messages []sessions.Message) (left []sessions.Message, tokens int) {
	at := slices.IndexFunc(messages, func(m sessions.Message) bool { return len(m.Calls) > 0 })
	if at < 0 {
		return messages[1:], tokensOf(messages[0])
	}
	calls := messages[at].Calls
	tokens = tokensOf(messages[at])
	messages[at].Calls = nil
	tokens -= tokensOf(messages[at])
	left = slices.DeleteFunc(messages, func(m sessions.Message) bool {
		out := m.Role == sessions.RoleAssistant && m.Text == "" && len(m.Calls) == 0 ||
			m.Role == sessions.RoleTool && slices.ContainsFunc(calls, func(call sessions.MessageCall) bool { return call.ID == m.CallID })
		if out {
			tokens += tokensOf(m)
		}
		return out
	})
	return left, tokens
}
