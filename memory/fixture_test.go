package memory_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// fixture is the service over a database of its own, with a tenant's workspace and an agent.
type fixture struct {
	*memory.Service
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	embedder   *embedder
	clock      *clock
	ref        workspaces.Ref
	agent      agents.Agent
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{db: pgtest.Open(t), embedder: &embedder{Embedder: hashing.New()}, clock: &clock{}}
	f.workspaces = workspaces.New(workspaces.Deps{DB: f.db, Now: f.clock.now})
	f.agents = agents.New(agents.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
	f.Service = f.node(memory.Deps{})
	f.ref = f.tenant(t)
	f.agent = f.newAgent(t, agents.Memory{Enabled: true})
	return f
}

// node is one more process; d is what differs from the others.
func (f *fixture) node(d memory.Deps) *memory.Service {
	d.DB, d.Workspaces, d.Agents, d.Now = f.db, f.workspaces, f.agents, f.clock.now
	if d.Embedder == nil {
		d.Embedder = f.embedder
	}
	return memory.New(d)
}

func (f *fixture) tenant(t testing.TB) workspaces.Ref {
	t.Helper()
	created, err := f.workspaces.CreateTenant(t.Context(), "Acme", "pro")
	if err != nil {
		t.Fatal(err)
	}
	return workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
}

func (f *fixture) newAgent(t testing.TB, config agents.Memory) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), f.ref, "Ada", agents.Config{Memory: config})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// state is a statement of a user's, as an operator or extraction stores it.
func (f *fixture) state(t testing.TB, user, text string) memory.Kept {
	t.Helper()
	kept, err := f.Add(t.Context(), f.ref, memory.AddParams{UserID: user, Kind: memory.Statement, Text: text, Confidence: 1})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func (f *fixture) note(t testing.TB, user, text string) memory.Kept {
	t.Helper()
	kept, err := f.Add(t.Context(), f.ref, memory.AddParams{UserID: user, Text: text, Confidence: 1})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// texts are those that a list has, newest first.
func (f *fixture) texts(t testing.TB, ref workspaces.Ref, user string, status memory.Status) []string {
	t.Helper()
	items, _, err := f.List(t.Context(), ref, memory.ListParams{UserID: user, Status: status, Page: postgres.PageParams{Size: 200}})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	return texts
}

// call calls a tool in a session of the user's.
func (f *fixture) call(t testing.TB, user, tool, arguments string) (string, error) {
	t.Helper()
	return f.Builtins()[tool].RunBuiltin(t.Context(), tools.BuiltinCall{
		Ref: f.ref, SessionID: "ses_1", TurnID: "turn_1", CallID: idgen.New(idgen.ToolCall), Arguments: []byte(arguments),
		Variables: map[string]string{"system__user_id": user, "system__agent_id": string(f.agent.ID)},
	})
}

// clock is the real time, moved on by the test.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// embedder is the built-in one, which can be away.
type embedder struct {
	embedding.Embedder
	mu   sync.Mutex
	away bool
	name string
}

func (e *embedder) set(away bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away = away
}

func (e *embedder) Model() embedding.Model {
	model := e.Embedder.Model()
	if e.name != "" {
		model.Name = e.name
	}
	return model
}

func (e *embedder) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	e.mu.Lock()
	away := e.away
	e.mu.Unlock()
	if away {
		return nil, errors.New("the embedder is away")
	}
	return e.Embedder.Embed(ctx, texts, kind)
}
