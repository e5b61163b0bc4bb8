package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/capture"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// remote is a node that reaches Postgres over a wire. The fixture itself always reaches the
// database.
type remote struct {
	*rooms.Node
	*fixture
	wire *wire
	wal  *wal.Log
	log  *capture.Buffer
}

func newRemote(t *testing.T, f *fixture, dir string, maxBytes int64) *remote {
	t.Helper()
	direct, err := url.Parse(f.db.Pool.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	config := f.db.Pool.Config().ConnConfig
	r := &remote{fixture: f, wire: newWire(t, fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)), log: &capture.Buffer{}}
	over := &url.URL{
		Scheme: "postgres", User: url.User(config.User), Host: r.wire.address, Path: "/" + config.Database,
		RawQuery: "sslmode=disable",
	}
	if direct.User != nil && config.Password != "" {
		over.User = url.UserPassword(config.User, config.Password)
	}
	db, err := postgres.Open(t.Context(), postgres.Config{URL: over.String(), MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	ws := workspaces.New(workspaces.Deps{DB: db, Now: f.clock.now})
	as := agents.New(agents.Deps{DB: db, Workspaces: ws, Now: f.clock.now})
	ts := tools.New(tools.Deps{DB: db, Workspaces: ws, Agents: as, Keys: f.keys, Guard: guard})
	t.Cleanup(ts.Close)
	for name, builtin := range turns.SystemTools() {
		ts.Register(name, builtin)
	}
	if r.wal, err = wal.Open(t.Context(), wal.Config{Dir: dir, MaxBytes: maxBytes, Seal: f.keys}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.wal.Close() })
	r.Node = rooms.New(rooms.Deps{
		DB: db, Agents: as, Workspaces: ws, Tools: ts, Retriever: f.passages, Seal: f.keys, WAL: r.wal,
		Models:    func(context.Context, workspaces.Ref, agents.Model) (model.Provider, error) { return f.model, nil },
		PublicURL: "https://talk.example", Now: f.clock.now, Log: slog.New(slog.NewTextHandler(io.MultiWriter(r.log, t.Output()), nil)),
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		r.wire.mend()
		_ = r.Node.Close(closing)
		stop()
		running.Wait()
	})
	return r
}

// talk sends a message and returns the answer's end and the events before it.
func talk(s *socket, text string) (turns.ResponseDone, []turns.Event) {
	s.t.Helper()
	s.do(live.UserMessage{Text: text})
	s.do(live.Respond{})
	return until[turns.ResponseDone](s)
}

// failures returns the turns of the session's turn.persistence_failed events, and their data.
func (f *fixture) failures(t *testing.T, id sessions.ID) map[string]bool {
	t.Helper()
	var bodies [][]byte
	err := f.db.NewRaw("SELECT body FROM events WHERE type = 'turn.persistence_failed' ORDER BY seq").Scan(t.Context(), &bodies)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, body := range bodies {
		var event struct {
			Data struct {
				Session   string `json:"session_id"`
				Turn      string `json:"turn_id"`
				Recovered bool   `json:"recovered"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if event.Data.Session != string(id) {
			continue
		}
		if _, twice := found[event.Data.Turn]; twice {
			t.Errorf("two events for %s", event.Data.Turn)
		}
		found[event.Data.Turn] = event.Data.Recovered
	}
	return found
}

// oneLine returns a transcript in one line.
func oneLine(taken []sessions.Turn) string {
	var b strings.Builder
	for _, turn := range taken {
		fmt.Fprintf(&b, "%d %s %s→%s", turn.Index, turn.Status, turn.UserText, turn.AgentText)
		if turn.Journalled {
			b.WriteString(" spilled")
		}
		b.WriteString("; ")
	}
	return b.String()
}

// TestJournal: a conversation continues while Postgres is unavailable. Afterwards every turn is
// there once, in order.
func TestJournal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("First."), say("Second."), say("Third."), say("Fourth.")}}
	f.model = answers
	f.passages.passages = refunds()
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "one")
	r.wire.down()
	for i, text := range []string{"two", "three"} {
		done, before := talk(s, text)
		if done.Status != turns.ResponseCompleted || len(done.Citations) != 0 || done.Err != nil {
			t.Fatalf("%s was answered with %+v", text, done)
		}
		if added, ok := before[0].(live.ItemAdded); !ok || added.Item.Text != text || added.Item.TurnIndex != i+1 {
			t.Errorf("%s was accepted with %+v", text, before[0])
		}
	}
	if got := oneLine(f.transcript(t, made.Session.ID)); got != "0 completed one→First.; " {
		t.Errorf("in Postgres while it is away: %s", got)
	}
	asked := answers.requests()[2]
	if said := fmt.Sprint(asked.Messages); !strings.Contains(said, "First.") || !strings.Contains(said, "two") ||
		!strings.Contains(said, "Second.") {
		t.Errorf("the model did not see what was said before: %s", said)
	}
	if !strings.Contains(asked.System, "cannot be reached") || strings.Contains(asked.System, "fourteen days") || !asked.Unreachable {
		t.Errorf("the model is not told that there are no passages: %s", asked.System)
	}
	r.wire.mend()
	want := "0 completed one→First.; 1 completed two→Second. spilled; 2 completed three→Third. spilled; "
	await(t, "the transcript", func() bool { return oneLine(f.transcript(t, made.Session.ID)) == want })
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	talk(s, "four")
	taken := f.transcript(t, made.Session.ID)
	if got := oneLine(taken); got != want+"3 completed four→Fourth.; " {
		t.Errorf("after the outage: %s", got)
	}
	for i, turn := range taken {
		receipt, hash, err := f.Receipt(t.Context(), f.principal, made.Session.ID, turn.ID)
		if err != nil || receipt.Index != i || receipt.Spilled != turn.Journalled || hash != turn.ReceiptHash || hash == "" {
			t.Errorf("receipt of turn %d: %+v, %v", i, receipt, err)
		}
	}
	if got := f.failures(t, made.Session.ID); len(got) != 2 || !got[string(taken[1].ID)] || !got[string(taken[2].ID)] {
		t.Errorf("events %v", got)
	}
	s.Leave(live.HungUp)
	session := f.get(t, made.Session.ID)
	if session.Status != sessions.Completed || session.TurnCount != 4 || session.OutputTokens != 12 {
		t.Errorf("session %+v", session)
	}
	if calls := f.postCalls(t, made.Session.ID); len(calls) != 1 || len(calls[0]["transcript"].([]any)) != 8 {
		t.Errorf("announced %v", calls)
	}
	if stats := r.wal.Stats(); stats != (wal.Stats{}) {
		t.Errorf("left in the log: %+v", stats)
	}
}

// TestJournalDuringAnswer: Postgres is lost during the answers of two sessions. The client of one
// hangs up meanwhile, and the other's ends its session. Both ends take effect after the turns.
func TestJournalDuringAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := newRemote(t, f, t.TempDir(), 1<<20)
	type party struct {
		made sessions.Created
		s    *socket
	}
	var parties []party
	saying, goOn := make(chan struct{}, 2), make(chan struct{})
	f.model = &script{steps: []step{paused(saying, goOn), paused(saying, goOn), say("More."), say("More.")}}
	for range 2 {
		made := f.create(t)
		p := party{made, f.join(t, r.Node, made)}
		p.s.do(live.UserMessage{Text: "one"})
		p.s.do(live.Respond{})
		<-saying
		parties = append(parties, p)
	}
	r.wire.down()
	close(goOn)
	for _, p := range parties {
		if done, _ := until[turns.ResponseDone](p.s); done.Status != turns.ResponseCompleted || done.Text != "Half and half." {
			t.Errorf("the answer that went out: %+v", done)
		}
		if done, _ := talk(p.s, "two"); done.Text != "More." {
			t.Errorf("the next: %+v", done)
		}
	}
	parties[0].s.Leave(live.HungUp)
	parties[1].s.do(live.End{Reason: "enough"})
	if closed, _ := until[live.Closed](parties[1].s); !closed.Ended || closed.Reason != "enough" {
		t.Errorf("closed with %+v", closed)
	}
	for _, p := range parties {
		if session := f.get(t, p.made.Session.ID); session.Status != sessions.InProgress {
			t.Errorf("ended before its turns are there: %+v", session)
		}
	}
	f.clock.advance(2 * sessions.DropGrace) // a node that was silent during the outage is not judged lost
	if err := r.Sweep(t.Context(), f.clock.now()); err == nil {
		t.Error("swept without Postgres")
	}
	r.wire.mend()
	if err := r.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	for i, reason := range []string{sessions.ReasonHangUp, "enough"} {
		id := parties[i].made.Session.ID
		await(t, "the end", func() bool { return f.get(t, id).Closed() })
		if session := f.get(t, id); session.Status != sessions.Completed || session.EndReason != reason {
			t.Errorf("ended as %s, %s", session.Status, session.EndReason)
		}
		if got := oneLine(f.transcript(t, id)); got != "0 completed one→Half and half. spilled; 1 completed two→More. spilled; " {
			t.Errorf("transcript %s", got)
		}
		if calls := f.postCalls(t, id); len(calls) != 1 || len(calls[0]["transcript"].([]any)) != 4 {
			t.Errorf("announced %v", calls)
		}
	}
}

// paused emits half of its text, signals that, and emits the rest when goOn is closed.
func paused(saying chan<- struct{}, goOn <-chan struct{}) step {
	return func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		if err := emit(model.TextDelta{Text: "Half "}); err != nil {
			return model.Result{}, err
		}
		saying <- struct{}{}
		<-goOn
		return model.Result{Text: "Half and half.", FinishReason: model.FinishStop}, emit(model.TextDelta{Text: "and half."})
	}
}

// TestJournalOfEndedSession: a session that has ended before the replay gets its turns after its
// end. A deleted session does not stop the replay.
func TestJournalOfEndedSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("A."), say("A."), say("A.")}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	var made []sessions.Created
	for range 3 {
		made = append(made, f.create(t))
	}
	var sockets []*socket
	for _, one := range made {
		sockets = append(sockets, f.join(t, r.Node, one))
	}
	r.wire.down()
	for _, s := range sockets {
		talk(s, "one")
	}
	if _, err := f.End(t.Context(), f.principal, made[0].Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.db.ExecContext(t.Context(), "DELETE FROM sessions WHERE tenant_id = ? AND id = ?", f.ref.TenantID,
		made[1].Session.ID); err != nil {
		t.Fatal(err)
	}
	r.wire.mend()
	await(t, "the turn of the session that goes on", func() bool {
		return oneLine(f.transcript(t, made[2].Session.ID)) == "0 completed one→A. spilled; "
	})
	await(t, "the end of the replay", func() bool { return r.wal.Stats().Records == 0 })
	if stats := r.wal.Stats(); stats.Aside != 0 {
		t.Errorf("something of a session that was deleted is kept: %+v", stats)
	}
	if got := slices.Collect(maps.Values(f.failures(t, made[0].Session.ID))); !slices.Equal(got, []bool{true}) {
		t.Errorf("events of the session that was ended: %v", got)
	}
	if got := oneLine(f.transcript(t, made[0].Session.ID)); got != "0 completed one→A. spilled; " {
		t.Errorf("in the session that was ended: %s", got)
	}
	if got := f.get(t, made[0].Session.ID); got.Status != sessions.Completed || got.TurnCount != 1 {
		t.Errorf("the session that was ended: %s, %d turns", got.Status, got.TurnCount)
	}
	if got := f.postCalls(t, made[0].Session.ID); len(got) != 1 {
		t.Errorf("%d events of its end", len(got))
	}
	if !strings.Contains(r.log.String(), "a record of a deleted session is deleted") {
		t.Error("nothing is logged")
	}
}

// TestJournalEndedElsewhere: a session is ended on another node while its own node, which has lost
// Postgres, answers. The turn as the end has closed it is replaced by the answer.
func TestJournalEndedElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "free", "POST", 0)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{say("", call("free", `{"id":"x"}`)), paused(saying, goOn)}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t, withPin)
	s := f.join(t, r.Node, made)
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{})
	<-saying
	r.wire.down()
	f.clock.advance(time.Minute) // the turn's lease has expired
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Failed}); err != nil {
		t.Fatal(err)
	}
	if got := oneLine(f.transcript(t, made.Session.ID)); got != "0 cancelled one→; " {
		t.Errorf("at the end: %s", got)
	}
	if n := f.countedCalls(t, made.Session.ID); n != 1 {
		t.Errorf("%d calls counted at the end", n)
	}
	close(goOn)
	if done, _ := until[turns.ResponseDone](s); done.Text != "Half and half." {
		t.Errorf("the answer that went out: %+v", done)
	}
	r.wire.mend()
	await(t, "what was said", func() bool {
		return oneLine(f.transcript(t, made.Session.ID)) == "0 completed one→Half and half. spilled; "
	})
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	if got := f.get(t, made.Session.ID); got.Status != sessions.Failed || r.wal.Stats() != (wal.Stats{}) {
		t.Errorf("the session: %s; left in the log: %+v", got.Status, r.wal.Stats())
	}
	if n := f.countedCalls(t, made.Session.ID); n != 1 {
		t.Errorf("%d calls counted after the replay", n)
	}
}

// TestJournalFull: when the journal is full a message is refused with the reason. The conversation
// continues when there is room.
func TestJournalFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("A."), say("B.")}}
	r := newRemote(t, f, t.TempDir(), wal.MinMaxBytes)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	talk(s, "one")
	r.wire.down()
	long := strings.Repeat("long ", sessions.MaxTextChars/5)
	s.do(live.UserMessage{Text: long})
	until[live.ItemAdded](s)
	s.do(live.UserMessage{CommandID: "c2", Text: long})
	failed, _ := until[live.Failed](s)
	if failed.CommandID != "c2" || failed.Err.Reason != fault.ServiceUnavailable ||
		!strings.Contains(failed.Err.Message, "PARLANCE_SPILL_MAX_BYTES") {
		t.Errorf("refused with %+v", failed.Err)
	}
	r.wire.mend()
	await(t, "what was said", func() bool { return len(f.transcript(t, made.Session.ID)) == 2 })
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	s.do(live.Respond{})
	if done, _ := until[turns.ResponseDone](s); done.Text != "B." {
		t.Errorf("answered with %+v", done)
	}
	if taken := f.transcript(t, made.Session.ID); len(taken) != 2 || taken[1].Status != sessions.TurnCompleted ||
		taken[1].UserText != long {
		t.Errorf("transcript %s", oneLine(taken))
	}
}

// TestJournalSilentNetwork: a network that drops everything is noticed too, and costs one wait, not
// one for each turn.
func TestJournalSilentNetwork(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("A."), say("B.")}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	r.wire.hold()
	for _, want := range []string{"A.", "B."} {
		if done, _ := talk(s, "?"); done.Text != want {
			t.Errorf("answered with %+v", done)
		}
	}
	r.wire.mend()
	await(t, "the transcript", func() bool {
		return oneLine(f.transcript(t, made.Session.ID)) == "0 completed ?→A. spilled; 1 completed ?→B. spilled; "
	})
}
