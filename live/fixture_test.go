package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience bounds what a test waits for; it is reached only when something is broken.
const patience = 3 * time.Minute

// clock is real time plus an offset that the test sets.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
	// stoppedAt is the real time when the clock was stopped; zero: it runs.
	stoppedAt time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stoppedAt.IsZero() {
		return c.stoppedAt.Add(c.offset)
	}
	return time.Now().Add(c.offset)
}

// stop has time pass only by advance.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stoppedAt = time.Now()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// fixture is the service over its own database, with a tenant on plan pro and an agent.
type fixture struct {
	*rooms.Node
	// made is the database of the pool db.
	made       pgtest.DB
	db         *postgres.DB
	keys       *seal.Keyring
	guard      *publicnet.Guard
	workspaces *workspaces.Service
	agents     *agents.Service
	tools      *tools.Service
	endpoint   *httptool.Server
	clock      *clock
	passages   *fixedPassages
	model      model.Provider
	judge      model.Provider
	principal  workspaces.Principal
	ref        workspaces.Ref
	agent      agents.Agent
}

// newFixture returns a fixture with the extractive responder. Change the agent and the model before
// the first session.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	made := pgtest.New(t)
	db := pgtest.Pool(t, made)
	keys := sealtest.New(t, db)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		made: made, db: db, keys: keys, guard: guard, clock: &clock{}, endpoint: httptool.New(t),
		passages: &fixedPassages{}, model: extractive.New(),
	}
	f.workspaces = workspaces.New(workspaces.Deps{DB: db, Now: f.clock.now})
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: f.workspaces, Models: f.models, Now: f.clock.now})
	f.tools = tools.New(tools.Deps{DB: db, Workspaces: f.workspaces, Agents: f.agents, Keys: keys, Guard: guard})
	for name, builtin := range turns.SystemTools() {
		f.tools.Register(name, builtin)
	}
	f.Node = f.node(t)
	f.principal, f.ref = f.tenant(t, "pro")
	f.agent = f.newAgent(t, f.ref, agents.Config{Instructions: "You help {{name}}."})
	return f
}

// node starts another process on the same database; it listens until the test ends.
func (f *fixture) node(t *testing.T) *rooms.Node {
	t.Helper()
	return f.start(t, rooms.Deps{})
}

// hurriedNode starts a node that does not wait for approvals.
func (f *fixture) hurriedNode(t *testing.T) *rooms.Node {
	t.Helper()
	return f.start(t, rooms.Deps{ApprovalTimeout: time.Millisecond})
}

// start starts a node; deps has what differs from other nodes.
func (f *fixture) start(t *testing.T, deps rooms.Deps) *rooms.Node {
	t.Helper()
	retriever := deps.Retriever
	if retriever == nil {
		retriever = f.passages
	}
	spill, err := wal.Open(t.Context(), wal.Config{Dir: t.TempDir(), MaxBytes: 1 << 20, Seal: f.keys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spill.Close() })
	s := rooms.New(rooms.Deps{
		WAL: spill, ApprovalTimeout: deps.ApprovalTimeout, FollowGrace: deps.FollowGrace, TenantTurns: deps.TenantTurns,
		Prices: deps.Prices, Memory: deps.Memory,
		DB: f.db, Agents: f.agents, Workspaces: f.workspaces, Tools: f.tools, Retriever: retriever, Seal: f.keys,
		Models: f.models, PublicURL: "https://talk.example", Now: f.clock.now,
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	listeners := f.listeners(t)
	running.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := s.Close(closing); err != nil {
			t.Errorf("Close: %v", err)
		}
		stop()
		running.Wait()
	})
	await(t, "the node hears of other nodes' turns", func() bool { return f.listeners(t) > listeners })
	return s
}

