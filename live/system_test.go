package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// kinds returns the events' types in short.
func kinds(events []turns.Event) string {
	var names []string
	for _, e := range events {
		_, name, _ := strings.Cut(fmt.Sprintf("%T", e), ".")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestFarewell: when the agent ends the conversation, the client gets the whole farewell before the
// call, and the end after all of it.
func TestFarewell(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, text, arguments, language string
		want                            string
	}{
		{"said in the answer", "Bye, Ann.", `{"reason":"done"}`, "", "Bye, Ann."},
		{"in the call", "", `{"message":" Bye, Ann. "}`, "", "Bye, Ann."},
		{"in both", "All is settled.", `{"message":"Bye, Ann."}`, "", "All is settled."},
		{"twice the same", "Bye, Ann.", `{"message":"Bye, Ann."}`, "", "Bye, Ann."},
		{"in neither", "", `{}`, "", "Goodbye."},
		{"in neither, in German", "", `{}`, "de-CH", "Auf Wiedersehen."},
		{"in neither, in a language without one", "", `{}`, "tlh", "Goodbye."},
	}
	f := newFixture(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f.agent = f.newAgent(t, f.ref, agents.Config{Language: row.language})
			f.model = &script{steps: []step{say(row.text, call("language_detection", `{"language":"no such tag"}`),
				call("end_call", row.arguments))}}
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.UserMessage{Text: "bye"})
			s.do(live.Respond{})
			done, before := until[turns.ResponseDone](s)
			if done.Text != row.want || done.Status != turns.ResponseCompleted {
				t.Errorf("said %q (%s), want %q", done.Text, done.Status, row.want)
			}
			if got := kinds(before); !strings.HasSuffix(got, "TextDelta MessageDone ToolStarted ToolStarted ToolDone ToolDone") {
				t.Errorf("events %s", got)
			}
			if closed, ok := s.next().(live.Closed); !ok || closed.Reason != sessions.ReasonEndCall || closed.Code != live.CloseEnded {
				t.Errorf("closed with %+v", closed)
			}
			turn := f.transcript(t, made.Session.ID)[0]
			if calls := turn.ToolCalls(); turn.AgentText != row.want || len(calls) != 2 || calls[0].ErrorCode == "" ||
				calls[1].ErrorCode != "" {
				t.Errorf("recorded %q with %+v", turn.AgentText, calls)
			}
		})
	}
	// Over HTTP, with the demo's responder.
	f.model = newFixture(t).model
	made := f.create(t)
	if turn := f.turn(t, made.Session.ID, `/tool end_call {"message":"So long."}`); turn.AgentText != "So long." {
		t.Errorf("over HTTP: %q", turn.AgentText)
	}
	if session := f.get(t, made.Session.ID); session.EndReason != sessions.ReasonEndCall {
		t.Errorf("over HTTP: ended with %q", session.EndReason)
	}
	// A failed call neither ends nor says anything, and similar names are not system tools.
	for _, broken := range []model.ToolCall{
		call("end_call", `{"reason":7}`), call("end_call", `{"message":"Bye","extra":1}`), call("end_call", `nonsense`),
		call("End_Call", `{"message":"Bye"}`),
		call("end_call", `{"message":"`+strings.Repeat("b", 2001)+`"}`),
	} {
		f.model = &script{steps: []step{say("", broken), say("Still here.")}}
		made := f.create(t)
		if turn := f.turn(t, made.Session.ID, "bye"); turn.AgentText != "Still here." || f.get(t, made.Session.ID).Closed() {
			t.Errorf("%s %s: %q", broken.Name, broken.Arguments, turn.AgentText)
		}
	}
}

