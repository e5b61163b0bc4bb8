package tools

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/tools/httpcall"
	"parlance.dev/parlance/tools/mcpservers"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with. DB, Workspaces, Agents, Keys and Guard are needed.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	// Keys seals auth_header and secret_headers.
	Keys *seal.Keyring
	// Guard checks and makes the connections to endpoints.
	Guard *publicnet.Guard
	// Log gets the faults of this service. nil discards them.
	Log *slog.Logger
	// Now is the clock. nil is time.Now.
	Now func() time.Time
	// Jitter spreads the wait between attempts. nil is ± 25 %.
	Jitter func(time.Duration) time.Duration
	// Gate shares the slots for calls between tenants. nil: calls do not wait for a slot.
	Gate *fair.Gate
	// Registry gets the metrics. nil: there are none.
	Registry prometheus.Registerer
	// TraceRetention is how long traces of calls are kept. 0: for ever.
	TraceRetention time.Duration
}

// Service manages and calls tools. Safe for concurrent use.
type Service struct {
	db             *postgres.DB
	workspaces     *workspaces.Service
	agents         *agents.Service
	keys           *seal.Keyring
	log            *slog.Logger
	now            func() time.Time
	traceRetention time.Duration

	checker checker
	schemas *schema.Cache
	http    httpcall.Client
	mcp     *mcpservers.Service
	// documents fetches OpenAPI documents, and reading has one place for who reads one.
	documents *http.Client
	reading   chan struct{}
	// Two circuits stand before an endpoint: that of the tool, and that of the tenant and host.
	toolBreakers ruledBreakers
	hostBreaker  *breaker.Breaker
	gate         *fair.Gate
	metrics      metrics

	mu       sync.RWMutex
	builtins map[string]Builtin // by name
}

// New makes the service. Close it.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Jitter == nil {
		d.Jitter = func(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) } //nolint:forbidigo,gosec // the default
	}
	schemas := &schema.Cache{}
	return &Service{
		db: d.DB, workspaces: d.Workspaces, agents: d.Agents, keys: d.Keys, log: d.Log, now: d.Now, traceRetention: d.TraceRetention,
		checker: checker{guard: d.Guard, schemas: schemas},
		schemas: schemas,
		http: httpcall.Client{
			HTTP:  d.Guard.Client(publicnet.ClientOptions{}),
			Fresh: d.Guard.Client(publicnet.ClientOptions{MaxIdlePerHost: -1}),
			Now:   d.Now, Jitter: d.Jitter,
		},
		mcp: mcpservers.New(mcpservers.Deps{
			DB: d.DB, HTTP: d.Guard.Client(publicnet.ClientOptions{}), Schemas: schemas, Log: d.Log, Now: d.Now,
		}),
		documents: d.Guard.Client(publicnet.ClientOptions{}), reading: make(chan struct{}, 1),
		hostBreaker: breaker.New(breaker.Options{Failures: breakerHostFailures, Window: breakerHostWindow}),
		gate:        d.Gate, metrics: newMetrics(d.Registry),
		builtins: map[string]Builtin{},
	}
}

// Close ends the sessions with MCP servers, which takes some seconds at most.
func (s *Service) Close() { s.mcp.Close() }

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Register sets the implementation of the built-in or system tool of a name. From then on models
// are offered the tool. The packages that implement built-ins import this one, so package app
// registers them.
func (s *Service) Register(name string, b Builtin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.builtins[name] = b
}

func (s *Service) builtin(name string) (Builtin, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, ok := s.builtins[name]
	return b, ok
}

// checkPlan refuses custom tools that the plan of the tenant does not include.
// Errors: Forbidden plan-tools-not-enabled, plan-mcp-not-enabled.
func (s *Service) checkPlan(ctx context.Context, ref workspaces.Ref, kind Kind) error {
	plan, err := s.workspaces.Plan(ctx, ref.TenantID)
	if err != nil {
		return err
	}
	if !plan.Tools {
		return workspaces.Refuse(fault.New(fault.PlanToolsNotEnabled, "The plan %q has no custom tools.", plan.Name), plan,
			s.workspaces.PlanWith(func(p workspaces.Plan) bool { return p.Tools }))
	}
	if kind == KindMCP && !plan.MCP {
		return workspaces.Refuse(
			fault.New(fault.PlanMCPNotEnabled, "The plan %q has no MCP tools; use kind http or move to a plan with MCP.", plan.Name), plan,
			s.workspaces.PlanWith(func(p workspaces.Plan) bool { return p.Tools && p.MCP }))
	}
	return nil
}
