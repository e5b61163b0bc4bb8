package conversation_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

func TestLiveTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.passages.passages = refunds()
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!"})
	made := f.create(t)
	s := f.join(t, f.Service, made)
	greeting, before := until[conversation.ResponseDone](s)
	if first, ok := before[0].(conversation.ResponseStarted); !ok || !first.Greeting || greeting.Text != "Hello!" {
		t.Errorf("greeted with %+v, %+v", before, greeting)
	}
	s.do(conversation.UserMessage{CommandID: "c1", ItemID: "mine", Text: "When are refunds paid?"})
	added, _ := until[conversation.ItemAdded](s)
	if added.CommandID != "c1" || added.Item.ID != "mine" || added.PreviousItemID == "" {
		t.Errorf("item %+v", added)
	}
	if turns := f.transcript(t, made.Session.ID); len(turns) != 2 || turns[1].UserText != "When are refunds paid?" || turns[1].Status != conversation.TurnInProgress {
		t.Errorf("not in Postgres when it was accepted: %+v", turns)
	}
	s.do(conversation.Respond{CommandID: "c2"})
	done, before := until[conversation.ResponseDone](s)
	if done.Status != conversation.ResponseCompleted || !strings.Contains(done.Text, "fourteen days") || len(done.Citations) != 1 {
		t.Errorf("done %+v", done)
	}
	text := ""
	for _, e := range before {
		if delta, ok := e.(conversation.TextDelta); ok {
			text += delta.Text
		}
	}
	if text != done.Text {
		t.Errorf("deltas %q, done %q", text, done.Text)
	}
	if turns := f.transcript(t, made.Session.ID); turns[1].ID != added.Item.TurnID || turns[1].Status != conversation.TurnCompleted {
		t.Errorf("recorded %+v", turns[1])
	}
	s.Leave(conversation.HungUp)
	session := f.get(t, made.Session.ID)
	if session.Status != conversation.Completed || session.EndReason != conversation.ReasonHangUp {
		t.Errorf("after the hang-up: %s %s", session.Status, session.EndReason)
	}
}

func TestRespondWaitsItsTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Well,", said), say("Second.")}}
	s := f.join(t, f.Service, f.create(t))
	s.do(conversation.UserMessage{Text: "one"})
	s.do(conversation.Respond{CommandID: "r1"})
	received(t, "the first answer", said)
	s.do(conversation.UserMessage{Text: "two"})
	s.do(conversation.Respond{CommandID: "r2"})
	s.do(conversation.Cancel{ResponseID: "resp_another"})
	if failed, _ := until[conversation.Failed](s); !errors.Is(failed.Err, conversation.ErrNothingToCancel) {
		t.Errorf("cancelling another's answer: %+v", failed)
	}
	s.do(conversation.Cancel{})
	first, before := until[conversation.ResponseDone](s)
	if first.Status != conversation.ResponseCancelled || first.Text != "Well," {
		t.Errorf("first %+v", first)
	}
	if cut, ok := before[len(before)-1].(conversation.MessageDone); !ok || !cut.Cut || cut.Text != "Well," {
		t.Errorf("before the end came %+v", before[len(before)-1])
	}
	started, _ := until[conversation.ResponseStarted](s)
	second, _ := until[conversation.ResponseDone](s)
	if started.CommandID != "r2" || second.Text != "Second." {
		t.Errorf("second %+v %+v", started, second)
	}
	s.do(conversation.Cancel{})
	until[conversation.Failed](s)
}

