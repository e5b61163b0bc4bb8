package tools

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with; DB, Workspaces, Agents, Keys and Guard are needed.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	// Keys seals auth_header.
	Keys *seal.Keyring
	// Guard checks and makes the connections to endpoints.
	Guard *publicnet.Guard
	// Log gets our own failures; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Jitter spreads a wait between attempts; nil is ± 25 %.
	Jitter func(time.Duration) time.Duration
	// Gate shares the calls of endpoints between tenants; nil: nobody waits.
	Gate *fair.Gate
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
	// TraceRetention is how long the traces of calls are kept; 0: for ever.
	TraceRetention time.Duration
}

// Service manages and calls tools. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	keys       *seal.Keyring
	guard      *publicnet.Guard
	client     *http.Client
	// fresh makes a connection for each request: net/http repeats nothing on one by itself.
	fresh   *http.Client
	log     *slog.Logger
	now     func() time.Time
	jitter  func(time.Duration) time.Duration
	schemas schemas
	breaker breaker.Breaker
	gate    *fair.Gate
	metrics metrics
	// traceRetention 0 keeps traces for ever.
	traceRetention time.Duration

	mcp *mcpServers

	mu       sync.RWMutex
	builtins map[string]Builtin // by name

	// bare caches the registries of agents without attachments, by bareKey.
	bare *cache.Cache[string, Registry]
}

// maxBare is how many registries bare holds, some 10 KiB each.
const maxBare = 512

// New makes the service. Close it.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, workspaces: d.Workspaces, agents: d.Agents, keys: d.Keys, guard: d.Guard,
		client: d.Guard.Client(publicnet.ClientOptions{}), fresh: d.Guard.Client(publicnet.ClientOptions{MaxIdlePerHost: -1}), log: d.Log, now: d.Now, jitter: d.Jitter,
		builtins: map[string]Builtin{}, bare: cache.New[string, Registry](maxBare), gate: d.Gate, metrics: newMetrics(d.Registry), traceRetention: d.TraceRetention,
	}
	s.mcp = newMCPServers(mcp.Options{HTTP: d.Guard.Client(publicnet.ClientOptions{}), Changed: s.mcpChanged})
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.jitter == nil {
		s.jitter = func(d time.Duration) time.Duration { return d*3/4 + rand.N(d/2) }
	}
	return s
}

func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Register says who runs the built-in or system tool of that name; from then on models are
// offered it. The nouns that implement built-ins lie above this one, so app joins them.
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

// allowed is the plan's word on custom tools.
// Errors: Forbidden plan-tools-not-enabled, plan-mcp-not-enabled.
func (s *Service) allowed(ctx context.Context, ref workspaces.Ref, kind Kind) error {
	plan, err := s.workspaces.Plan(ctx, ref.TenantID)
	if err != nil {
		return err
	}
	if !plan.Tools {
		return fault.New(fault.PlanToolsNotEnabled, "The plan %q has no custom tools.", plan.Name)
	}
	if kind == KindMCP && !plan.MCP {
		return fault.New(fault.PlanMCPNotEnabled, "The plan %q has no MCP tools; use kind http or move to a plan with MCP.", plan.Name)
	}
	return nil
}

// CreateParams is a new custom tool; empty fields of Config take their defaults.
type CreateParams struct {
	Slug        string
	Description string
	Kind        Kind
	Config      Config
	// AuthHeader is the value of the Authorization header; empty: none.
	AuthHeader seal.Secret
}

// Create registers a custom tool in the workspace.
// Errors: AlreadyExists tool-name-reserved and tool-slug-taken, Forbidden
// plan-tools-not-enabled and plan-mcp-not-enabled, Invalid invalid-request.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (Tool, error) {
	now := s.moment()
	tool := Tool{
		ID: ID(idgen.UUIDIn(ctx)), TenantID: ref.TenantID, WorkspaceID: ref.ID, Slug: p.Slug, Description: p.Description,
		Kind: p.Kind, Config: p.Config, CreatedAt: now, UpdatedAt: now, Bucket: BucketCustom,
	}.withDefaults()
	if isReserved(p.Slug) {
		return Tool{}, fault.OnField(fault.ToolNameReserved, "slug", "%q is, or looks like, the name of a built-in or system tool; choose another slug.", p.Slug)
	}
	if err := s.check(tool, p.AuthHeader.Reveal(), Config{}); err != nil {
		return Tool{}, err
	}
	if err := s.allowed(ctx, ref, p.Kind); err != nil {
		return Tool{}, err
	}
	sealed, err := s.seal(ctx, tool, p.AuthHeader)
	if err != nil {
		return Tool{}, err
	}
	tool.AuthHeader = sealed
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error { return insertTool(ctx, tx, tool) })
	if err != nil {
		if made, findErr := selectTool(ctx, s.db, ref, tool.ID, ""); findErr == nil { // see idgen.In
			return made, nil
		}
	}
	if postgres.IsUnique(err, "tools_slug") {
		return Tool{}, fault.OnField(fault.ToolSlugTaken, "slug", "The workspace has a tool with the slug %q (upper and lower case are the same).", p.Slug)
	}
	return tool, err
}

