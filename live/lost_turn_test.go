package live_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns/requests"
)

func (s *script) then(steps ...step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// loseLease expires the lease of the session's turn, as when its node was killed. The node may
// renew the lease, so it is expired again until the turn has been lost so many times.
func (f *fixture) loseLease(t *testing.T, id sessions.ID, losses int) {
	t.Helper()
	await(t, "the loss", func() bool {
		err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
			// Lock the row first, to read what its last holder has written.
			if _, err := tx.ExecContext(ctx, "SELECT FROM sessions WHERE id = ? AND tenant_id = ? FOR UPDATE", id,
				f.principal.TenantID); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `UPDATE sessions SET running_until = ? WHERE id = ? AND tenant_id = ? AND running_turn_id IS NOT NULL
				AND NOT EXISTS (SELECT FROM turns AS t WHERE t.tenant_id = sessions.tenant_id AND t.id = running_turn_id AND t.losses >= ?)`,
				f.clock.now().Add(-time.Second), id, f.principal.TenantID, losses)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		taken := f.transcript(t, id)
		return taken[len(taken)-1].Losses >= losses
	})
}

// lostStream streams a turn on the fixture's node until its first words, and returns its listener.
func (f *fixture) lostStream(t *testing.T, id sessions.ID, steps ...step) *eventListener {
	t.Helper()
	paused := func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		if err := emit(model.TextDelta{Text: "Half of"}); err != nil {
			return model.Result{}, err
		}
		<-ctx.Done() // a slow node stops when it learns that it was judged lost
		return model.Result{Text: "Half of"}, ctx.Err()
	}
	f.model.(*script).then(append(steps, paused)...)
	heard := &eventListener{}
	var streaming sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	streaming.Go(func() {
		_ = f.Stream(ctx, f.principal, id, requests.Params{Text: "go"}, heard.receive) // its node is lost
	})
	await(t, "the first words", func() bool { text, _ := heard.text(); return strings.HasSuffix(text, "Half of") })
	t.Cleanup(func() { stop(); streaming.Wait() })
	return heard
}

// TestFollowLost follows a streamed turn on two other nodes when its own node is lost. One of them
// answers it again, and both receive that answer from its beginning, after a second turn.started.
func TestFollowLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nodes := []*rooms.Node{f.node(t), f.node(t)}
	f.model = &script{}
	made := f.create(t)
	id := made.Session.ID
	first := f.lostStream(t, id)
	f.model.(*script).then(say("Whole answer."))
	turn, last := first.received()[0].TurnID, first.received()[1].ID
	var following sync.WaitGroup
	listeners := []*eventListener{{}, {}}
	for i, node := range nodes {
		following.Go(func() {
			if err := node.Follow(t.Context(), f.principal, id, turn, last, listeners[i].receive); err != nil {
				t.Errorf("following: %v", err)
			}
		})
	}
	f.loseLease(t, id, 1)
	following.Wait()
	for i, e := range listeners {
		text, types := e.text()
		if text != "Whole answer." || types[0] != "started" || types[len(types)-1] != "done" ||
			strings.Count(strings.Join(types, " "), "started") != 1 {
			t.Errorf("follower %d received %q in %v", i, text, types)
		}
	}
	if taken := f.transcript(t, id); len(taken) != 1 || taken[0].Status != sessions.TurnCompleted ||
		taken[0].AgentText != "Whole answer." || taken[0].Losses != 1 {
		t.Errorf("transcript: %+v", taken)
	}
	await(t, "the answer where the turn began, by a node that was only slow", func() bool {
		text, types := first.text()
		return text == "Half ofWhole answer." && strings.Join(types, " ") == "started delta started delta done"
	})
	for i, e := range listeners[0].received() { // the new ids can be followed from too
		again := &eventListener{}
		if err := nodes[1].Follow(t.Context(), f.principal, id, turn, e.ID, again.receive); err != nil {
			t.Fatal(err)
		}
		seen := ""
		for _, earlier := range listeners[0].received()[:i+1] {
			seen += earlier.Delta
		}
		if rest, _ := again.text(); seen+rest != "Whole answer." {
			t.Errorf("after event %d: %q and %q", i, seen, rest)
		}
		if over := len(again.received()) == 0; over != (e.Type == requests.EventDone) {
			t.Errorf("after event %d, %s: %d events", i, e.Type, len(again.received()))
		}
	}
}