// TestLanguageDetection: the switch holds for the next round, the next turn, another node and the
// API's view. An unknown language switches nothing, and the model is told so.
func TestLanguageDetection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	answers := &script{steps: []step{
		say("", call("language_detection", `{"language":"xx-nothing"}`)), say("Hm."),
		say("", call("language_detection", `{"language":"DE-ch"}`)), say("Grüezi."), say("Ja."),
	}}
	f.model = answers
	made := f.create(t)
	refused := f.turn(t, made.Session.ID, "Xx?").ToolCalls()[0]
	if refused.ErrorCode == "" || !strings.Contains(refused.Output, "nothing was switched") || f.get(t, made.Session.ID).Language != "" {
		t.Errorf("no language: %+v", refused)
	}
	if turn := f.turn(t, made.Session.ID, "Grüezi!"); turn.ToolCalls()[0].ErrorCode != "" ||
		!strings.Contains(turn.ToolCalls()[0].Output, "de-CH") {
		t.Errorf("switched with %+v", turn.ToolCalls())
	}
	s := f.join(t, other, made)
	if got := s.Session().Language; got != "de-CH" {
		t.Errorf("after coming back: %q", got)
	}
	s.do(live.UserMessage{Text: "Geht das?"})
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	asked := answers.requests()
	if strings.Contains(asked[2].System, "de-CH") || !strings.Contains(asked[3].System, "language de-CH") ||
		!strings.Contains(asked[4].System, "language de-CH") {
		t.Errorf("instructions: %q, %q, %q", asked[2].System, asked[3].System, asked[4].System)
	}
	if got := f.get(t, made.Session.ID).Language; got != "de-CH" {
		t.Errorf("the view has %q", got)
	}
}

// TestSkipTurn: the agent says nothing, the model knows that it skipped the turn, and the silence
// time-out restarts.
func TestSkipTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{IdleTimeoutSeconds: 300})
	answers := &script{steps: []step{say("", call("skip_turn", `{"reason":"thinking"}`)), say("Yes?")}}
	f.model = answers
	made := f.create(t)
	heard := &eventListener{}
	turn, err := f.Turn(t.Context(), f.principal, made.Session.ID, "Wait a moment.", heard.receive)
	if _, types := heard.text(); err != nil || turn.Status != sessions.TurnCompleted || turn.AgentText != "" ||
		strings.Join(types, " ") != "started tool_call done" {
		t.Errorf("skipped: %s %q after %v, %v", turn.Status, turn.AgentText, types, err)
	}
	f.clock.advance(290 * time.Second)
	f.sweep(t)
	if turn := f.turn(t, made.Session.ID, "So."); turn.AgentText != "Yes?" {
		t.Errorf("the next answer: %q", turn.AgentText)
	}
	f.clock.advance(290 * time.Second)
	f.sweep(t)
	if f.get(t, made.Session.ID).Closed() {
		t.Error("turns do not begin the silence anew")
	}
	shown := ""
	for _, m := range answers.requests()[1].Messages {
		for _, c := range m.ToolCalls {
			shown += c.Name + string(c.Arguments)
		}
	}
	if shown != `skip_turn{"reason":"thinking"}` {
		t.Errorf("the model was shown %q", shown)
	}
}

// TestGivingUp: a session fails after five failed turns, and not before.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failing := func(context.Context, model.Request, func(model.Event) error) (model.Result, error) {
		return model.Result{}, errors.New("the model is away")
	}
	steps := []step{failing, failing, failing, failing, say("Back."), failing, failing, failing, failing, failing, failing}
	f.model = &script{steps: steps}
	made := f.create(t)
	s := f.join(t, f.Node, made)
	for i := range steps {
		if f.get(t, made.Session.ID).Closed() {
			t.Fatalf("given up after %d turns", i)
		}
		if i == len(steps)-1 { // the first five failed within a moment
			f.clock.advance(time.Minute)
		}
		s.do(live.UserMessage{Text: "Hello?"})
		s.do(live.Respond{})
		until[turns.ResponseDone](s)
	}
	if closed, ok := s.next().(live.Closed); !ok || closed.Code != live.CloseInternal ||
		closed.Reason != sessions.ReasonInternal || !closed.Ended {
		t.Errorf("closed with %+v", closed)
	}
	session := f.get(t, made.Session.ID)
	calls := f.postCalls(t, made.Session.ID)
	if session.Status != sessions.Failed || session.EndReason != sessions.ReasonInternal || len(calls) != 1 ||
		calls[0]["status"] != "failed" {
		t.Errorf("session %s %q, events %v", session.Status, session.EndReason, calls)
	}
}
