package tools_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) {
	pgtest.Main(m,
		// A session of the MCP server that the tests start, which a client has not ended.
		goleak.IgnoreAnyFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}

// fixture is the service over a database of its own, with a tenant on plan pro.
type fixture struct {
	*tools.Service
	deps       tools.Deps
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	ref        workspaces.Ref
	agent      agents.Agent
	endpoint   *httptool.Server
}

// plans are the shipped ones and "bare", which has no tools.
func plans() workspaces.Plans {
	all := workspaces.DefaultPlans()
	all["bare"] = workspaces.Plan{Name: "bare", KBStorageBytes: 1, KBUploadBytes: 1}
	return all
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{db: db, endpoint: httptool.New(t)}
	f.workspaces = workspaces.New(workspaces.Deps{DB: db, Plans: plans()})
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: f.workspaces, CheckDisabledTools: tools.CheckDisabledTools})
	f.deps = tools.Deps{
		DB: db, Workspaces: f.workspaces, Agents: f.agents, Keys: keys, Guard: guard,
		Jitter: func(time.Duration) time.Duration { return time.Millisecond },
	}
	f.Service = tools.New(f.deps)
	f.ref = f.tenant(t, "pro")
	f.agent = f.newAgent(t, f.ref)
	return f
}

func (f *fixture) tenant(t testing.TB, plan string) workspaces.Ref {
	t.Helper()
	created, err := f.workspaces.CreateTenant(t.Context(), "Acme", plan)
	if err != nil {
		t.Fatal(err)
	}
	return workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
}

func (f *fixture) newAgent(t testing.TB, ref workspaces.Ref) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), ref, "Ada", agents.Config{Memory: agents.Memory{Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// orderParams is a valid http tool on path of the fixture's endpoint.
func (f *fixture) orderParams(path string) tools.CreateParams {
	return tools.CreateParams{
		Slug: "find_order", Description: "Find an order.", Kind: tools.KindHTTP,
		Config: tools.Config{
			WebhookURL:  f.endpoint.URL + path,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"note":{"type":"string"}}}`),
		},
	}
}

func (f *fixture) create(t testing.TB, p tools.CreateParams) tools.Tool {
	t.Helper()
	tool, err := f.Create(t.Context(), f.ref, p)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// attached is the entry of a tool, attached to the fixture's agent.
func (f *fixture) attached(t testing.TB, tool tools.Tool, maxCalls int) tools.Entry {
	t.Helper()
	_, err := f.Attach(
		t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID, Enabled: true, MaxCallsPerSession: &maxCalls},
	)
	if err != nil {
		t.Fatal(err)
	}
	return f.entry(t, tool.Slug)
}

// foreignEntry is the entry of a find_order tool, of an agent of another tenant.
func (f *fixture) foreignEntry(t *testing.T, ref workspaces.Ref, path string) tools.Entry {
	t.Helper()
	other := *f
	other.ref, other.agent = ref, f.newAgent(t, ref)
	return other.attached(t, other.create(t, other.orderParams(path)), 0)
}

// entry is the tool of that name in the registry of the fixture's agent.
func (f *fixture) entry(t testing.TB, name string) tools.Entry {
	t.Helper()
	registry, err := f.ListAgentTools(t.Context(), f.ref, f.agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := registry.Find(name)
	if !ok {
		t.Fatalf("the registry has no %s", name)
	}
	return entry
}

// call calls an entry in the session ses_1.
func (f *fixture) call(t *testing.T, entry tools.Entry, arguments string, variables map[string]string) tools.Outcome {
	t.Helper()
	return f.Call(t.Context(), tools.CallParams{
		Ref: f.ref, SessionID: "ses_1", TurnID: "turn_1", Entry: entry,
		Arguments: json.RawMessage(arguments), Variables: tools.NewVariables(variables),
	})
}

// wantFault checks the reason of an error, and that it is on a field, unless that is empty.
func wantFault(t *testing.T, err error, reason fault.Reason, field string) {
	t.Helper()
	if !fault.IsReason(err, reason) {
		t.Errorf("got %v, want %s", err, reason)
		return
	}
	if field == "" {
		return
	}
	for _, f := range fault.From(err).Fields {
		if f.Field == field {
			return
		}
	}
	t.Errorf("got %+v, want a violation on %s", fault.From(err).Fields, field)
}