// seal is an auth_header as the tool stores it; nil for an empty one.
func (s *Service) seal(ctx context.Context, t Tool, authHeader seal.Secret) ([]byte, error) {
	if !authHeader.IsSet() {
		return nil, nil
	}
	return s.keys.Seal(ctx, []byte(authHeader.Reveal()), authPlace(t.TenantID, t.ID))
}

// Get returns a tool of the catalog, built-in and system tools included. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Tool, error) {
	if tool, ok := builtinByID(id); ok {
		return tool, nil
	}
	return selectTool(ctx, s.db, ref, id, "")
}

// ListParams is a page of the catalog.
type ListParams struct {
	postgres.PageParams
	// IncludeHidden shows the memory-managed built-ins too.
	IncludeHidden bool
}

// List lists the catalog: system, then built-in, then custom tools, newest first.
// Errors: Invalid invalid-request (page_size, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Tool, string, error) {
	p.Order = postgres.NewestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), map[bool]string{true: "hidden"}[p.IncludeHidden]}
	page, err := postgres.NewPage(p.PageParams)
	if err != nil {
		return nil, "", err
	}
	list := builtinTools(BucketSystem)
	if p.IncludeHidden {
		list = append(list, builtinTools(BucketMemory)...)
	}
	list = append(list, builtinTools(BucketOptIn)...)
	list, page.After = afterBuiltins(list, page.After)
	if room := page.Limit() - len(list); room > 0 {
		custom, err := listTools(ctx, s.db, ref, page, room)
		if err != nil {
			return nil, "", err
		}
		list = append(list, custom...)
	}
	list, next := postgres.Cut(page, list, catalogKey)
	return list, next, nil
}

// catalogEpoch puts built-ins before every custom tool in a list that is newest first.
var catalogEpoch = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// catalogKey is a tool's place in the merged list.
func catalogKey(t Tool) postgres.Key {
	for i, b := range builtins {
		if b.id() == t.ID {
			return postgres.Key{CreatedAt: catalogEpoch.Add(-time.Duration(i) * time.Second), ID: string(t.ID)}
		}
	}
	return postgres.Key{CreatedAt: t.CreatedAt, ID: string(t.ID)}
}

// afterBuiltins leaves out the built-ins up to the last row of the page before; a place among
// them means nothing to the table of custom tools, which begins at its start then.
func afterBuiltins(list []Tool, after *postgres.Key) ([]Tool, *postgres.Key) {
	if after == nil {
		return list, nil
	}
	for i, tool := range list {
		if string(tool.ID) == after.ID {
			return list[i+1:], nil
		}
	}
	return nil, after
}

// UpdateParams changes a custom tool; nil keeps, a pointer to a zero value clears to the default.
type UpdateParams struct {
	Description *string
	// Apply changes the configuration in place; nil keeps it. It may be called more than once.
	Apply      func(*Config)
	AuthHeader *seal.Secret
}

// Update changes the fields sent. Two updates at once are made one after the other.
// Errors: NotFound, Invalid invalid-request (also for a built-in or system tool), Forbidden
// plan-tools-not-enabled and plan-mcp-not-enabled.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id ID, p UpdateParams) (Tool, error) {
	if err := onlyCustom(id, "changed"); err != nil {
		return Tool{}, err
	}
	tool, err := selectTool(ctx, s.db, ref, id, "")
	if err != nil {
		return Tool{}, err
	}
	if err := s.allowed(ctx, ref, tool.Kind); err != nil {
		return Tool{}, err
	}
	var sealed []byte
	if p.AuthHeader != nil { // before the transaction: sealing may read the database
		if sealed, err = s.seal(ctx, tool, *p.AuthHeader); err != nil {
			return Tool{}, err
		}
	}
	now := s.moment()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if tool, err = selectTool(ctx, tx, ref, id, "UPDATE"); err != nil {
			return err
		}
		if err := s.apply(&tool, p); err != nil {
			return err
		}
		if p.AuthHeader != nil {
			tool.AuthHeader = sealed
		}
		tool.UpdatedAt = now
		return updateTool(ctx, tx, tool)
	})
	return tool, err
}

// apply changes a tool as p says and checks what it has become.
func (s *Service) apply(tool *Tool, p UpdateParams) error {
	stored := tool.Config
	if p.Description != nil {
		tool.Description = *p.Description
	}
	if p.Apply != nil {
		p.Apply(&tool.Config)
	}
	*tool = tool.withDefaults()
	if p.AuthHeader == nil {
		return s.check(*tool, "", stored)
	}
	return s.check(*tool, p.AuthHeader.Reveal(), stored)
}

// onlyCustom refuses to touch a built-in or system tool.
func onlyCustom(id ID, verb string) error {
	if tool, ok := builtinByID(id); ok {
		return fault.InvalidField("tool_id", "not_custom", "%s is a %s tool and cannot be %s.", id, tool.Bucket, verb)
	}
	return nil
}

// Delete removes a custom tool and detaches it everywhere; its traces stay. Repeating it is
// not an error. Errors: NotFound, Invalid invalid-request for a built-in or system tool.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id ID) error {
	if err := onlyCustom(id, "deleted"); err != nil {
		return err
	}
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteTool(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
		}
		return s.workspaces.Gone(ctx, tx, ref.TenantID, "tool", string(id))
	})
}
