package live_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// counter is the wall between tenants, and counts the round trips. BEGIN and COMMIT are some, too.
type counter struct {
	postgres.Tracer
	pgx.BatchTracer

	mu    sync.Mutex
	trips []string
}

func (c *counter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.note(data.SQL)
	return c.Tracer.TraceQueryStart(ctx, conn, data)
}

func (c *counter) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	var texts []string
	for _, one := range data.Batch.QueuedQueries {
		texts = append(texts, one.SQL)
	}
	c.note(strings.Join(texts, ";\n"))
	return c.BatchTracer.TraceBatchStart(ctx, conn, data)
}

func (c *counter) note(trip string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trips = append(c.trips, trip)
}

func (c *counter) reset() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	trips := c.trips
	c.trips = nil
	return trips
}

// newCounted is a node that keeps to itself, and the counter of what it asks Postgres. Workspaces
// with keys of their own get the model theirs.
func newCounted(t *testing.T, f *fixture, made pgtest.DB, theirs model.Provider) (*rooms.Node, *counter) {
	t.Helper()
	count := &counter{Tracer: made.Wall, BatchTracer: made.Wall}
	db, err := postgres.Open(t.Context(), postgres.Config{URL: made.URL, Tracer: count})
	if err != nil {
		t.Fatal(err)
	}
	choose := func(chosen model.Provider) turns.ModelFunc {
		return func(context.Context, workspaces.Ref, agents.Model) (model.Provider, error) { return chosen, nil }
	}
	s := rooms.New(rooms.Deps{
		DB: db, Agents: f.agents, Workspaces: workspaces.New(workspaces.Deps{DB: db}), Retriever: f.passages, Seal: f.keys,
		Tools:  tools.New(tools.Deps{DB: db, Workspaces: workspaces.New(workspaces.Deps{DB: db}), Agents: f.agents, Keys: f.keys, Guard: f.guard}),
		Models: choose(theirs), Installed: choose(f.model), HasKeys: workspaces.NewCredentials(workspaces.CredentialDeps{DB: db}).HasModels,
		PublicURL: "https://talk.example", Now: f.clock.now,
	})
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		if err := s.Close(closing); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, count
}

