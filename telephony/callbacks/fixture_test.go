package callbacks_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// fixture is the services over a database of its own, with a tenant's workspace, an agent, a clock
// and a carrier.
type fixture struct {
	*callbacks.Service
	calls      *telephony.Service
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	sessions   *sessions.Service
	guard      *publicnet.Guard
	keys       *seal.Keyring
	usage      *usage.Service // nil: nothing is limited
	clock      *clock
	line       *line
	ref        workspaces.Ref
	agent      agents.Agent
}

// noon is a Tuesday in winter, ten o'clock in New York.
var noon = time.Date(2026, 1, 13, 15, 0, 0, 0, time.UTC)

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{db: pgtest.Open(t), clock: &clock{at: noon}, line: &line{}}
	f.line.clock = f.clock
	f.workspaces = workspaces.New(workspaces.Deps{DB: f.db, Now: f.clock.now})
	f.agents = agents.New(agents.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
	created, err := f.workspaces.CreateTenant(t.Context(), "Acme", "pro")
	if err != nil {
		t.Fatal(err)
	}
	f.ref = workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	f.keys = sealtest.New(t, f.db)
	if f.guard, err = publicnet.New(publicnet.Options{}); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.agent = f.newAgent(t, agents.Config{})
	return f
}

// start makes the services of calls.
func (f *fixture) start() {
	f.sessions = sessions.New(sessions.Deps{
		DB: f.db, Agents: f.agents, Workspaces: f.workspaces, Seal: f.keys, PublicURL: "http://parlance.test", Now: f.clock.now, Usage: f.usage,
	})
	f.calls, f.Service = f.node()
}

// onPlan makes the services anew, with a plan that the tenant has: pro.
func (f *fixture) onPlan(plan workspaces.Plan) {
	f.workspaces = workspaces.New(workspaces.Deps{DB: f.db, Now: f.clock.now, Plans: workspaces.Plans{"pro": plan}})
	f.usage = usage.New(usage.Deps{DB: f.db, Workspaces: f.workspaces, Now: f.clock.now})
	f.start()
}

// node is one more process.
func (f *fixture) node() (*telephony.Service, *callbacks.Service) {
	calls := telephony.New(telephony.Deps{
		DB: f.db, Workspaces: f.workspaces, Agents: f.agents, Sessions: f.sessions, DefaultFrom: "+12015550100",
		PublicURL:   "http://parlance.test",
		Usage:       f.usage,
		Handovers:   handover.New(handover.Deps{Sessions: f.sessions}),
		Numbers:     numbers.New(numbers.Deps{DB: f.db, Workspaces: f.workspaces, Agents: f.agents, Guard: f.guard, Now: f.clock.now}),
		Now:         f.clock.now,
		CarrierFunc: f.line.choose,
	})
	return calls, callbacks.New(callbacks.Deps{DB: f.db, Workspaces: f.workspaces, Agents: f.agents, Calls: calls, Now: f.clock.now})
}

