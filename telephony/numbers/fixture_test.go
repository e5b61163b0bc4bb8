package numbers_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// switchboard is a carrier that is only told of numbers.
type switchboard struct {
	carrier.Carrier

	mu sync.Mutex
	// urls are the webhooks by number.
	urls map[string]string
	// err is the answer to Configure.
	err error
}

func (*switchboard) Name() string { return "switchboard" }

func (c *switchboard) Configure(_ context.Context, number, webhookURL string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.urls[number] = webhookURL
	}
	return c.err
}

// answers sets what Configure returns from now on.
func (c *switchboard) answers(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// logged collects a log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

type fixture struct {
	t          *testing.T
	db         *postgres.DB
	keys       *seal.Keyring
	workspaces *workspaces.Service
	agents     *agents.Service
	numbers    *numbers.Service
	board      *switchboard
	// noCarrier takes the workspaces' carriers away.
	noCarrier bool
	customer  *receiver.Receiver
	log       *logged
	metrics   *prometheus.Registry
	// ref is a workspace with an agent.
	ref   workspaces.Ref
	agent agents.ID
}

func newFixture(t *testing.T, change ...func(*numbers.Deps)) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	f := &fixture{
		t: t, db: db, keys: sealtest.New(t, db), board: &switchboard{urls: map[string]string{}}, customer: receiver.New(t),
		log: &logged{}, metrics: prometheus.NewRegistry(),
	}
	f.workspaces = workspaces.New(workspaces.Deps{DB: db})
	f.agents = agents.New(agents.Deps{DB: db, Workspaces: f.workspaces})
	f.numbers = f.service(change...)
	f.ref, f.agent = f.tenant()
	return f
}

func (f *fixture) service(change ...func(*numbers.Deps)) *numbers.Service {
	f.t.Helper()
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: receiver.CIDRs(), CAFile: f.customer.CAFile(f.t)})
	if err != nil {
		f.t.Fatal(err)
	}
	deps := numbers.Deps{
		DB: f.db, Workspaces: f.workspaces, Agents: f.agents, Keys: f.keys, Guard: guard,
		CarrierFunc: func(context.Context, workspaces.Ref) (carrier.Carrier, error) {
			if f.noCarrier {
				return nil, fault.New(fault.ProviderNotConfigured, "There is no carrier.")
			}
			return f.board, nil
		},
		WebhookURL: func(carrierName string, id numbers.ID) string {
			return "https://parlance.example/carriers/" + carrierName + "/" + string(id)
		},
		LookUpTimeout: time.Minute, Log: slog.New(slog.NewTextHandler(f.log, nil)), Registry: f.metrics,
	}
	for _, one := range change {
		one(&deps)
	}
	return numbers.New(deps)
}

// tenant makes a tenant, and returns its first workspace and an agent there.
func (f *fixture) tenant() (workspaces.Ref, agents.ID) {
	f.t.Helper()
	made, err := f.workspaces.CreateTenant(f.t.Context(), "acme", "free")
	if err != nil {
		f.t.Fatal(err)
	}
	ref := workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	return ref, f.addAgent(ref)
}

func (f *fixture) addAgent(ref workspaces.Ref) agents.ID {
	f.t.Helper()
	agent, err := f.agents.Create(f.t.Context(), ref, "Ada", agents.Config{})
	if err != nil {
		f.t.Fatal(err)
	}
	return agent.ID
}

// params describe a number of the fixture's agent without a look-up.
func (f *fixture) params() numbers.CreateParams {
	return numbers.CreateParams{
		PhoneNumber: "+49 30 123456", AgentID: f.agent, Name: "Berlin", DynamicVariables: map[string]string{"city": "Berlin"},
	}
}

func (f *fixture) create(p numbers.CreateParams) numbers.Minted {
	f.t.Helper()
	minted, err := f.numbers.Create(f.t.Context(), f.ref, p)
	if err != nil {
		f.t.Fatal(err)
	}
	return minted
}

// list returns the numbers of the fixture's workspace.
func (f *fixture) list() []numbers.Number {
	f.t.Helper()
	list, _, err := f.numbers.List(f.t.Context(), f.ref, postgres.PageParams{})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

// refused fails the test unless err is a decision with the reason, about the field if there is one.
func refused(t *testing.T, what string, err error, reason fault.Reason, field string) *fault.Error {
	t.Helper()
	decided := fault.From(err)
	if err == nil || decided.Reason != reason {
		t.Fatalf("%s: got %v, want %s", what, err, reason)
	}
	if field != "" && !slices.ContainsFunc(decided.Fields, func(f fault.Field) bool { return f.Field == field }) {
		t.Errorf("%s: the fields are %v, want %s", what, decided.Fields, field)
	}
	return decided
}