// TestRoundTrips: a turn over a socket asks Postgres three times (accept, begin, finish), beside
// what its passages need. An agent with tools, or a workspace with keys, is noticed in the next
// turn.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.passages.passages = refunds()
	ours, theirs := &script{steps: []step{say("Soon."), say("Soon."), say("Soon.")}}, &script{steps: []step{say("Theirs.")}}
	f.model = ours
	node, count := newCounted(t, f, f.made, theirs)
	made := f.create(t)
	s := f.join(t, node, made)
	ask := func(text string) []string {
		count.reset()
		s.do(live.UserMessage{Text: "When are refunds paid?"})
		s.do(live.Respond{})
		if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCompleted || len(done.Citations) != 1 || done.Text != text {
			t.Fatalf("done %+v", done)
		}
		return count.reset()
	}
	for turn := range 3 {
		trips := ask("Soon.")
		if len(trips) != 3 {
			t.Errorf("turn %d asked %d times:\n%s", turn, len(trips), strings.Join(trips, "\n\n"))
		}
	}
	session := f.get(t, made.Session.ID)
	taken := f.transcript(t, made.Session.ID)
	if len(taken) != 3 || session.TurnCount != 3 || session.RunningTurnID != "" || !session.RunningUntil.IsZero() {
		t.Fatalf("%d turns, session %+v", len(taken), session)
	}
	input, output := 0, 0
	for i, turn := range taken {
		input, output = input+turn.InputTokens, output+turn.OutputTokens
		if turn.Index != i || turn.Status != sessions.TurnCompleted || turn.UserText != "When are refunds paid?" || turn.ReceiptHash == "" || turn.Retrieval != nil {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
	if session.InputTokens != input || session.OutputTokens != output || !session.LastActivityAt.After(session.CreatedAt) {
		t.Errorf("the session counts %d and %d tokens, its turns %d and %d", session.InputTokens, session.OutputTokens, input, output)
	}
	for _, req := range ours.requests() {
		if slices.ContainsFunc(req.Tools, func(tool model.Tool) bool { return tool.Name == "find_order" }) {
			t.Error("a tool is offered that is not attached")
		}
	}
	f.attach(t, "find_order", "GET", 0)
	credentials := workspaces.NewCredentials(workspaces.CredentialDeps{DB: f.db, Workspaces: f.workspaces, Keys: f.keys, Guard: f.guard})
	if _, err := credentials.Create(t.Context(), f.ref, workspaces.CreateCredentialParams{
		Kind: workspaces.CredentialModel, Provider: "openai", Name: "ours", APIKey: "sk-0123456789",
	}); err != nil {
		t.Fatal(err)
	}
	ask("Theirs.")
	if asked := theirs.requests(); !slices.ContainsFunc(asked[0].Tools, func(tool model.Tool) bool { return tool.Name == "find_order" }) {
		t.Errorf("the attached tool is not among %+v", asked[0].Tools)
	}
}

// TestAskTrips: what the user says and the wish for an answer are one round trip when they come
// together, and all is as if they had come one after the other.
func TestAskTrips(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.passages.passages = refunds()
	f.model = &script{steps: []step{say("Soon."), say("Soon."), say("Soon.")}}
	node, count := newCounted(t, f, f.made, f.model)
	made := f.create(t)
	s := f.join(t, node, made)
	for turn := range 3 {
		count.reset()
		s.do(live.Ask{Message: live.UserMessage{CommandID: "said", Text: "When are refunds paid?"}, Respond: live.Respond{CommandID: "wish"}})
		done, before := until[turns.ResponseDone](s)
		if done.Status != turns.ResponseCompleted || len(done.Citations) != 1 || done.Text != "Soon." {
			t.Fatalf("done %+v", done)
		}
		added, first := before[0].(live.ItemAdded)
		started, second := before[1].(turns.ResponseStarted)
		if !first || !second || added.CommandID != "said" || started.CommandID != "wish" || added.Item.TurnID != started.TurnID || started.TurnIndex != turn {
			t.Errorf("turn %d began with %+v", turn, before[:2])
		}
		trips := count.reset()
		if len(trips) != 2 {
			t.Errorf("turn %d asked %d times:\n%s", turn, len(trips), strings.Join(trips, "\n\n"))
		}
	}
	if asked := f.passages.questions(); len(asked) != 3 {
		t.Errorf("looked for passages for %q", asked)
	}
	session, taken := f.get(t, made.Session.ID), f.transcript(t, made.Session.ID)
	if len(taken) != 3 || session.TurnCount != 3 || session.RunningTurnID != "" || !session.RunningUntil.IsZero() {
		t.Fatalf("%d turns, session %+v", len(taken), session)
	}
	for i, turn := range taken {
		if turn.Index != i || turn.Status != sessions.TurnCompleted || turn.UserText != "When are refunds paid?" || turn.ReceiptHash == "" {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
	if asked := f.model.(*script).requests(); len(asked[2].Messages) != 5 { //nolint:errcheck,forcetypeassert // made above
		t.Errorf("the model saw %+v", asked[2].Messages)
	}
}

// TestAskBehindAnother: together or not, what is said while another turn runs is written down at
// once and answered behind it.
func TestAskBehindAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, goOn := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{func(ctx context.Context, _ model.Request, _ func(model.Event) error) (model.Result, error) {
		close(said)
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return model.Result{Text: "Over HTTP."}, ctx.Err()
	}, say("Behind it."), say("And that.")}}
	made := f.create(t)
	s := f.join(t, f.Node, made)
	var other sync.WaitGroup
	other.Go(func() {
		if _, err := f.Turn(t.Context(), f.principal, made.Session.ID, "over HTTP", nil); err != nil {
			t.Error(err)
		}
	})
	<-said
	ask := func(text string) {
		s.do(live.Ask{Message: live.UserMessage{Text: text}})
	}
	ask("behind")
	added, _ := until[live.ItemAdded](s)
	if added.Item.Text != "behind" {
		t.Errorf("added %+v", added)
	}
	if running := f.get(t, made.Session.ID).RunningTurnID; running == "" || running == added.Item.TurnID {
		t.Errorf("%q runs, want the turn over HTTP", running)
	}
	ask("and more")
	if added, _ := until[live.ItemAdded](s); added.Item.Text != "and more" {
		t.Errorf("added %+v", added)
	}
	close(goOn)
	other.Wait()
	for _, want := range []string{"Behind it.", "And that."} {
		if done, _ := until[turns.ResponseDone](s); done.Text != want || done.Status != turns.ResponseCompleted {
			t.Errorf("done %+v, want %q", done, want)
		}
	}
	taken := f.transcript(t, made.Session.ID)
	if len(taken) != 3 || taken[1].UserText != "behind" || taken[2].UserText != "and more" {
		t.Errorf("recorded %+v", taken)
	}
}

// TestAskRefused: a text that cannot be taken is refused alone, as it is when nothing comes with
// it; of a session that was ended meanwhile the socket hears so.
func TestAskRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("Go on."), say("Taken.")}}
	made := f.create(t)
	s := f.join(t, f.Node, made)
	for _, said := range []live.UserMessage{{CommandID: "c", Text: ""}, {CommandID: "c", Text: "x", After: "nobody"}} {
		s.do(live.Ask{Message: said, Respond: live.Respond{IfUnanswered: true}})
		if failed, before := until[live.Failed](s); failed.CommandID != "c" || len(before) > 0 {
			t.Errorf("%+v: failed %+v behind %+v", said, failed, before)
		}
	}
	s.do(live.Ask{Message: live.UserMessage{Text: "now"}})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Go on." {
		t.Errorf("done %+v", done)
	}
	if taken := f.transcript(t, made.Session.ID); len(taken) != 1 || taken[0].UserText != "now" {
		t.Errorf("recorded %+v", taken)
	}
}

