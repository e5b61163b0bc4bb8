package live_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
)

// TestPostgresHangs: Postgres hangs for minutes and recovers. No node is judged lost: the socket
// stays, and so does the turn without a socket that ended meanwhile.
func TestPostgresHangs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{say("A."), paused(saying, goOn), say("B.")}}
	r, worker := newRemote(t, f, t.TempDir(), 1<<20), newRemote(t, f, t.TempDir(), 1<<20)
	made, other := f.create(t), f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "one")
	ended := make(chan error, 1)
	go func() {
		_, err := r.Turn(t.Context(), f.principal, other.Session.ID, "one", nil)
		ended <- err
	}()
	<-saying
	r.wire.hold()
	worker.wire.hold()
	swept := make(chan error, 1)
	go func() { swept <- worker.Sweep(t.Context(), f.clock.now()) }()
	close(goOn)
	if err := <-ended; err != nil {
		t.Errorf("the turn that ran: %v", err)
	}
	await(t, "the worker notices", worker.Health().Failing)
	f.clock.advance(sessions.DropGrace + 20*time.Second)
	r.wire.mend()
	worker.wire.mend()
	<-swept
	await(t, "the worker reaches Postgres", func() bool { return !worker.Health().Failing() })
	for sweeping := true; sweeping; {
		sweeping = !worker.Health().Steady() // and once more afterwards
		if err := worker.Sweep(t.Context(), f.clock.now()); err != nil {
			t.Errorf("sweeping: %v", err)
		}
	}
	for _, id := range []sessions.ID{made.Session.ID, other.Session.ID} {
		if got := f.get(t, id); got.Status != sessions.InProgress {
			t.Errorf("session ended as %s, %s", got.Status, got.EndReason)
		}
	}
	if got := f.transcript(t, other.Session.ID); got[0].Status != sessions.TurnCompleted ||
		got[0].AgentText != "Half and half." { // from the journal, unless the statement that hung was carried out
		t.Errorf("the turn without a socket: %s", oneLine(got))
	}
	if done, _ := talk(s, "two"); done.Text != "B." {
		t.Errorf("after it: %+v", done)
	}
	if got := r.wal.Stats(); got != (wal.Stats{}) {
		t.Errorf("left in the log: %+v", got)
	}
}

// TestLeaseAfterAnOutage: after an outage the lease of a running turn may have expired. Another
// node neither takes the turn over nor ends the session because of it.
func TestLeaseAfterAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{paused(saying, goOn), say("B."), func(ctx context.Context, _ model.Request,
		emit func(model.Event) error,
	) (model.Result, error) {
		if err := emit(model.TextDelta{Text: "Half "}); err != nil {
			return model.Result{}, err
		}
		saying <- struct{}{}
		<-ctx.Done()
		return model.Result{}, ctx.Err()
	}}}
	other := f.node(t)
	id := f.create(t).Session.ID
	first, second := make(chan error, 1), make(chan error, 1)
	take := func(node *rooms.Node, text string, ended chan<- error) {
		_, err := node.Turn(t.Context(), f.principal, id, text, nil)
		ended <- err
	}
	go take(f.Node, "one", first)
	<-saying
	f.clock.advance(time.Minute)
	other.Health().Disturb()
	go take(other, "two", second)
	await(t, "the lease is renewed", func() bool { return f.get(t, id).RunningUntil.After(f.clock.now()) })
	close(goOn)
	for _, ended := range []<-chan error{first, second} {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if got := oneLine(f.transcript(t, id)); got != "0 completed one→Half and half.; 1 completed two→B.; " {
		t.Errorf("transcript %s", got)
	}
	go take(f.Node, "three", first)
	<-saying
	f.clock.advance(time.Minute)
	other.Health().Disturb()
	if got, err := other.End(t.Context(), f.principal, id, sessions.EndParams{Status: sessions.Completed}); err != nil || !got.Closed() {
		t.Errorf("ended with %+v, %v", got, err)
	}
	<-first
	taken := f.transcript(t, id)
	if last := taken[len(taken)-1]; last.Status != sessions.TurnCancelled || last.AgentText != "Half " {
		t.Errorf("the turn that ran at the end: %s %q", last.Status, last.AgentText)
	}
}

