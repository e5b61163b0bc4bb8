package live_test

import (
	"testing"

	"parlance.dev/parlance/sessions"
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
