package realtime_test

import (
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/server/realtime"
)

// loseTurn lets the lease of the running turn expire, as a node that was killed does, until the loss is
// noticed.
func (f *fixture) loseTurn(t *testing.T, id conversation.ID) {
	t.Helper()
	f.awaitSession(t, id, "the loss", func(conversation.Session) bool {
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

// beginAnswer has a client ask for an answer that gate lets through, and returns what it saw up to
// the first piece.
func (f *fixture) beginAnswer(t *testing.T, published string, gate chan<- struct{}) []event {
	t.Helper()
	c := f.dial(t, published)
	c.want("session.created")
	c.say("Count.")
	gate <- struct{}{}
	return c.until("response.output_text.delta")
}

// TestLostNode has a node that falls silent in the middle of an answer: the open answer is ended,
// and the node where the client is now gives another one. What the old node says later counts for
// nothing.
func TestLostNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."), say("Anew."))
	made := f.create(t, conversation.Text)
	seen := f.beginAnswer(t, made.ChatURL, gate)
	again := other.dial(t, returning(made.ChatURL, seen))
	again.want("session.created")
	f.loseTurn(t, made.Session.ID)
	lost := again.until("response.done")
	if done := lost[len(lost)-1]; path(done, "response", "status") != "failed" ||
		path(done, "response", "id") != path(first(seen, "response.created"), "response", "id") {
		t.Errorf("the open answer ended with %v", done)
	}
	answer := again.until("response.done")
	checkWhole(t, answer, "Anew.")
	gate <- struct{}{} // the old node wakes up
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 9})
	if err != nil || len(turns) != 1 || turns[0].AgentText != "Anew." || turns[0].Status != conversation.TurnCompleted {
		t.Errorf("transcript: %+v, %v", turns, err)
	}
}

// TestSaidWhileTheNodeIsLost: what the user says between a node's loss and its being noticed is
// answered, behind the answer that was lost.
func TestSaidWhileTheNodeIsLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2)
	f.model.then(gated(gate, "One ", "two."), say("Anew."), say("Behind it."))
	made := f.create(t, conversation.Text)
	seen := f.beginAnswer(t, made.ChatURL, gate)
	again := other.dial(t, returning(made.ChatURL, seen))
	again.want("session.created")
	again.say("And then?")
	again.until("conversation.item.done")
	f.loseTurn(t, made.Session.ID)
	again.until("response.done")
	checkWhole(t, again.until("response.done"), "Anew.")
	checkWhole(t, again.until("response.done"), "Behind it.")
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 9})
	if err != nil || len(turns) != 2 || turns[0].AgentText != "Anew." || turns[1].UserText != "And then?" ||
		turns[1].AgentText != "Behind it." {
		t.Errorf("transcript: %+v, %v", turns, err)
	}
	gate <- struct{}{} // the old node wakes up
	wantSeen(t, f, "user: Count.", "assistant: Anew.", "user: And then?")
}
