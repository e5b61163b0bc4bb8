package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

func TestLiveTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.passages.passages = refunds()
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!"})
	made := f.create(t)
	s := f.join(t, f.Node, made)
	greeting, before := until[turns.ResponseDone](s)
	if first, ok := before[0].(turns.ResponseStarted); !ok || !first.Greeting || greeting.Text != "Hello!" {
		t.Errorf("greeted with %+v, %+v", before, greeting)
	}
	s.do(live.UserMessage{CommandID: "c1", ItemID: "mine", Text: "When are refunds paid?"})
	added, _ := until[live.ItemAdded](s)
	if added.CommandID != "c1" || added.Item.ID != "mine" || added.PreviousItemID == "" {
		t.Errorf("item %+v", added)
	}
	if taken := f.transcript(t, made.Session.ID); len(taken) != 2 || taken[1].UserText != "When are refunds paid?" || taken[1].Status != sessions.TurnInProgress {
		t.Errorf("not in Postgres when it was accepted: %+v", taken)
	}
	s.do(live.Respond{CommandID: "c2"})
	done, before := until[turns.ResponseDone](s)
	if done.Status != turns.ResponseCompleted || !strings.Contains(done.Text, "fourteen days") || len(done.Citations) != 1 {
		t.Errorf("done %+v", done)
	}
	text := ""
	for _, e := range before {
		if delta, ok := e.(turns.TextDelta); ok {
			text += delta.Text
		}
	}
	if text != done.Text {
		t.Errorf("deltas %q, done %q", text, done.Text)
	}
	if taken := f.transcript(t, made.Session.ID); taken[1].ID != added.Item.TurnID || taken[1].Status != sessions.TurnCompleted {
		t.Errorf("recorded %+v", taken[1])
	}
	s.Leave(live.HungUp)
	session := f.get(t, made.Session.ID)
	if session.Status != sessions.Completed || session.EndReason != sessions.ReasonHangUp {
		t.Errorf("after the hang-up: %s %s", session.Status, session.EndReason)
	}
}

func TestRespondWaitsItsTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Well,", said), say("Second.")}}
	s := f.join(t, f.Node, f.create(t))
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{CommandID: "r1"})
	received(t, "the first answer", said)
	s.do(live.UserMessage{Text: "two"})
	s.do(live.Respond{CommandID: "r2"})
	s.do(live.Cancel{ResponseID: "resp_another"})
	if failed, _ := until[live.Failed](s); !errors.Is(failed.Err, live.ErrNothingToCancel) {
		t.Errorf("cancelling another's answer: %+v", failed)
	}
	s.do(live.Cancel{})
	first, before := until[turns.ResponseDone](s)
	if first.Status != turns.ResponseCancelled || first.Text != "Well," {
		t.Errorf("first %+v", first)
	}
	if cut, ok := before[len(before)-1].(turns.MessageDone); !ok || !cut.Cut || cut.Text != "Well," {
		t.Errorf("before the end came %+v", before[len(before)-1])
	}
	started, _ := until[turns.ResponseStarted](s)
	second, _ := until[turns.ResponseDone](s)
	if started.CommandID != "r2" || second.Text != "Second." {
		t.Errorf("second %+v %+v", started, second)
	}
	s.do(live.Cancel{})
	until[live.Failed](s)
}

// TestNoteIsNotAnswered: one answer takes all that was said while another was going out, and the
// wishes behind it do not answer a note that comes later.
func TestNoteIsNotAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var begun, goOn [2]chan struct{}
	held := func(i int) step {
		begun[i], goOn[i] = make(chan struct{}), make(chan struct{})
		return func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
			close(begun[i])
			<-goOn[i]
			return say("Yes.")(ctx, req, emit)
		}
	}
	answers := &script{steps: []step{held(0), held(1), say("Four.")}}
	f.model = answers
	s := f.join(t, f.Node, f.create(t))
	speak := func(text string) {
		s.do(live.UserMessage{Text: text})
		s.do(live.Respond{IfUnanswered: true})
		until[live.ItemAdded](s)
	}
	speak("one")
	received(t, "the first answer", begun[0])
	speak("two")
	speak("three")
	close(goOn[0])
	received(t, "the answer to both", begun[1])
	s.do(live.Insert{Kind: sessions.SystemItem, Text: "The cart is open."})
	until[live.ItemAdded](s)
	close(goOn[1])
	until[turns.ResponseDone](s)
	speak("four")
	done, _ := until[turns.ResponseDone](s)
	asked := answers.requests()
	if last := asked[len(asked)-1].Messages; done.Text != "Four." || last[len(last)-1].Text != "four" || len(asked) != 3 {
		t.Errorf("%q, the %dth answer, is to %q", done.Text, len(asked), last[len(last)-1].Text)
	}
}

func TestReplacedOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	made := f.create(t)
	first := f.join(t, f.Node, made)
	first.do(live.UserMessage{Text: "Hello?"})
	first.do(live.Respond{})
	until[turns.ResponseDone](first)
	second := f.join(t, other, made)
	closed, ok := first.next().(live.Closed)
	if !ok || closed.Code != live.CloseReplaced || closed.Reason != "replaced" || closed.Ended {
		t.Errorf("the first socket got %+v", closed)
	}
	first.over()
	first.Leave(live.HungUp) // of a socket that was replaced: changes nothing
	if history := second.History(); !second.Resumed() || len(history) != 2 || history[0].Text != "Hello?" {
		t.Errorf("history %+v", history)
	}
	third := f.join(t, other, made)
	if closed, ok := second.next().(live.Closed); !ok || closed.Code != live.CloseReplaced {
		t.Errorf("the second socket got %+v", closed)
	}
	third.do(live.Respond{})
	until[turns.ResponseDone](third)
	if session := f.get(t, made.Session.ID); session.Status != sessions.InProgress || !session.DroppedAt.IsZero() {
		t.Errorf("session %+v", session)
	}
}

// TestTurnOnAnotherNode: sockets are shown turns that another node takes, over HTTP and on the
// session's other socket.
func TestTurnOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	f.model = &script{steps: []step{say("Over HTTP."), say("On the other socket.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	s := f.join(t, other, made)
	f.turn(t, made.Session.ID, "one")
	shown := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if added, before := until[live.ItemAdded](s); added.Item.Text != text || len(before) > 0 {
				t.Errorf("shown %+v behind %+v, want %q", added, before, text)
			}
		}
	}
	shown("one", "Over HTTP.")
	voice := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	voice.do(live.UserMessage{Text: "two"})
	voice.do(live.Respond{})
	until[turns.ResponseDone](voice)
	shown("two", "On the other socket.")
}

// TestEndReachesSocket ends a session on one node while another answers.
func TestEndReachesSocket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Half", said)}}
	made := f.create(t)
	s := f.join(t, other, made)
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{})
	received(t, "the answer", said)
	ended, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Failed, Reason: "fraud"})
	if err != nil || ended.Status != sessions.Failed || ended.EndReason != "fraud" {
		t.Fatalf("ended %+v, %v", ended, err)
	}
	done, _ := until[turns.ResponseDone](s)
	if done.Status != turns.ResponseCancelled {
		t.Errorf("answer %+v", done)
	}
	closed, ok := s.next().(live.Closed)
	if !ok || !closed.Ended || closed.Reason != "fraud" || closed.Code != live.CloseInternal {
		t.Errorf("closed with %+v", closed)
	}
	s.over()
	turn := f.transcript(t, made.Session.ID)[0]
	if turn.Status != sessions.TurnCancelled || turn.AgentText != "Half" {
		t.Errorf("recorded %s %q", turn.Status, turn.AgentText)
	}
	calls := f.postCalls(t, made.Session.ID)
	if len(calls) != 1 {
		t.Fatalf("%d events", len(calls))
	}
	if body, _ := json.Marshal(calls[0]["transcript"]); !strings.Contains(string(body), `"Half"`) {
		t.Errorf("the event was made before the turn was recorded: %s", body)
	}
	_, err = other.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.ChatChannel})
	wantReason(t, err, fault.SessionClosed)
}

func TestDropAndReturn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, goOn := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		close(said)
		<-goOn
		return say("It went on.")(ctx, req, emit)
	}}}
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!"})
	made := f.create(t)
	first := f.join(t, f.Node, made)
	first.do(live.UserMessage{Text: "one"})
	first.do(live.Respond{})
	received(t, "the answer", said)
	first.Leave(live.Dropped)
	if session := f.get(t, made.Session.ID); session.DroppedAt.IsZero() {
		t.Error("the drop is not recorded")
	}
	second := f.join(t, f.Node, made)
	if len(second.History()) != 2 { // greeting and what the user said
		t.Errorf("history %+v", second.History())
	}
	if session := f.get(t, made.Session.ID); !session.DroppedAt.IsZero() {
		t.Error("the drop is not over")
	}
	close(goOn)
	if added, before := until[live.ItemAdded](second); added.Item.Text != "It went on." || len(before) != 0 {
		t.Errorf("told of %+v after %+v", added, before)
	}
}