// TestFollowLostCalls: calls made before the loss are not repeated, and followers receive them.
func TestFollowLostCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 0)
	other := f.node(t)
	f.model = &script{}
	made := f.create(t, withPin)
	id := made.Session.ID
	first := f.lostStream(t, id, say("I look.", call("find_order", `{"id":"a"}`)))
	f.model.(*script).then(say("Found."))
	after := &eventListener{}
	following := make(chan error, 1)
	heard := first.received()
	go func() {
		following <- other.Follow(t.Context(), f.principal, id, heard[0].TurnID, heard[len(heard)-1].ID, after.receive)
	}()
	f.loseLease(t, id, 1)
	if err := <-following; err != nil {
		t.Fatal(err)
	}
	text, types := after.text()
	if diff := cmp.Diff([]string{"started", "delta", "tool_call", "delta", "done"}, types); diff != "" || text != "I look.\n\nFound." {
		t.Errorf("received %q (-want +got):\n%s", text, diff)
	}
	if sent := f.endpoint.Requests("/find_order"); len(sent) != 1 {
		t.Errorf("the tool was called %d times", len(sent))
	}
	requests := f.model.(*script).requests()
	if resultText(t, requests[len(requests)-1], 0) == "" {
		t.Error("the model does not know what the call came to")
	}
}

// TestRepeatLost repeats the request of a lost turn with its Idempotency-Key, which answers that
// turn.
func TestRepeatLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	said := make(chan struct{})
	f.model = &script{steps: []step{sayAndWait("Half", said), say("Whole.")}}
	made := f.create(t)
	id := made.Session.ID
	seeded := idgen.WithSeed(t.Context(), idgen.Seed{At: f.clock.now(), Secret: []byte(id)})
	var first sync.WaitGroup
	t.Cleanup(first.Wait)
	ctx, stop := context.WithCancel(seeded)
	t.Cleanup(stop)
	first.Go(func() { _, _ = f.Turn(ctx, f.principal, id, "go", nil) }) // its node is lost
	received(t, "the first words", said)
	if _, err := f.db.ExecContext(t.Context(), "UPDATE sessions SET running_until = ? WHERE id = ? AND tenant_id = ?",
		f.clock.now().Add(-time.Millisecond), id, f.principal.TenantID); err != nil {
		t.Fatal(err)
	}
	turn, err := other.Turn(seeded, f.principal, id, "go", nil)
	if err != nil || turn.AgentText != "Whole." || turn.Losses != 1 {
		t.Errorf("answered %q after %d losses, %v", turn.AgentText, turn.Losses, err)
	}
	if taken := f.transcript(t, id); len(taken) != 1 || taken[0].ID != turn.ID || taken[0].UserText != "go" {
		t.Errorf("transcript: %+v", taken)
	}
}

