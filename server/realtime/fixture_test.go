package realtime_test

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) {
	pgtest.Main(m,
		// Looks for a Redis that went away, once a second until it sees that the client is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
	)
}

// patience is how long tests wait for anything; it only ends when something is broken.
const patience = 3 * time.Minute

// ownOrigin is where the console of the fixture's server is.
const ownOrigin = "https://talk.example"

// fixture is the sockets over a real conversation service and a database, with an agent on plan
// pro.
type fixture struct {
	*rooms.Node
	handler  *realtime.Handler
	agents   *agents.Service
	tools    *tools.Service
	endpoint *httptool.Server
	model    *script
	passages fixedPassages
	// stack hears and speaks on voice sockets; nothing does in the zero one.
	stack     voice.Stack
	endModel  endModel
	calls     noCalls
	principal workspaces.Principal
	ref       workspaces.Ref
	agent     agents.Agent
	// base is ws://host:port.
	base string
	// stop ends the handler's context.
	stop context.CancelFunc
	// first is the node with this one's clock; nil: this is the first node.
	first  *fixture
	db     *postgres.DB
	keys   *seal.Keyring
	owners *workspaces.Service
	redis  goredis.UniversalClient
	// stopping waits for what closes the conversations before the test's end.
	stopping sync.WaitGroup
	mu       sync.Mutex
	late     time.Duration
	// stopped is the time at which the clock stands still; zero: it runs.
	stopped time.Time
}

// newFixture makes a fixture whose agent has the config. An agent whose config says nothing of a
// filler says none: on a busy machine it would come before any answer.
func newFixture(t *testing.T, config agents.Config, limits realtime.Limits) *fixture {
	t.Helper()
	if config.Voice.Waiting.FillerAfterMS == nil {
		config.Voice.Waiting.FillerAfterMS = new(0)
	}
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{endpoint: httptool.New(t), model: &script{}, db: db, keys: keys}
	if f.redis, err = redis.Open(redis.Config{URL: redistest.New(t)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.redis.Close() })
	owners := workspaces.New(workspaces.Deps{DB: db, Now: f.now})
	f.owners = owners
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: owners, Now: f.now})
	f.tools = tools.New(tools.Deps{DB: db, Workspaces: owners, Agents: f.agents, Keys: keys, Guard: guard})
	for name, builtin := range turns.SystemTools() {
		f.tools.Register(name, builtin)
	}
	f.newConversations()
	f.runConversations(t)
	f.own(t, owners, config)
	f.listen(t, limits)
	return f
}

func (f *fixture) newConversations() {
	f.Node = rooms.New(rooms.Deps{
		DB: f.db, Agents: f.agents, Workspaces: f.owners, Tools: f.tools, Retriever: &f.passages, Seal: f.keys,
		Models:    func(context.Context, workspaces.Ref, agents.Model) (model.Provider, error) { return f.model, nil },
		PublicURL: "http://talk.example", Now: f.now,
	})
}

// beside is another node of the installation, with sockets and conversations of its own.
func (f *fixture) beside(t *testing.T) *fixture {
	t.Helper()
	g := &fixture{
		agents:    f.agents,
		tools:     f.tools,
		endpoint:  f.endpoint,
		model:     f.model,
		passages:  f.passages,
		principal: f.principal,
		ref:       f.ref,
		agent:     f.agent,
		first:     f,
		db:        f.db,
		redis:     f.redis,
		keys:      f.keys,
		owners:    f.owners,
	}
	g.newConversations()
	g.runConversations(t)
	g.listen(t, realtime.Limits{})
	return g
}

func (f *fixture) now() time.Time {
	if f.first != nil {
		return f.first.now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped.IsZero() {
		return f.stopped
	}
	return time.Now().Add(f.late)
}

// stopClock has the clock stand still until the function is called: nobody is taken to be silent
// meanwhile. If it stands still already, the function does nothing.
func (f *fixture) stopClock() (run func()) {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped.IsZero() {
		return func() {}
	}
	f.stopped = now
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late -= time.Since(f.stopped.Add(-f.late))
		f.stopped = time.Time{}
	}
}

func (f *fixture) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped.IsZero() {
		f.stopped = f.stopped.Add(d)
	}
	f.late += d
}

func (f *fixture) runConversations(t *testing.T) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := f.Close(closing); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := f.handler.Close(closing); err != nil {
			t.Errorf("closing the sockets: %v", err)
		}
		stop()
		running.Wait()
	})
}

