package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// words are a text of about so many tokens.
func words(tokens int) string {
	const six = "Rent is due. é é 租 "
	return strings.Repeat(six, max(1, tokens/6))
}

// asks is a finished turn: what the user says, what is called and answered, in tokens each, and the
// agent's words.
func asks(index int, said string, outputs []int, answer string) sessions.Turn {
	turn := sessions.Turn{
		ID:       sessions.TurnID(fmt.Sprint("turn_", index)),
		Index:    index,
		Status:   sessions.TurnCompleted,
		Messages: []sessions.Message{{Role: sessions.RoleUser, ItemID: fmt.Sprint("item_", index), Text: said}},
	}
	for i, tokens := range outputs {
		id := fmt.Sprintf("call_%d_%d", index, i)
		turn.Messages = append(
			turn.Messages,
			sessions.Message{
				Role:  sessions.RoleAssistant,
				Calls: []sessions.MessageCall{{ID: id, Name: "look", Arguments: json.RawMessage(`{"id":1}`)}},
			},
			sessions.Message{Role: sessions.RoleTool, CallID: id, Text: words(tokens), Result: &sessions.CallResult{}},
		)
	}
	turn.Messages = append(turn.Messages, sessions.Message{Role: sessions.RoleAssistant, Text: answer})
	return turn
}

// fitted is what of the turns, oldest first, is given.
func fitted(turns []sessions.Turn, budget int) Past {
	var p Past
	for _, turn := range turns {
		p.Add(turn, budget)
	}
	return p
}

// TestLargeTurns: the newest turn is given, and what fits beside it.
func TestLargeTurns(t *testing.T) {
	t.Parallel()
	const budget = 6000
	name := asks(0, "My name is Zebulon Quartz.", nil, "Hello.")
	small := asks(3, "And then?", nil, "Nothing.")
	rows := map[string]struct {
		turns []sessions.Turn
		// given are the turns' tokens as the model gets them, of those that are shortened about so
		// many; 0: the turn is left out.
		given []int
	}{
		"two answers of 16 KiB": {[]sessions.Turn{name, asks(1, "Look.", []int{4100, 4100}, "Done.")}, []int{17, 4000}},
		"a paste":               {[]sessions.Turn{name, asks(1, words(7700), nil, "Thanks.")}, []int{17, 4000}},
		"nothing before":        {[]sessions.Turn{asks(1, words(5000), nil, "Thanks.")}, []int{5010}},
		"room for all of it":    {[]sessions.Turn{name, asks(1, words(5000), nil, "Thanks.")}, []int{17, 5010}},
		"no room beside it":     {[]sessions.Turn{name, asks(1, words(5980), nil, "Thanks.")}, []int{17, 4000}},
		"more behind it":        {[]sessions.Turn{name, asks(1, words(7700), nil, "Thanks."), small}, []int{17, 4000, 13}},
		"two large ones": {
			[]sessions.Turn{name, asks(1, "Look.", []int{9000}, "Done."), asks(2, words(7700), nil, "Thanks."), small},
			[]int{17, 1000, 4000, 13},
		},
		"one that lies before it": {
			[]sessions.Turn{name, asks(1, words(1000), nil, "A"), asks(2, words(5500), nil, "B"), asks(3, words(1500), nil, "C")},
			[]int{17, 1005, 2000, 1510},
		},
		"none is large": {
			[]sessions.Turn{
				name,
				asks(1, words(1900), nil, "A"),
				asks(2, words(1900), nil, "B"),
				asks(3, words(1900), nil, "C"),
				asks(4, words(1900), nil, "D"),
			},
			[]int{0, 0, 1908, 1908, 1908},
		},
		"four large ones": {
			[]sessions.Turn{
				asks(0, words(7000), nil, "A"),
				asks(1, words(7000), nil, "B"),
				asks(2, words(7000), nil, "C"),
				asks(3, words(7000), nil, "D"),
			},
			[]int{0, 500, 1000, 4000},
		},
		"more words than tools' ones": {[]sessions.Turn{name, asks(1, words(7700), []int{3000}, "Done.")}, []int{17, 4000}},
	}
	for what, row := range rows {
		p := fitted(row.turns, budget)
		skipped, sum := len(row.turns)-len(p.Turns), 0
		for i, want := range row.given {
			got := 0
			if i >= skipped {
				_, got = p.Turns[i-skipped].visible()
			}
			if sum += got; got < want-want/50-2 || got > want+want/50 {
				t.Errorf("%s: turn %d is given in %d tokens, want about %d", what, i, got, want)
			}
		}
		if p.Tokens != sum || sum > budget || p.Tokens != TokensOf(p.Messages()) {
			t.Errorf("%s: %d tokens, of %d", what, sum, p.Tokens)
		}
	}
	p := fitted(rows["more words than tools' ones"].turns, budget)
	given := p.Messages()
	if len(given) != 6 || tokensOf(given[4]) > 2*leastPart || !strings.HasPrefix(given[2].Text, "Rent is due") ||
		!strings.HasSuffix(given[2].Text, words(7700)[len(words(7700))-40:]) {
		t.Errorf("what tools answered goes first, and the middle: %+v", given)
	}
	if want := "bytes are left out here]"; !strings.Contains(given[2].Text, want) || !strings.Contains(given[4].Text, want) {
		t.Errorf("no mark in %+v", given)
	}
}