// listeners counts the connections that listen for notices between nodes.
func (f *fixture) listeners(t *testing.T) (n int) {
	t.Helper()
	err := f.db.NewRaw("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = ?",
		`LISTEN "`+sessions.NotifyChannel+`"`).Scan(t.Context(), &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// models has the fixture's model answer for every agent, and its judge for agents and guards that
// name the model "judge".
func (f *fixture) models(_ context.Context, _ workspaces.Ref, choice agents.Model) (model.Provider, error) {
	if choice.Name == "judge" {
		return f.judge, nil
	}
	return f.model, nil
}

func (f *fixture) tenant(t *testing.T, plan string) (workspaces.Principal, workspaces.Ref) {
	t.Helper()
	made, err := f.workspaces.CreateTenant(t.Context(), "Acme", plan)
	if err != nil {
		t.Fatal(err)
	}
	p := workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin}
	return p, workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
}

func (f *fixture) newAgent(t *testing.T, ref workspaces.Ref, config agents.Config) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), ref, "Ada", config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// create creates a text session of the fixture's agent.
func (f *fixture) create(t *testing.T, change ...func(*sessions.CreateParams)) sessions.Created {
	t.Helper()
	params := sessions.CreateParams{AgentID: f.agent.ID, UserID: "user-1", Modality: sessions.Text}
	for _, c := range change {
		c(&params)
	}
	made, err := f.Create(t.Context(), f.principal, params)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (f *fixture) get(t *testing.T, id sessions.ID) sessions.Session {
	t.Helper()
	session, err := f.Get(t.Context(), f.principal, id)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func (f *fixture) turn(t *testing.T, id sessions.ID, text string) sessions.Turn {
	t.Helper()
	turn, err := f.Turn(t.Context(), f.principal, id, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func (f *fixture) transcript(t *testing.T, id sessions.ID) []sessions.Turn {
	t.Helper()
	taken, _, err := f.Transcript(t.Context(), f.principal, id, postgres.PageParams{Size: 200})
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// sweep runs the worker's sweep.
func (f *fixture) sweep(t *testing.T) {
	t.Helper()
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
}

// join joins a chat socket to the session on a node, with the session's token.
func (f *fixture) join(t *testing.T, node *rooms.Node, made sessions.Created) *socket {
	t.Helper()
	return f.joinChannel(t, node, made, sessions.ChatChannel)
}

func (f *fixture) joinChannel(t *testing.T, node *rooms.Node, made sessions.Created, channel sessions.Channel) *socket {
	t.Helper()
	admission, err := node.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: channel})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := node.Join(t.Context(), admission)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { joined.Leave(live.Dropped) })
	return &socket{t: t, Live: joined}
}

// socket is a Live whose events the test reads.
type socket struct {
	t *testing.T
	*live.Live
}

func (s *socket) do(c live.Command) {
	s.t.Helper()
	if err := s.Do(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
}

func (s *socket) next() turns.Event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	e, err := s.Next(ctx)
	if err != nil {
		s.t.Fatalf("next event: %v", err)
	}
	return e
}

// until reads events up to the first of type E and returns it with those before it.
func until[E turns.Event](s *socket) (found E, before []turns.Event) {
	s.t.Helper()
	for {
		e := s.next()
		if found, ok := e.(E); ok {
			return found, before
		}
		if closed, ok := e.(live.Closed); ok {
			s.t.Fatalf("closed (%+v) while waiting for %T, after %+v", closed, found, before)
		}
		before = append(before, e)
	}
}

// over checks that Closed was the last event.
func (s *socket) over() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if e, err := s.Next(ctx); !errors.Is(err, io.EOF) {
		s.t.Errorf("after Closed: %+v, %v; want io.EOF", e, err)
	}
}

// fixedPassages is a Retriever with fixed passages.
type fixedPassages struct {
	retrieval *sessions.Retrieval
	passages  []sessions.Passage
	err       error

	mu    sync.Mutex
	asked []string
}

func (s *fixedPassages) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *fixedPassages) Search(workspaces.Ref, agents.ID, []agents.TagFilter) turns.Search { return s }

func (s *fixedPassages) Steps() []postgres.Step { return nil }

func (s *fixedPassages) Retrieve(_ context.Context, question string, _ turns.RetrieveParams,
) ([]sessions.Passage, *sessions.Retrieval, error) {
	s.mu.Lock()
	s.asked = append(s.asked, question)
	s.mu.Unlock()
	return s.passages, s.retrieval, s.err
}

// refunds returns passages that the extractive responder can quote.
func refunds() []sessions.Passage {
	return []sessions.Passage{{
		SourceID: "src_1", SourceName: "Refund policy", ChunkID: "chk_1", Similarity: 0.9,
		Text: "Refunds are paid within fourteen days of the return.",
	}}
}

// script is a model with one step for each request.
type script struct {
	mu    sync.Mutex
	steps []func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error)
	asked []model.Request
}

func (s *script) Name() string { return "script" }

func (s *script) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	if req.Metadata["purpose"] == "summary" {
		return model.Result{}, errors.New("the script has no summaries")
	}
	s.mu.Lock()
	s.asked = append(s.asked, req)
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return model.Result{}, errors.New("the script has ended")
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	return step(ctx, req, emit)
}

func (s *script) requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request{}, s.asked...)
}

type step = func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error)

// say answers with a text and calls.
func say(text string, calls ...model.ToolCall) step {
	return func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		result := model.Result{
			Text: text, ToolCalls: calls, FinishReason: model.FinishStop, Model: "script-1",
			Usage: model.Usage{InputTokens: 10, OutputTokens: 3},
		}
		if text != "" {
			if err := emit(model.TextDelta{Text: text}); err != nil {
				return model.Result{}, err
			}
		}
		for _, call := range calls {
			if err := emit(model.ToolCallReady{Call: call}); err != nil {
				return model.Result{}, err
			}
		}
		return result, nil
	}
}

// sayAndWait emits a text, signals that it has, and waits until it is cancelled.
func sayAndWait(text string, said chan<- struct{}) step {
	return func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		if err := emit(model.TextDelta{Text: text}); err != nil {
			return model.Result{}, err
		}
		close(said)
		<-ctx.Done()
		return model.Result{Text: text}, ctx.Err()
	}
}

func call(name, arguments string) model.ToolCall {
	return model.NewToolCall("call_0", name, arguments)
}

func wantReason(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != reason {
		t.Errorf("got the reason %q (%v), want %q", got, err, reason)
	}
}

// await polls a condition of the database.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("%s did not happen", what)
		}
	}
}

func received(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

// postCalls returns the bodies of the session's post_call_transcription events.
func (f *fixture) postCalls(t *testing.T, id sessions.ID) []map[string]any {
	t.Helper()
	var bodies [][]byte
	err := f.db.NewRaw("SELECT body FROM events WHERE type = 'post_call_transcription' AND subject = ?", id).Scan(t.Context(), &bodies)
	if err != nil {
		t.Fatal(err)
	}
	decoded := make([]map[string]any, len(bodies))
	for i, body := range bodies {
		var envelope struct {
			Data map[string]any `json:"data"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			t.Fatal(err)
		}
		decoded[i] = envelope.Data
	}
	return decoded
}