// TestNoteIsNotAnswered: one answer takes all that was said while another was going out, and the wishes behind
// it do not answer a note that comes later.
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
	s := f.join(t, f.Service, f.create(t))
	speak := func(text string) {
		s.do(conversation.UserMessage{Text: text})
		s.do(conversation.Respond{IfSaid: true})
		until[conversation.ItemAdded](s)
	}
	speak("one")
	received(t, "the first answer", begun[0])
	speak("two")
	speak("three")
	close(goOn[0])
	received(t, "the answer to both", begun[1])
	s.do(conversation.Insert{Kind: conversation.SystemItem, Text: "The cart is open."})
	until[conversation.ItemAdded](s)
	close(goOn[1])
	until[conversation.ResponseDone](s)
	speak("four")
	done, _ := until[conversation.ResponseDone](s)
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
	first := f.join(t, f.Service, made)
	first.do(conversation.UserMessage{Text: "Hello?"})
	first.do(conversation.Respond{})
	until[conversation.ResponseDone](first)
	second := f.join(t, other, made)
	closed, ok := first.next().(conversation.Closed)
	if !ok || closed.Code != conversation.CloseReplaced || closed.Reason != "replaced" || closed.Ended {
		t.Errorf("the first socket got %+v", closed)
	}
	first.over()
	first.Leave(conversation.HungUp) // of a socket that was replaced: changes nothing
	if history := second.History(); !second.Resumed() || len(history) != 2 || history[0].Text != "Hello?" {
		t.Errorf("history %+v", history)
	}
	third := f.join(t, other, made)
	if closed, ok := second.next().(conversation.Closed); !ok || closed.Code != conversation.CloseReplaced {
		t.Errorf("the second socket got %+v", closed)
	}
	third.do(conversation.Respond{})
	until[conversation.ResponseDone](third)
	if session := f.get(t, made.Session.ID); session.Status != conversation.InProgress || !session.DroppedAt.IsZero() {
		t.Errorf("session %+v", session)
	}
}

// TestTurnOnAnotherNode: sockets are shown turns that another node takes, over HTTP and on the session's other socket.
func TestTurnOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	f.model = &script{steps: []step{say("Over HTTP."), say("On the other socket.")}}
	made := f.create(t, func(p *conversation.CreateParams) { p.Modality = conversation.VoiceAndText })
	s := f.join(t, other, made)
	f.turn(t, made.Session.ID, "one")
	shown := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if added, before := until[conversation.ItemAdded](s); added.Item.Text != text || len(before) > 0 {
				t.Errorf("shown %+v behind %+v, want %q", added, before, text)
			}
		}
	}
	shown("one", "Over HTTP.")
	voice := f.joinChannel(t, f.Service, made, conversation.VoiceChannel)
	voice.do(conversation.UserMessage{Text: "two"})
	voice.do(conversation.Respond{})
	until[conversation.ResponseDone](voice)
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
	s.do(conversation.UserMessage{Text: "one"})
	s.do(conversation.Respond{})
	received(t, "the answer", said)
	ended, err := f.End(t.Context(), f.principal, made.Session.ID, conversation.EndParams{Status: conversation.Broken, Reason: "fraud"})
	if err != nil || ended.Status != conversation.Broken || ended.EndReason != "fraud" {
		t.Fatalf("ended %+v, %v", ended, err)
	}
	done, _ := until[conversation.ResponseDone](s)
	if done.Status != conversation.ResponseCancelled {
		t.Errorf("answer %+v", done)
	}
	closed, ok := s.next().(conversation.Closed)
	if !ok || !closed.Ended || closed.Reason != "fraud" || closed.Code != conversation.CloseInternal {
		t.Errorf("closed with %+v", closed)
	}
	s.over()
	turn := f.transcript(t, made.Session.ID)[0]
	if turn.Status != conversation.TurnCancelled || turn.AgentText != "Half" {
		t.Errorf("recorded %s %q", turn.Status, turn.AgentText)
	}
	calls := f.postCalls(t, made.Session.ID)
	if len(calls) != 1 {
		t.Fatalf("%d events", len(calls))
	}
	if body, _ := json.Marshal(calls[0]["transcript"]); !strings.Contains(string(body), `"Half"`) {
		t.Errorf("the event was made before the turn was recorded: %s", body)
	}
	_, err = other.Admit(t.Context(), conversation.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: conversation.ChatChannel})
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
	first := f.join(t, f.Service, made)
	first.do(conversation.UserMessage{Text: "one"})
	first.do(conversation.Respond{})
	received(t, "the answer", said)
	first.Leave(conversation.Dropped)
	if session := f.get(t, made.Session.ID); session.DroppedAt.IsZero() {
		t.Error("the drop is not recorded")
	}
	second := f.join(t, f.Service, made)
	if len(second.History()) != 2 { // greeting and what the user said
		t.Errorf("history %+v", second.History())
	}
	if session := f.get(t, made.Session.ID); !session.DroppedAt.IsZero() {
		t.Error("the drop is not over")
	}
	close(goOn)
	if added, before := until[conversation.ItemAdded](second); added.Item.Text != "It went on." || len(before) != 0 {
		t.Errorf("told of %+v after %+v", added, before)
	}
}

