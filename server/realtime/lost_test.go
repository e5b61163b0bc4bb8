package realtime_test

import (
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// loseTurn lets the lease of the running turn expire, as a node that was killed does, until the
// loss is noticed.
func (f *fixture) loseTurn(t *testing.T, id sessions.ID) {
	t.Helper()
	f.awaitSession(t, id, "the loss", func(sessions.Session) bool {
		_, err := f.db.ExecContext(t.Context(), "UPDATE sessions SET running_until = now() - interval '1 s'"+
			" WHERE id = ? AND tenant_id = ? AND running_turn_id IS NOT NULL", id, f.ref.TenantID)
		if err != nil {
			t.Fatal(err)
		}
		turns, _, err := f.Transcript(t.Context(), f.principal, id, postgres.PageParams{Size: 9})
		if err != nil {
			t.Fatal(err)
		}
		return len(turns) > 0 && turns[0].Losses == 1
	})
}

// beginAnswer asks for an answer that gate lets through, and returns the events up to its first
// delta.
func (f *fixture) beginAnswer(t *testing.T, published string, gate chan<- struct{}) []event {
	t.Helper()
	c := f.dial(t, published)
	c.want("session.created")
	c.say("Count.")
	gate <- struct{}{}
	return c.until("response.output_text.delta")
}

// TestLostNode has a node that falls silent during an answer: the open answer ends, and the node
// where the client is now gives another one. What the old node sends later is ignored.
func TestLostNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."), say("Anew."))
	made := f.create(t, sessions.Text)
	seen := f.beginAnswer(t, made.ChatURL, gate)
	returned := other.dial(t, returning(made.ChatURL, seen))
	returned.want("session.created")
	f.loseTurn(t, made.Session.ID)
	lost := returned.until("response.done")
	done := lost[len(lost)-1]
	status := path(done, "response", "status") // cancelled when the old node sees first that it has lost the turn
	if status != "failed" && status != "cancelled" ||
		path(done, "response", "id") != path(first(seen, "response.created"), "response", "id") {
		t.Errorf("the open answer ended with %v", done)
	}
	answer := returned.until("response.done")
	checkWhole(t, answer, "Anew.")
	gate <- struct{}{} // the old node wakes up
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 9})
	if err != nil || len(turns) != 1 || turns[0].AgentText != "Anew." || turns[0].Status != sessions.TurnCompleted {
		t.Errorf("transcript: %+v, %v", turns, err)
	}
}

// TestMessageDuringTheLoss: a message between a node's loss and its detection is answered, behind
// the answer that was lost.
func TestMessageDuringTheLoss(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2)
	f.model.then(gated(gate, "One ", "two."), say("Anew."), say("Behind it."))
	made := f.create(t, sessions.Text)
	seen := f.beginAnswer(t, made.ChatURL, gate)
	returned := other.dial(t, returning(made.ChatURL, seen))
	returned.want("session.created")
	returned.say("And then?")
	returned.until("conversation.item.done")
	f.loseTurn(t, made.Session.ID)
	returned.until("response.done")
	checkWhole(t, returned.until("response.done"), "Anew.")
	checkWhole(t, returned.until("response.done"), "Behind it.")
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 9})
	if err != nil || len(turns) != 2 || turns[0].AgentText != "Anew." || turns[1].UserText != "And then?" ||
		turns[1].AgentText != "Behind it." {
		t.Errorf("transcript: %+v, %v", turns, err)
	}
	gate <- struct{}{} // the old node wakes up
	wantSeen(t, f, "user: Count.", "assistant: Anew.", "user: And then?")
}
