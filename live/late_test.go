package live_test

import (
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// said is an Ask of a call for what its user has said.
func said(text string) live.Ask {
	return live.Ask{
		Message: live.UserMessage{CommandID: live.CallCommand + text, Text: text, Audio: &sessions.Audio{LengthMS: 900, Transcribed: true}},
		Respond: live.Respond{CommandID: live.CallCommand + text, Awaited: true, Spoken: true},
	}
}

// TestLateWords: what a call hands over for its user after its socket was replaced is answered on
// the next socket.
func TestLateWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("At nine.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	old := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	next := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	old.do(live.Insert{CommandID: live.CallCommand + "1", Kind: sessions.AssistantItem, Text: "Are you still there?"})
	old.do(said("When do you open?"))
	done, _ := until[turns.ResponseDone](next)
	turn := f.transcript(t, made.Session.ID)[0]
	if done.Text != "At nine." || turn.UserText != "When do you open?" || len(turn.Messages) != 3 {
		t.Errorf("answered %q in the turn %+v", done.Text, turn)
	}
}

// TestLateWordsElsewhere: when the next socket is on another node, they are stored, and the model
// sees them there.
func TestLateWordsElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	asked, goOn := make(chan struct{}), make(chan struct{})
	script := &script{steps: []step{paused(asked, goOn), say("On Saturday.")}}
	f.model = script
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	other := f.node(t)
	old := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	old.do(said("When does it come?"))
	received(t, "the request", asked)
	next := f.joinChannel(t, other, made, sessions.VoiceChannel)
	until[live.Released](old)
	old.do(said("I mean the second one."))
	await(t, "the words are in the transcript", func() bool {
		turns := f.transcript(t, made.Session.ID)
		return len(turns) == 2 && turns[1].UserText == "I mean the second one." && turns[1].Status == sessions.TurnCancelled
	})
	close(goOn)
	until[live.AnswerEnded](next)
	talk(next, "So?")
	seen := script.requests()[1].Messages
	if !slices.ContainsFunc(seen, func(m model.Message) bool { return strings.Contains(m.Text, "the second one") }) {
		t.Errorf("the model is asked with %+v", seen)
	}
}

// TestLateMessage: a client that does not know whether its message has arrived sends it again on
// its next socket, and it is taken once.
func TestLateMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	old := f.join(t, f.Node, made)
	next := f.join(t, f.Node, made)
	old.do(live.UserMessage{CommandID: "first", ItemID: "question", Text: "When do you open?"})
	next.do(live.UserMessage{CommandID: "again", ItemID: "question", Text: "When do you open?"})
	if added, _ := until[live.ItemAdded](next); added.CommandID != "again" {
		t.Errorf("got %+v", added)
	}
}