func (f *fixture) own(t *testing.T, owners *workspaces.Service, config agents.Config) {
	t.Helper()
	made, err := owners.CreateTenant(t.Context(), "Acme", "pro")
	if err != nil {
		t.Fatal(err)
	}
	f.principal = workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin}
	f.ref = workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	if f.agent, err = f.agents.Create(t.Context(), f.ref, "Ada", config); err != nil {
		t.Fatal(err)
	}
}

// listen serves sockets. A client that the machine keeps waiting is lost only when a test is about
// that.
func (f *fixture) listen(t *testing.T, limits realtime.Limits) {
	limits.PongTimeout, limits.ReadTimeout = cmp.Or(limits.PongTimeout, patience), cmp.Or(limits.ReadTimeout, patience)
	limits.StartTimeout = cmp.Or(limits.StartTimeout, patience)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	f.stop = stop
	calls := voice.New(voice.Deps{
		StackFunc: func(context.Context, workspaces.Ref, agents.Voice, string) (voice.Stack, error) { return f.stack, nil },
		Now:       f.now,
		EndModel:  &f.endModel,
		SaidFunc: func(ctx context.Context, session sessions.Session, turn sessions.TurnID, message sessions.Message) error {
			return f.AcceptUnanswered(ctx, turns.AcceptParams{Session: session, New: turn, Message: message})
		},
		LastWordsWithin: patience,
	})
	f.handler = realtime.New(realtime.Deps{
		Sessions: f.Live,
		Voice:    calls,
		Log:      slog.New(slog.DiscardHandler),
		Context:  ctx,
		Now:      f.now,
		Limits:   limits,
		Redis:    f.redis,
		Calls:    &f.calls,
	})
	logger := &interceptor.Logger{Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test"), Now: f.now}
	routed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/telephony/") {
			f.handler.ServeMedia(w, r)
			return
		}
		f.handler.ServeHTTP(w, r)
	})
	logged := logger.Wrap(
		routed,
		func(*http.Request) string { return realtime.Prefix },
	) // as in package server, where upgrades are logged
	named := interceptor.WithCaller(interceptor.WithRequestID(logged), interceptor.CallerConfig{PublicURL: ownOrigin + "/parlance"})
	server := httptest.NewServer(named)
	f.base = "ws" + strings.TrimPrefix(server.URL, "http")
	t.Cleanup(func() {
		stop()
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if err := f.handler.Wait(waiting); err != nil {
			t.Errorf("Wait: %v", err)
		}
		server.Close()
		if err := calls.Close(waiting); err != nil {
			t.Errorf("closing the calls: %v", err)
		}
	})
}

func (f *fixture) create(t *testing.T, modality sessions.Modality) sessions.Created {
	t.Helper()
	made, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "user-1", Modality: modality,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// url is a session's URL on the test's server.
func (f *fixture) url(published string) string {
	return f.base + strings.TrimPrefix(published, "ws://talk.example")
}

func (f *fixture) session(t *testing.T, id sessions.ID) sessions.Session {
	t.Helper()
	session, err := f.Get(t.Context(), f.principal, id)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func (f *fixture) awaitSession(t *testing.T, id sessions.ID, what string, ok func(sessions.Session) bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !ok(f.session(t, id)) {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("%s did not happen: %+v", what, f.session(t, id))
		}
	}
}

// awaitTurns waits until the session has so many turns of a status.
func (f *fixture) awaitTurns(t *testing.T, id sessions.ID, status sessions.TurnStatus, count int) {
	t.Helper()
	f.awaitSession(t, id, "the turns", func(sessions.Session) bool {
		turns, _, err := f.Transcript(t.Context(), f.principal, id, postgres.PageParams{Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		there := 0
		for _, turn := range turns {
			if turn.Status == status {
				there++
			}
		}
		return there == count
	})
}

// fixedPassages is a Retriever that always finds the same passages.
type fixedPassages struct{ passages []sessions.Passage }

func (s *fixedPassages) Search(workspaces.Ref, agents.ID, []agents.TagFilter) turns.Search { return s }

func (s *fixedPassages) Steps() []postgres.Step { return nil }

func (s *fixedPassages) Retrieve(context.Context, string, turns.RetrieveParams,
) ([]sessions.Passage, *sessions.Retrieval, error) {
	return s.passages, nil, nil
}

// get is a plain HTTP request to a socket's URL.
func (f *fixture) get(t *testing.T, method, url string, header http.Header) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http"+strings.TrimPrefix(url, "ws"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
