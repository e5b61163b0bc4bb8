package live_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestReleasedWhileAccepted: a person gives the conversation back while a message of the user is
// stored. The message is answered once, and only when the client asks for it.
func TestReleasedWhileAccepted(t *testing.T) {
	t.Parallel()
	type row struct {
		meanwhile live.Command   // comes before the person gives the conversation back
		later     []live.Command // come when the socket knows of it
	}
	hello, respond := live.UserMessage{Text: "Hello?"}, live.Respond{CommandID: "r"}
	rows := map[string]row{
		"AskedAfterwards": {hello, []live.Command{respond}},
		"AskedLater":      {hello, []live.Command{live.UserMessage{Text: "Still there?"}, respond}},
		"AskedBefore":     {live.Ask{Message: hello, Respond: respond}, nil},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			answers := &script{steps: []step{say("Hello."), say("Again.")}}
			f.model = answers
			made := f.create(t)
			s := f.join(t, f.Node, made)
			f.takeOver(t, made.Session.ID, "Ruth")
			awaitState(s, sessions.HandoverOperator)
			held := f.holdRow(t, made.Session.ID)
			s.do(r.meanwhile)
			f.awaitLock(t)
			released := make(chan error, 1)
			go func() {
				_, err := f.Handover.Release(t.Context(), f.principal, made.Session.ID, "")
				released <- err
			}()
			f.awaitLocks(t, 2) // the message is stored first
			if err := held.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-released; err != nil {
				t.Fatal(err)
			}
			if len(r.later) > 0 {
				awaitState(s, sessions.NoHandover)
			}
			for _, command := range r.later {
				s.do(command)
			}
			started, before := until[turns.ResponseStarted](s)
			if started.CommandID != "r" || strings.Contains(kinds(before), "LeftToOperator") || strings.Contains(kinds(before), "Failed") {
				t.Errorf("the answer %+v, after %s", started, kinds(before))
			}
			until[turns.ResponseDone](s)
			asked := answers.requests()
			if seen := fmt.Sprint(asked[0].Messages); len(asked) != 1 || !strings.Contains(seen, "Hello?") ||
				strings.Contains(seen, "Still there?") != (len(r.later) == 2) {
				t.Errorf("the model was asked %d times, first for %s", len(asked), seen)
			}
			last := f.transcript(t, made.Session.ID)
			if got := last[len(last)-1]; got.AgentText != "Hello." || got.Metrics.Operator != "" {
				t.Errorf("the last turn %s", oneLine(last))
			}
		})
	}
}

// TestTakeOverNoticesMissed: a node that has missed the notices of a take-over stops its answer
// when it finds out.
func TestTakeOverNoticesMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{paused(saying, goOn)}}
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "Help!"})
	s.do(live.Respond{})
	received(t, "the model's first word", saying)
	if _, err := f.db.ExecContext(t.Context(), "UPDATE sessions SET handover_status = 'operator', handover_operator = 'Ruth',"+
		" handover_taken_at = now() WHERE id = ?", made.Session.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.ExecContext(t.Context(), "SELECT pg_notify(?, '')", sessions.NotifyChannel); err != nil {
		t.Fatal(err)
	}
	awaitState(s, sessions.HandoverOperator)
	close(goOn)
	if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCancelled {
		t.Errorf("the answer goes on: %+v", done)
	}
}