// TestJournalOfStoppedNode: a node stops during the outage with turns in its journal. A client that
// joins another node on its machine finds them in their place, and none is answered again.
func TestJournalOfStoppedNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	answers := &script{steps: []step{paused(saying, goOn), say("F."), say("G."), say("H.")}}
	f.model = answers
	dir := t.TempDir()
	r, neighbour := newRemote(t, f, dir, 1<<20), newRemote(t, f, dir, 1<<20)
	made, other := f.create(t), f.create(t)
	s, o := f.join(t, r.Node, made), f.join(t, r.Node, other)
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{})
	<-saying
	r.wire.down()
	neighbour.wire.down()
	close(goOn)
	until[turns.ResponseDone](s)
	talk(o, "f1")
	if err := r.wal.Close(); err != nil { // as the kernel does when the process ends
		t.Fatal(err)
	}
	await(t, "the neighbour notices", neighbour.Offline)
	f.clock.advance(15 * time.Second) // the lease has expired, and the next scan for other nodes' journals is not due
	neighbour.wire.mend()
	await(t, "the neighbour reaches Postgres", func() bool { return !neighbour.Offline() })
	if turn, err := neighbour.Turn(t.Context(), f.principal, other.Session.ID, "f2", nil); err != nil || turn.AgentText != "G." {
		t.Errorf("f2 was answered with %+v, %v", turn, err)
	}
	s = f.join(t, neighbour.Node, made)
	if done, _ := talk(s, "two"); done.Text != "H." {
		t.Errorf("two was answered with %+v", done)
	}
	if got := oneLine(f.transcript(t, other.Session.ID)); got != "0 completed f1→F. spilled; 1 completed f2→G.; " {
		t.Errorf("transcript %s", got)
	}
	if got := oneLine(f.transcript(t, made.Session.ID)); got != "0 completed one→Half and half. spilled; 1 completed two→H.; " {
		t.Errorf("transcript %s", got)
	}
	if got := len(answers.requests()); got != 4 {
		t.Errorf("the model was asked %d times", got)
	}
}

// TestJournalBeforeTheEnd: turns that were journalled only before their end, one as its message was
// accepted and one between the rounds of its answer. The transcript and the receipt agree on it.
func TestJournalBeforeTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "free", "POST", 0)
	called := make(chan struct{})
	f.endpoint.Script("/free", httptool.Step{Until: called, Body: `{"ok":true}`})
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{say("A."), say("B."), say("", call("free", `{"id":"x"}`)), paused(saying, goOn)}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t, withPin)
	id := made.Session.ID
	replayed := func() bool { return f.get(t, id).JournalUntil.IsZero() && r.wal.Stats().Records == 0 }
	s := f.join(t, r.Node, made)
	talk(s, "one")
	r.wire.down()
	s.do(live.UserMessage{Text: "two"})
	until[live.ItemAdded](s)
	r.wire.mend()
	await(t, "the message", func() bool { return len(f.transcript(t, id)) == 2 })
	await(t, "the end of the replay", replayed)
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	s.do(live.UserMessage{Text: "three"})
	s.do(live.Respond{})
	await(t, "the call", func() bool { return len(f.endpoint.Requests("/free")) == 1 })
	r.wire.down()
	close(called)
	<-saying
	r.wire.mend()
	await(t, "the end of the replay", replayed)
	close(goOn)
	until[turns.ResponseDone](s)
	taken := f.transcript(t, id)
	if got := oneLine(taken[:2]); got != "0 completed one→A.; 1 completed two→B. spilled; " {
		t.Errorf("transcript %s", got)
	}
	for _, turn := range taken {
		receipt, hash, err := f.Receipt(t.Context(), f.principal, id, turn.ID)
		if err != nil || receipt.Spilled != turn.Journalled || hash != turn.ReceiptHash {
			t.Errorf("turn %d: journalled %t, in the receipt %t, %v", turn.Index, turn.Journalled, receipt.Spilled, err)
		}
	}
}

