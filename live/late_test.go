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

// TestLateResult: a result whose client asks for no answer by itself is taken for its next socket.
func TestLateResult(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("", call("pick", `{}`)), say("The red one.")}}
	made := f.create(t)
	old := f.join(t, f.Node, made)
	old.offer()
	calls := old.ask("Which?")
	next := f.join(t, f.Node, made)
	old.do(live.ToolOutput{CallID: calls["pick"], Output: "red", Respond: true})
	if done, _ := until[turns.ResponseDone](next); done.Text != "The red one." {
		t.Errorf("answered %+v", done)
	}
}

// TestLateApproval: a client's decision counts although its socket was replaced.
func TestLateApproval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.guarded(t)
	f.model = pays(1)
	made := f.create(t)
	old := f.join(t, f.Node, made)
	old.do(live.UserMessage{Text: "Pay five."})
	old.do(live.Respond{})
	asked, _ := until[turns.ApprovalRequested](old)
	next := f.join(t, f.Node, made)
	old.do(live.Approve{RequestID: asked.RequestID, Approved: true})
	if done, _ := until[turns.ToolDone](next); done.Result.ErrorCode != "" || !strings.Contains(done.Output, "Paid.") {
		t.Errorf("got %+v", done)
	}
}

// TestLateFeedback: feedback is kept although its socket was replaced, and although the session
// ends or has ended.
func TestLateFeedback(t *testing.T) {
	t.Parallel()
	liked := live.Feedback{Feedback: sessions.Feedback{Score: sessions.Like}}
	goodbye := say("", call("end_call", `{"reason":"done","message":"Goodbye."}`))
	for _, row := range []struct {
		name string
		step step
		// between happens between the answer and the feedback.
		between func(t *testing.T, f *fixture, made sessions.Created, s *socket)
	}{
		{"replaced", say("The red one."), func(t *testing.T, f *fixture, made sessions.Created, _ *socket) { f.join(t, f.Node, made) }},
		{"in the farewell", goodbye, func(*testing.T, *fixture, sessions.Created, *socket) {}},
		{"ended", goodbye, func(_ *testing.T, _ *fixture, _ sessions.Created, s *socket) { until[live.Closed](s) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.model = &script{steps: []step{row.step}}
			made := f.create(t)
			s := f.join(t, f.Node, made)
			talk(s, "Which?")
			row.between(t, f, made, s)
			s.do(liked)
			await(t, "the feedback is stored", func() bool {
				return f.transcript(t, made.Session.ID)[0].Feedback == sessions.Like && f.get(t, made.Session.ID).Likes.Likes == 1
			})
		})
	}
}