// TestFits: whatever the turns are, the budget is kept, the newest one is given, without a gap
// behind it, every call has its result, arguments stay JSON, and what is remembered is as it was.
func TestFits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	size := func() int { return []int{3, 20, 200, 1500, 9000}[r.IntN(5)] }
	for range 2000 {
		budget := []int{500, 2000, 6000}[r.IntN(3)]
		var turns []sessions.Turn
		for i := range 1 + r.IntN(6) {
			var outputs []int
			for range r.IntN(4) * r.IntN(4) {
				outputs = append(outputs, size())
			}
			turn := asks(i, words(size()), outputs, words(20))
			if len(turn.Messages) > 2 && r.IntN(3) == 0 {
				turn.Messages[1].Calls[0].Arguments = json.RawMessage(`{"text":"` + strings.Repeat("long ", size()) + `"}`)
			}
			turns = append(turns, turn)
		}
		p := fitted(turns, budget)
		if len(p.Turns) == 0 || p.Turns[len(p.Turns)-1].id != turns[len(turns)-1].ID || p.Tokens > budget ||
			p.Tokens != TokensOf(p.Messages()) {
			t.Fatalf("%d turns of %d in %d tokens of %d", len(p.Turns), len(turns), p.Tokens, budget)
		}
		for i, turn := range p.Turns {
			if whole := turns[len(turns)-len(p.Turns)+i]; whole.ID != turn.id || !reflect.DeepEqual(whole.Messages, turn.Messages) {
				t.Fatalf("turn %s is remembered as %s, or otherwise than it was", whole.ID, turn.id)
			}
		}
		for _, m := range sessions.ModelMessages(p.Messages(), func(_ sessions.MessageCall, output string) string { return output }) {
			if m.Role == model.RoleTool && m.Text == "The client has not answered this call." {
				t.Fatalf("the call %s has lost its result", m.ToolCallID)
			}
			for _, call := range m.ToolCalls {
				if !json.Valid(call.Arguments) {
					t.Fatalf("arguments %s", call.Arguments)
				}
			}
		}
	}
}

// TestNewestIsNotSummarised: what the model has not seen in full stays before it for a turn at
// least.
func TestNewestIsNotSummarised(t *testing.T) {
	t.Parallel()
	turns := []sessions.Turn{asks(0, "A", nil, "B"), asks(1, words(8000), nil, "C")}
	if got := ToSummarise(turns, 6000); len(got) != 1 {
		t.Errorf("%d turns go into the summary", len(got))
	}
	open := asks(2, "D", nil, "")
	open.Status = sessions.TurnInProgress
	if got := ToSummarise(append(turns, open), 6000); len(got) != 1 {
		t.Errorf("%d turns go into the summary while the next one runs", len(got))
	}
	if got := ToSummarise(append(turns, asks(2, "D", nil, "E")), 6000); len(got) != 2 {
		t.Errorf("%d turns go into the summary when it is not the newest any more", len(got))
	}
}