// TestJournalOfStoppedNodeAlone: the same when only the stopped node had lost Postgres.
func TestJournalOfStoppedNodeAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("A."), say("B."), say("C.")}}
	dir := t.TempDir()
	r, neighbour := newRemote(t, f, dir, 1<<20), newRemote(t, f, dir, 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "one")
	r.wire.down()
	talk(s, "two")
	if err := r.wal.Close(); err != nil {
		t.Fatal(err)
	}
	s = f.join(t, neighbour.Node, made)
	texts := []string{}
	for _, item := range s.History() {
		texts = append(texts, item.Text)
	}
	if !slices.Equal(texts, []string{"one", "A.", "two", "B."}) {
		t.Errorf("found %q", texts)
	}
	talk(s, "three")
	if got := oneLine(f.transcript(t, made.Session.ID)); got != "0 completed one→A.; 1 completed two→B. spilled; 2 completed three→C.; " {
		t.Errorf("transcript %s", got)
	}
}

// TestJournalFullDuringAnswer: a turn is in the journal, which has no room for its end. The turn
// has failed for its client and in the transcript, and is not answered again.
func TestJournalFullDuringAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := make([]byte, wal.MinMaxBytes)
	for i := range long {
		long[i] = 'x'
	}
	answers := &script{steps: []step{say("A."), say(string(long)), say("C."), say("D.")}}
	f.model = answers
	r := newRemote(t, f, t.TempDir(), wal.MinMaxBytes)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "one")
	r.wire.down()
	if done, _ := talk(s, "two"); done.Status != turns.ResponseFailed {
		t.Errorf("two was answered with %s", done.Status)
	}
	if done, _ := talk(s, "three"); done.Status != turns.ResponseCompleted {
		t.Errorf("three was answered with %+v", done)
	}
	r.wire.mend()
	want := []sessions.TurnStatus{sessions.TurnCompleted, sessions.TurnFailed, sessions.TurnCompleted}
	await(t, "the transcript", func() bool { return len(f.transcript(t, made.Session.ID)) == 3 })
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	taken := f.transcript(t, made.Session.ID)
	for i, turn := range taken {
		if turn.Status != want[i] {
			t.Errorf("turn %d: %s", i, turn.Status)
		}
	}
	if failed := taken[1]; failed.ErrorCode != "unavailable" || failed.AgentText != string(long) || failed.UserText != "two" {
		t.Errorf("the turn whose end had no room: %q, %d bytes, %q", failed.ErrorCode, len(failed.AgentText), failed.UserText)
	}
	if receipt, hash, err := f.Receipt(t.Context(), f.principal, made.Session.ID, taken[1].ID); err != nil ||
		hash != taken[1].ReceiptHash || string(receipt.Status) != string(sessions.TurnFailed) {
		t.Errorf("its receipt: %+v, %v", receipt, err)
	}
	s.Leave(live.Dropped)
	s = f.join(t, r.Node, made)
	if done, _ := talk(s, "four"); done.Text != "D." || len(answers.requests()) != 4 {
		t.Errorf("four was answered with %q, the model asked %d times", done.Text, len(answers.requests()))
	}
}

// TestUnreachable: a client that connects while Postgres hangs is refused within seconds, and at
// once when the outage is known.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	r.wire.hold()
	for range 2 {
		_, err := r.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.ChatChannel})
		if decided := fault.From(err); decided.Reason != fault.ServiceUnavailable || decided.RetryAfter == 0 {
			t.Errorf("refused with %v", err)
		}
		if err := r.Reach(t.Context(), func(context.Context) error { return nil }); !fault.IsReason(err, fault.ServiceUnavailable) {
			t.Errorf("reached: %v", err)
		}
	}
	r.wire.mend()
	await(t, "it is there", func() bool {
		return r.Reach(t.Context(), func(context.Context) error { return nil }) == nil
	})
	f.join(t, r.Node, made)
}