// TestSlowNodeAnswersLast: a node that stood still while another took its turn over gives its
// caller the recorded answer, not its own.
func TestSlowNodeAnswersLast(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		t.Run(map[bool]string{false: "whole", true: "streamed"}[streamed], func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			other := f.node(t)
			asked, resume := make(chan struct{}), make(chan struct{})
			f.model = &script{steps: []step{func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
				close(asked)
				<-resume
				return model.Result{Text: "Mine."}, emit(model.TextDelta{Text: "Mine."})
			}, say("Theirs.")}}
			id := f.create(t).Session.ID
			heard := &eventListener{}
			ended := make(chan error, 1)
			go func() {
				if streamed {
					ended <- f.Stream(t.Context(), f.principal, id, requests.Params{Text: "go"}, heard.receive)
					return
				}
				turn, err := f.Turn(t.Context(), f.principal, id, "go", nil)
				_ = heard.receive(requests.Event{Type: requests.EventDone, Turn: &turn})
				ended <- err
			}()
			received(t, "the question", asked)
			turn := f.transcript(t, id)[0].ID
			following := make(chan error, 1)
			go func() { following <- other.Follow(t.Context(), f.principal, id, turn, "", (&eventListener{}).receive) }()
			f.loseLease(t, id, 1)
			if err := <-following; err != nil {
				t.Fatal(err)
			}
			close(resume)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			all, recorded := heard.received(), f.transcript(t, id)[0]
			if got := all[len(all)-1].Turn; got.AgentText != "Theirs." || got.Status != sessions.TurnCompleted ||
				got.ReceiptHash != recorded.ReceiptHash {
				t.Errorf("the caller was given %q, %s; recorded is %q", got.AgentText, got.Status, recorded.AgentText)
			}
		})
	}
}

// TestRepeatWhileAnswered: a request that is repeated while another node still answers its turn
// waits for that answer.
func TestRepeatWhileAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	said, resume := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		close(said)
		<-resume
		return model.Result{Text: "Whole."}, emit(model.TextDelta{Text: "Whole."})
	}}}
	id := f.create(t).Session.ID
	seeded := idgen.WithSeed(t.Context(), idgen.Seed{At: f.clock.now(), Secret: []byte(id)})
	first, second := make(chan sessions.Turn, 1), make(chan sessions.Turn, 1)
	say := func(node *rooms.Node, into chan sessions.Turn) {
		turn, err := node.Turn(seeded, f.principal, id, "go", nil)
		if err != nil {
			t.Error(err)
		}
		into <- turn
	}
	go say(f.Node, first)
	received(t, "the question", said)
	go say(other, second)
	close(resume)
	if a, b := <-first, <-second; a.ID != b.ID || b.AgentText != "Whole." {
		t.Errorf("answered %s %q and %s %q", a.ID, a.AgentText, b.ID, b.AgentText)
	}
	if taken := f.transcript(t, id); len(taken) != 1 {
		t.Errorf("%d turns were taken", len(taken))
	}
}

// TestNobodyResumesLost: a lost turn that no client returns to fails when its time is over, and not
// before. Later messages wait until then.
func TestNobodyResumesLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{}
	made := f.create(t)
	id := made.Session.ID
	f.lostStream(t, id)
	f.model.(*script).then(say("Next."))
	other := f.node(t)
	if _, err := f.db.ExecContext(t.Context(), "UPDATE sessions SET running_until = ? WHERE id = ? AND tenant_id = ?",
		f.clock.now().Add(-time.Millisecond), id, f.principal.TenantID); err != nil {
		t.Fatal(err)
	}
	f.sweep(t)
	if taken := f.transcript(t, id); taken[0].Status != sessions.TurnInProgress {
		t.Errorf("the turn is %s at once", taken[0].Status)
	}
	waiting, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	_, err := other.Turn(waiting, f.principal, id, "next", nil)
	cancel()
	if err == nil {
		t.Error("another turn was answered before the lost one")
	}
	await(t, "the end of the turn", func() bool { // its node renews the lease at times
		if _, err := f.db.ExecContext(t.Context(),
			"UPDATE sessions SET running_until = ? WHERE id = ? AND tenant_id = ?", f.clock.now().Add(-11*time.Second),
			id, f.principal.TenantID); err != nil {
			t.Fatal(err)
		}
		f.sweep(t)
		return f.transcript(t, id)[0].Status == sessions.TurnFailed
	})
	if turn := f.turn(t, id, "next"); turn.AgentText != "Next." {
		t.Errorf("the next answer is %q", turn.AgentText)
	}
}