// TestBeginBehindAnother: what another node stores while it holds the session is in the answer that
// waited for it.
func TestBeginBehindAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{ItemID: "one", Text: "First this."})
	added, _ := until[live.ItemAdded](s)
	other := f.holdRow(t, made.Session.ID)
	s.do(live.Respond{})
	f.awaitLock(t)
	_, err := other.Exec(t.Context(), `UPDATE turns SET user_text = 'First this. Then that.',
		messages = '[{"role":"user","item_id":"one","text":"First this."},{"role":"user","item_id":"two","text":"Then that."}]'
		WHERE tenant_id = $1 AND session_id = $2 AND id = $3`, f.ref.TenantID, made.Session.ID, added.Item.TurnID)
	if err == nil {
		err = other.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCompleted {
		t.Fatalf("done %+v", done)
	}
	if taken := f.transcript(t, made.Session.ID); len(taken) != 1 || len(taken[0].Messages) != 3 || taken[0].UserText != "First this. Then that." {
		t.Errorf("recorded %+v", taken)
	}
	if asked := f.passages.questions(); asked[len(asked)-1] != "First this. Then that." {
		t.Errorf("looked for passages for %q", asked)
	}
}

// TestPassagesBehindAnother: passages are looked for when the turn begins, not while it waits for
// another: their source may be detached meanwhile.
func TestPassagesBehindAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, goOn := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{say("At once."), func(ctx context.Context, _ model.Request, _ func(model.Event) error) (model.Result, error) {
		close(said)
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return model.Result{Text: "Over HTTP."}, ctx.Err()
	}, say("Behind it.")}}
	f.passages.passages = refunds()
	made := f.create(t)
	s := f.join(t, f.Node, made)
	ask := func(text string) {
		s.do(live.UserMessage{Text: text})
		until[live.ItemAdded](s)
		s.do(live.Respond{})
	}
	ask("first")
	until[turns.ResponseDone](s)
	if asked := f.passages.questions(); !slices.Equal(asked, []string{"first"}) {
		t.Errorf("asked %q", asked)
	}
	var other sync.WaitGroup
	other.Go(func() {
		if _, err := f.Turn(t.Context(), f.principal, made.Session.ID, "over HTTP", nil); err != nil {
			t.Error(err)
		}
	})
	<-said
	ask("behind")
	close(goOn)
	other.Wait()
	if done, _ := until[turns.ResponseDone](s); done.Text != "Behind it." || len(done.Citations) != 1 {
		t.Errorf("done %+v", done)
	}
	if asked := f.passages.questions(); !slices.Equal(asked, []string{"first", "over HTTP", "behind"}) {
		t.Errorf("asked %q", asked)
	}
}

// TestAskAnswerLost: what the user said and the wish for an answer were stored in one go, and the
// answer of Postgres was lost: the turn is given its answer at once, not when the lease that nobody
// holds is over.
func TestAskAnswerLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("First."), say("Second."), say("Third.")}}
	node := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, node.Node, made)
	for _, text := range []string{"One.", "Two.", "Three."} {
		if text == "Two." {
			node.wire.lose(text)
		}
		s.do(live.Ask{Message: live.UserMessage{Text: text}})
		if done, _ := until[turns.ResponseDone](s); done.Status != turns.ResponseCompleted {
			t.Errorf("%s: %+v", text, done)
		}
	}
	node.wire.mu.Lock()
	lost := len(node.wire.lost)
	node.wire.mu.Unlock()
	taken, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || lost != 1 || inShort(taken) != "0 completed One.→First.; 1 completed Two.→Second.; 2 completed Three.→Third.; " || taken[1].Losses != 0 {
		t.Errorf("%d answers lost, transcript %s, %v", lost, inShort(taken), err)
	}
}

// TestHistoryIsReadAnew: a turn is answered from the earlier turns as they are in Postgres, whoever
// has changed them.
func TestHistoryIsReadAnew(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("Rubies."), say("Sapphires."), say("Opals."), say("Pearls."), say("Agates.")}}
	f.model = answers
	made := f.create(t)
	id := made.Session.ID
	s := f.join(t, f.Node, made)
	ask := func(text string, want string) {
		t.Helper()
		talk(s, text)
		asked := answers.requests()
		seen := ""
		for _, m := range asked[len(asked)-1].Messages {
			seen += m.Text + " "
		}
		if seen != want {
			t.Errorf("%s: the model saw %q, want %q", text, seen, want)
		}
	}
	change := func(sql string) {
		t.Helper()
		if _, err := f.db.ExecContext(t.Context(), sql, f.ref.TenantID, id); err != nil {
			t.Fatal(err)
		}
	}
	ask("one", "one ")
	ask("two", "one Rubies. two ")
	change(`UPDATE turns SET messages = replace(messages::text, 'Rubies', 'Corals')::json WHERE index = 0 AND tenant_id = ? AND session_id = ?`)
	ask("three", "one Corals. two Sapphires. three ")
	f.turn(t, id, "elsewhere")
	change(`DELETE FROM turns WHERE index = 1 AND tenant_id = ? AND session_id = ?`)
	ask("five", "one Corals. three Opals. elsewhere Pearls. five ")
}