func (f *fixture) newAgent(t testing.TB, config agents.Config) agents.Agent {
	t.Helper()
	agent, err := f.agents.Create(t.Context(), f.ref, "Ada", config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

// plan plans a callback for a user of New York.
func (f *fixture) plan(t testing.TB, user, at string) callbacks.Callback {
	t.Helper()
	callback, err := f.Create(t.Context(), f.ref, f.params(user, at))
	if err != nil {
		t.Fatal(err)
	}
	return callback
}

func (f *fixture) params(user, at string) callbacks.CreateParams {
	return callbacks.CreateParams{
		AgentID: f.agent.ID, UserID: user, PhoneNumber: "+12015550123", At: at, Timezone: "America/New_York", Reason: "the lamp",
		CreatedBy: callbacks.ByOperator,
	}
}

// work does what a worker does: it dials what is due, and looks after calls.
func (f *fixture) work(t testing.TB) {
	t.Helper()
	now := f.clock.now()
	if err := f.Sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	due, err := f.Due(t.Context(), now, fair.Ask{Room: 100, Share: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range due {
		if err := f.Dial(t.Context(), c.Ref(), c.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.calls.Sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// get reads a callback again.
func (f *fixture) get(t testing.TB, id callbacks.ID) callbacks.Callback {
	t.Helper()
	callback, err := f.Get(t.Context(), f.ref, id)
	if err != nil {
		t.Fatal(err)
	}
	return callback
}

// want reads a callback again and compares its status and reason.
func (f *fixture) want(t testing.TB, id callbacks.ID, status callbacks.Status, reason string) callbacks.Callback {
	t.Helper()
	got := f.get(t, id)
	if got.Status != status || got.EndReason != reason {
		t.Fatalf("the callback is %s (%q), waiting for %q, want %s (%q)", got.Status, got.EndReason, got.WaitsFor, status, reason)
	}
	return got
}

// hook has the carrier say something of the last call of a callback.
func (f *fixture) hook(t testing.TB, id callbacks.ID, kind carrier.Kind, form map[string]string) {
	t.Helper()
	callback := f.get(t, id)
	values := url.Values{}
	for name, value := range form {
		values.Set(name, value)
	}
	_, err := f.calls.Receive(t.Context(), telephony.Hook{
		Carrier: f.line.Name(), CallID: callback.CallID, Kind: kind, URI: "/v1/telephony/line/", Form: values,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// status has the carrier say that the last call of a callback has a status.
func (f *fixture) status(t testing.TB, id callbacks.ID, status carrier.Status) {
	t.Helper()
	f.hook(t, id, carrier.StatusChanged, map[string]string{"status": string(status), "seconds": "61"})
}

// answer has somebody answer the last call of a callback.
func (f *fixture) answer(t testing.TB, id callbacks.ID) {
	t.Helper()
	f.hook(t, id, carrier.Asked, nil)
}

// clock is set by the test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (c *clock) advance(d time.Duration) { c.set(c.now().Add(d)) }

// errLost is the error of a request whose answer was lost.
var errLost = errors.New("connection reset")

// line is a carrier of the test. Calls have the ids 1, 2, 3.
type line struct {
	clock *clock

	mu     sync.Mutex
	placed []carrier.PlaceParams
	at     []time.Time
	hungUp []carrier.CallID
	// bridges are the transfers that were asked for, rendered the answers to webhooks.
	bridges  []carrier.Bridge
	rendered []carrier.Instruction
	// onPlace is called before the answer to a call that is placed.
	onPlace func()
	// onChoose is called the next time that the line is chosen, and onFind before the next answer of
	// Find: what happens meanwhile. A carrier cannot be chosen when onChoose returns an error.
	onChoose func() error
	onFind   func()
	// onInstruct is called before the answer of Instruct, which is what it returns.
	onInstruct func(ctx context.Context) error
	// losesRequest and losesAnswer have Place fail before and after it has placed the call; refuses
	// has it refuse.
	losesRequest, losesAnswer bool
	// findsNothing has Find fail, forgets Look.
	findsNothing, forgets bool
	refuses               *carrier.Refused
	// statuses are what Look and Find say; ringing where there is none.
	statuses map[carrier.CallID]carrier.Status
}

func (l *line) choose(context.Context, workspaces.Ref) (carrier.Carrier, error) {
	l.mu.Lock()
	meanwhile := l.onChoose
	l.onChoose = nil
	l.mu.Unlock()
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *line) Name() string { return "line" }

func (l *line) Place(_ context.Context, p carrier.PlaceParams) (carrier.CallID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses != nil {
		return "", l.refuses
	}
	if l.losesRequest {
		return "", errLost
	}
	l.placed, l.at = append(l.placed, p), append(l.at, l.clock.now())
	if l.onPlace != nil {
		l.onPlace()
	}
	if l.losesAnswer {
		return "", errLost
	}
	return l.id(len(l.placed)), nil
}

func (l *line) id(n int) carrier.CallID { return carrier.CallID(strconv.Itoa(n)) }

func (l *line) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.placed)
}

func (l *line) update(id carrier.CallID) carrier.Update {
	status := l.statuses[id]
	if status == "" {
		status = carrier.Ringing
	}
	return carrier.Update{ID: id, Status: status}
}

func (l *line) Find(_ context.Context, p carrier.FindParams) ([]carrier.Update, error) {
	l.mu.Lock()
	meanwhile := l.onFind
	l.onFind = nil
	l.mu.Unlock()
	if meanwhile != nil {
		defer meanwhile() // behind what it finds
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.findsNothing {
		return nil, errLost
	}
	var found []carrier.Update
	for i := len(l.placed) - 1; i >= 0; i-- {
		if l.placed[i].To == p.To && l.placed[i].From == p.From && !l.at[i].Before(p.Since) {
			found = append(found, l.update(l.id(i+1)))
		}
	}
	return found, nil
}

func (l *line) Look(_ context.Context, id carrier.CallID) (carrier.Update, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forgets {
		return carrier.Update{}, &carrier.Refused{Code: "20404", Message: "not found"}
	}
	return l.update(id), nil
}

func (l *line) Instruct(ctx context.Context, id carrier.CallID, i carrier.Instruction) error {
	if l.onInstruct != nil {
		if err := l.onInstruct(ctx); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch i := i.(type) {
	case carrier.HangUp:
		l.hungUp = append(l.hungUp, id)
	case carrier.Bridge:
		l.bridges = append(l.bridges, i)
	}
	return nil
}

func (l *line) Configure(context.Context, string, string) error { return nil }

func (l *line) Check(context.Context) error { return nil }

// Read takes what a form says, and the call's id; the last call's when it has none.
func (l *line) Read(r carrier.WebhookRequest) (carrier.Webhook, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seconds, _ := strconv.Atoi(r.Form.Get("seconds"))
	at, _ := time.Parse(time.RFC3339, r.Form.Get("at")) // zero without one
	id := carrier.CallID(r.Form.Get("id"))
	if id == "" {
		id = l.id(len(l.placed))
	}
	return carrier.Webhook{
		Kind: r.Kind, Bridge: carrier.Status(r.Form.Get("bridge")),
		Human: r.Form.Get("human") != "", Machine: r.Form.Get("machine") != "", Fax: r.Form.Get("fax") != "",
		Update: carrier.Update{
			ID: id, Status: carrier.Status(r.Form.Get("status")), At: at, Duration: time.Duration(seconds) * time.Second,
		},
	}, nil
}

func (l *line) Render(i carrier.Instruction) carrier.Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rendered = append(l.rendered, i)
	return carrier.Answer{ContentType: http.DetectContentType(nil)}
}