func TestModality(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	_, err := f.Admit(t.Context(), conversation.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: conversation.VoiceChannel})
	wantReason(t, err, fault.SessionModality)
	voice := f.create(t, func(p *conversation.CreateParams) { p.Modality = conversation.Voice })
	spoken := f.joinChannel(t, f.Service, voice, conversation.VoiceChannel)
	typed := f.join(t, f.Service, voice)
	typed.do(conversation.UserMessage{Text: "typed"})
	if added, _ := until[conversation.ItemAdded](spoken); added.Item.Text != "typed" {
		t.Errorf("the voice socket was told of %+v", added)
	}
	typed.do(conversation.Respond{})
	done, _ := until[conversation.ResponseDone](typed)
	if added, _ := until[conversation.ItemAdded](spoken); added.Item.Text != done.Text {
		t.Errorf("the voice socket was told of %+v", added)
	}
	typed.Leave(conversation.HungUp)
	if session := f.get(t, voice.Session.ID); session.Status != conversation.InProgress {
		t.Errorf("one of two sockets hung up: %s", session.Status)
	}
	spoken.Leave(conversation.HungUp)
	if session := f.get(t, voice.Session.ID); session.Status != conversation.Completed {
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
	s := f.join(t, f.Service, made)
	s.do(conversation.Configure{
		Overrides:   map[string]json.RawMessage{"instructions": json.RawMessage(`"Theirs."`), "temperature": json.RawMessage(`0.25`)},
		ClientTools: []model.Tool{{Name: "look_up"}, {Name: "end_call"}},
	})
	configured, _ := until[conversation.Configured](s)
	if c := configured.Session.Config; c.Instructions != "Ours." || c.Model.Temperature == nil || *c.Model.Temperature != 0.25 {
		t.Errorf("in force: %+v", c)
	}
	theirs := "Theirs."
	s.do(conversation.UserMessage{Text: "one"})
	s.do(conversation.Respond{Instructions: &theirs})
	called, _ := until[conversation.ClientToolCalled](s)
	until[conversation.ResponseDone](s)
	s.do(conversation.ToolOutput{CallID: called.CallID, Output: "forty-two"})
	s.do(conversation.Respond{})
	if done, _ := until[conversation.ResponseDone](s); done.Text != "It is 42." {
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
	if closed, ok := s.next().(conversation.Closed); !ok || closed.Code != conversation.CloseRestart || closed.Ended {
		t.Errorf("closed with %+v", closed)
	}
	if session := f.get(t, made.Session.ID); session.Status != conversation.InProgress || session.DroppedAt.IsZero() {
		t.Errorf("session %+v", session)
	}
	if again := f.join(t, f.Service, made); !again.Resumed() {
		t.Error("not resumed on the other node")
	}
	admission, err := stopping.Admit(t.Context(), conversation.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: conversation.ChatChannel})
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
	s := f.join(t, f.Service, f.create(t))
	s.do(conversation.Respond{})
	received(t, "the answer", said)
	s.do(conversation.Cancel{Speech: true})
	if done, _ := until[conversation.ResponseDone](s); done.Status != conversation.ResponseCancelled || done.Reason != conversation.ReasonTurnDetected {
		t.Errorf("done %+v", done)
	}
}
