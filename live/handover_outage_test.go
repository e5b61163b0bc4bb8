package live_test

import (
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestTransferWhileAway: what is asked for while Postgres is away is asked for when it is back.
func TestTransferWhileAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, handsOver())
	f.model = &script{steps: []step{
		say("Hello."), say("", call("transfer_to_person", `{"reason":"Wants a refund."}`)), say("Somebody will come."),
	}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "Hi.")
	r.wire.down()
	if done, _ := talk(s, "A person!"); done.Text != "Somebody will come." {
		t.Errorf("while Postgres is away: %+v", done)
	}
	r.wire.mend()
	await(t, "the request", func() bool {
		got := f.get(t, made.Session.ID).Handover
		return got.Status == sessions.HandoverRequested && got.Reason == "Wants a refund." && got.Destination == "sales"
	})
	if n := f.handoverEvents(t, made.Session.ID); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	awaitState(s, sessions.HandoverRequested)
}

// TestLeftToOperatorWhileAway: what the user says while a person has the conversation is not
// answered either while Postgres is away.
func TestLeftToOperatorWhileAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("Hello.")}}
	f.model = answers
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "Hi.")
	f.takeOver(t, made.Session.ID, "Ruth")
	awaitState(s, sessions.HandoverOperator)
	r.wire.down()
	s.do(live.UserMessage{Text: "Ruth?"})
	s.do(live.Respond{CommandID: "r"})
	if left, before := until[turns.LeftToOperator](s); left.CommandID != "r" || kinds(before) != "ItemAdded" {
		t.Errorf("while Postgres is away: %+v after %s", left, kinds(before))
	}
	r.wire.mend()
	await(t, "the message is a turn without an answer", func() bool {
		taken := f.transcript(t, made.Session.ID)
		return len(taken) == 2 && taken[1].Status == sessions.TurnCompleted && taken[1].UserText == "Ruth?" && taken[1].AgentText == ""
	})
	if n := len(answers.requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