func TestModality(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	_, err := f.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.VoiceChannel})
	wantReason(t, err, fault.SessionModality)
	voice := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	spoken := f.joinChannel(t, f.Node, voice, sessions.VoiceChannel)
	typed := f.join(t, f.Node, voice)
	typed.do(live.UserMessage{Text: "typed"})
	if added, _ := until[live.ItemAdded](spoken); added.Item.Text != "typed" {
		t.Errorf("the voice socket was told of %+v", added)
	}
	typed.do(live.Respond{})
	done, _ := until[turns.ResponseDone](typed)
	if added, _ := until[live.ItemAdded](spoken); added.Item.Text != done.Text {
		t.Errorf("the voice socket was told of %+v", added)
	}
	typed.Leave(live.HungUp)
	if session := f.get(t, voice.Session.ID); session.Status != sessions.InProgress {
		t.Errorf("one of two sockets hung up: %s", session.Status)
	}
	spoken.Leave(live.HungUp)
	if session := f.get(t, voice.Session.ID); session.Status != sessions.Completed {
		t.Errorf("both hung up: %s", session.Status)
	}
}

func TestConfigureAndClientTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("Let me look.", call("look_up", `{"q":"x"}`)), say("It is 42.")}}
	f.model = answers
	f.agent = f.newAgent(t, f.ref, agents.Config{Instructions: "Ours.", ClientOverrides: []string{"temperature"}})
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.Configure{
		Overrides:   map[string]json.RawMessage{"instructions": json.RawMessage(`"Theirs."`), "temperature": json.RawMessage(`0.25`)},
		ClientTools: []model.Tool{{Name: "look_up"}, {Name: "end_call"}},
	})
	configured, _ := until[live.Configured](s)
	if c := configured.Session.Config; c.Instructions != "Ours." || c.Model.Temperature == nil || *c.Model.Temperature != 0.25 {
		t.Errorf("in force: %+v", c)
	}
	theirs := "Theirs."
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{Instructions: &theirs})
	called, _ := until[turns.ClientToolCalled](s)
	until[turns.ResponseDone](s)
	s.do(live.ToolOutput{CallID: called.CallID, Output: "forty-two"})
	s.do(live.Respond{})
	if done, _ := until[turns.ResponseDone](s); done.Text != "It is 42." {
		t.Errorf("answered %+v", done)
	}
	asked := answers.requests()
	if !strings.HasPrefix(asked[0].System, "Ours.") || *asked[0].Temperature != 0.25 {
		t.Errorf("asked with %q, %v", asked[0].System, asked[0].Temperature)
	}
	names := 0
	for _, tool := range asked[0].Tools {
		if tool.Name == "end_call" {
			names++
		}
	}
	if names != 1 {
		t.Errorf("end_call was offered %d times", names)
	}
	last := asked[1].Messages[len(asked[1].Messages)-1]
	if last.Role != model.RoleTool || last.Bare != "forty-two" || !strings.Contains(last.Text, "</outside-") || asked[1].ToolName(last.ToolCallID) != "look_up" {
		t.Errorf("the model was told %+v", last)
	}
}

func TestCloseSendsSocketsAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stopping := f.node(t)
	made := f.create(t)
	s := f.join(t, stopping, made)
	if err := stopping.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if closed, ok := s.next().(live.Closed); !ok || closed.Code != live.CloseRestart || closed.Ended {
		t.Errorf("closed with %+v", closed)
	}
	if session := f.get(t, made.Session.ID); session.Status != sessions.InProgress || session.DroppedAt.IsZero() {
		t.Errorf("session %+v", session)
	}
	if again := f.join(t, f.Node, made); !again.Resumed() {
		t.Error("not resumed on the other node")
	}
	admission, err := stopping.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.ChatChannel})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stopping.Join(t.Context(), admission)
	wantReason(t, err, fault.ServiceUnavailable)
}

// TestInterrupted says that it was the user's speech that stopped an answer.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Well,", said)}}
	s := f.join(t, f.Node, f.create(t))
	s.do(live.Respond{})
	received(t, "the answer", said)
	s.do(live.Cancel{Speech: true})
	if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCancelled || done.Reason != turns.ReasonTurnDetected {
		t.Errorf("done %+v", done)
	}
}
