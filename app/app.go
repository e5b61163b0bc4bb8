package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/audit"
	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/evaluation"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/knowledge/webpages"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/people"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/endmodel"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker"
	"parlance.dev/parlance/workspaces"
)

// Params are what the program sets and an operator does not.
type Params struct {
	// Version of the program, in metrics and traces.
	Version string
	// Component is server, worker or dev.
	Component string
	Log       *slog.Logger
	// Now is the clock of the machine, which that of Postgres corrects; nil is time.Now.
	Now func() time.Time
	// Statements traces every SQL statement before it is sent; it may be nil. It is for tests.
	Statements postgres.Tracer
	// LookUpTimeout is that of numbers.Deps. It is for tests.
	LookUpTimeout time.Duration
}

// App holds the joined parts of a process. Close it when Serve and Work have returned.
type App struct {
	Config      Config
	Workspaces  *workspaces.Service
	Agents      *agents.Service
	Tools       *tools.Service
	Knowledge   *knowledge.Service
	webpages    *webpages.Service
	embedder    embedding.Embedder
	ingestion   *ingestion.Service
	evaluations *evaluation.Service
	Memory      *memory.Service
	Sessions    *sessions.Service
	Turns       *turns.Service
	Requests    *requests.Service
	Live        *live.Service
	Recordings  *recordings.Service
	Voice       *voice.Service
	Analysis    *analysis.Service
	handover    *handover.Service
	Webhooks    *webhooks.Service
	Privacy     *privacy.Service
	Usage       *usage.Service
	Billing     *billing.Service
	Numbers     *numbers.Service
	Calls       *telephony.Service
	Callbacks   *callbacks.Service
	Insights    *insights.Service
	People      *people.Service
	// Stack chooses what hears and speaks for a session.
	Stack voice.StackFunc
	// Line, unless nil, serves the phones of a simulated line; it is set before Serve.
	Line http.Handler
	// Answers and Embeds describe the model and the embedder of this process to people.
	Answers string
	Embeds  string
	// Hears and Speaks describe what agents hear and speak with that name nothing.
	Hears, Speaks string

	answers     *idempotency.Service
	audit       *audit.Service
	prices      *usage.Prices
	userHashes  *workspaces.UserHashes
	credentials *workspaces.Credentials
	carriers    *carriers
	documents   *documents
	speech      *speechStacks
	endModel    *endmodel.Model // nil: none
	models      *models
	log         *slog.Logger
	now         func() time.Time
	lookUp      time.Duration // Params.LookUpTimeout
	db          *postgres.DB
	redis       goredis.UniversalClient
	bucket      blob.Bucket
	wal         *wal.Log
	pageKey     []byte
	stops       []func() // of whileOpen
	metrics     *telemetry.Metrics
	slots       *fair.Metrics
	traces      *telemetry.Traces
}

// Open connects to what the configuration names and joins the parts. It does not migrate the
// database (see package sqlmigrations).
func Open(ctx context.Context, config Config, params Params) (*App, error) {
	a := &App{Config: config, log: params.Log, lookUp: params.LookUpTimeout}
	if err := a.connect(ctx, params); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.join(ctx, params.Component); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// connect opens the databases and services outside the process.
func (a *App) connect(ctx context.Context, params Params) (err error) {
	a.metrics = telemetry.NewMetrics(params.Version)
	a.slots = fair.NewMetrics()
	a.metrics.Registry.MustRegister(a.slots)
	a.db, err = postgres.Open(ctx, postgres.Config{
		URL: a.Config.DatabaseURL.Reveal(), DirectURL: a.Config.Direct().Reveal(), MaxConns: a.Config.DatabaseMaxConns, Logger: a.log,
		Tracer: params.Statements,
	})
	if err == nil {
		err = a.db.CheckSessions(ctx)
	}
	if err != nil {
		return fmt.Errorf("open Postgres: %w", err)
	}
	if err := a.setClock(ctx, params.Now); err != nil {
		return err
	}
	if a.redis, err = redis.Open(redis.Config{URL: a.Config.RedisURL.Reveal()}); err != nil {
		return fmt.Errorf("open Redis: %w", err)
	}
	a.metrics.Registry.MustRegister(a.db.Collector())
	redis.CountErrors(a.redis, a.metrics.Registry)
	a.warnOfRedis(ctx)
	if a.bucket, err = OpenBucket(ctx, a.Config); err != nil {
		return fmt.Errorf("open the bucket: %w", err)
	}
	return a.trace(ctx, params)
}

// warnOfRedis logs harmful settings of Redis. The process starts without Redis too.
func (a *App) warnOfRedis(ctx context.Context) {
	warnings, err := redis.Inspect(ctx, a.redis)
	if err != nil {
		a.log.WarnContext(ctx, "Redis does not answer", telemetry.KeyError, err)
	}
	for _, warning := range warnings {
		a.log.WarnContext(ctx, "Redis should be set up differently", telemetry.KeyReason, warning)
	}
}

// trace starts the exporter of traces. It connects only to the operator's collector.
func (a *App) trace(ctx context.Context, params Params) (err error) {
	config := telemetry.TraceConfig{
		Endpoint: a.Config.OTLPEndpoint, Headers: map[string]string{}, Service: "parlance-" + params.Component, Version: params.Version,
		SampleRatio: a.Config.OTLPSample, Log: a.log, Metrics: a.metrics,
	}
	for name, value := range a.Config.OTLPHeaders {
		config.Headers[name] = value.Reveal()
	}
	if config.Endpoint != "" {
		guard, err := a.Config.operatorGuard()
		if err != nil {
			return err
		}
		if config.Client, err = guard.OperatorClient([]string{config.Endpoint}, publicnet.ClientOptions{Timeout: 10 * time.Second}); err != nil {
			return fmt.Errorf("OTLP endpoint: %w", err)
		}
	}
	a.traces, err = telemetry.NewTraces(ctx, config)
	return err
}

// join makes the services, each after those that it needs.
func (a *App) join(ctx context.Context, component string) error {
	keyring, err := OpenKeyring(a.Config, a.db, a.now)
	if err != nil {
		return err
	}
	if err := keyring.Check(ctx); err != nil {
		return fmt.Errorf("check the master key: %w", err)
	}
	keyring.Announce()
	guard, err := publicnet.New(publicnet.Options{
		AllowCIDRs: a.Config.EgressAllowCIDRs, DenyCIDRs: a.Config.EgressDenyCIDRs, CAFile: a.Config.EgressCAFile,
	})
	if err != nil {
		return fmt.Errorf("guard outbound connections: %w", err)
	}
	plans, err := a.Config.Plans()
	if err != nil {
		return err
	}
	if a.models, err = newModels(a.Config, guard); err != nil {
		return err
	}
	if a.prices, err = a.Config.Prices(); err != nil {
		return err
	}
	a.models.observe(a.metrics.Registry, a.log, a.now)
	embedder, previous, err := a.openEmbedders(ctx, guard)
	if err != nil {
		return err
	}
	a.Answers = a.models.Describe()
	a.answers = idempotency.New(idempotency.Deps{DB: a.db, Keys: keyring, Now: a.now})
	a.audit = audit.New(audit.Deps{DB: a.db, Now: a.now})
	a.userHashes = workspaces.NewUserHashes(workspaces.UserHashesDeps{DB: a.db, Keys: keyring, Now: a.now})
	a.Workspaces = workspaces.New(workspaces.Deps{
		DB: a.db, Plans: plans, MaxWorkspaces: a.Config.WorkspacesPerTenant, MaxKeys: a.Config.APIKeysPerTenant, Now: a.now,
	})
	if err := a.watchPlans(ctx); err != nil {
		return err
	}
	a.Usage = usage.New(usage.Deps{DB: a.db, Workspaces: a.Workspaces, Now: a.now})
	a.Insights = insights.New(insights.Deps{
		DB: a.db, Redis: a.redis, Workspaces: a.Workspaces, Usage: a.Usage, Currency: a.prices.Currency(), Now: a.now,
	})
	a.models.planOf, a.models.planWith = a.Usage.Plan, a.Workspaces.PlanWith
	if err := a.openBilling(); err != nil {
		return err
	}
	a.credentials = workspaces.NewCredentials(workspaces.CredentialDeps{
		DB: a.db, Workspaces: a.Workspaces, Keys: keyring, Guard: guard, Now: a.now,
	})
	a.models.credentials = a.credentials
	if err := a.openSpeech(guard, component); err != nil {
		return err
	}
	a.Agents = agents.New(agents.Deps{
		DB: a.db, Workspaces: a.Workspaces, CheckDisabledTools: tools.CheckDisabledTools, Embedder: embedder,
		Models: a.models.Choose, Priced: a.models.priced(a.prices), Now: a.now,
	})
	a.embedder = embedder
	a.Tools = tools.New(tools.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Keys: keyring, Guard: guard, Log: a.log, Now: a.now, Registry: a.metrics.Registry,
		Gate: a.newGate("tool", a.Config.ToolConcurrency), TraceRetention: a.Config.ToolCallRetention,
	})
	for name, builtin := range turns.SystemTools() {
		a.Tools.Register(name, builtin)
	}
	reranker, err := newReranker(a.Config, guard)
	if err != nil {
		return err
	}
	a.documents = &documents{config: a.Config, log: a.log}
	readers, embedders := a.documents.readers(ctx, component), append(knowledge.Embedders{embedder}, previous...)
	a.Knowledge = knowledge.New(knowledge.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Bucket: a.bucket, Embedders: embedders, Reranker: reranker,
		Readers: readers, CacheBytes: a.Config.SearchCacheMiB << 20, Log: a.log, Now: a.now, Registry: a.metrics.Registry,
	})
	a.webpages = webpages.New(webpages.Deps{Knowledge: a.Knowledge, Guard: guard})
	a.ingestion = ingestion.New(ingestion.Deps{
		DB: a.db, Bucket: a.bucket, Embedders: embedders, Readers: readers, Fetcher: a.webpages,
		EmbedCalls: a.Config.EmbeddingConcurrency, ComputeSlots: a.Config.IngestConcurrency,
		GateFunc: a.newLine, Log: a.log, Now: a.now, Registry: a.metrics.Registry,
	})
	a.evaluations = evaluation.New(evaluation.Deps{
		DB: a.db, Workspaces: a.Workspaces, Agents: a.Agents, Knowledge: a.Knowledge, Now: a.now,
	})
	a.Memory = memory.New(memory.Deps{
		DB: a.db, Embedder: embedder, Workspaces: a.Workspaces, Agents: a.Agents,
		MaxPerUser: a.Config.MemoryPerUser, Log: a.log, Now: a.now,
	})
	for name, builtin := range a.Memory.Builtins() {
		a.Tools.Register(name, builtin)
	}
	if component != "worker" {
		if a.wal, err = openWAL(ctx, a.Config, keyring, a.now, a.log); err != nil {
			return err
		}
	}
	if a.pageKey, err = a.db.PageTokenKey(ctx); err != nil {
		return err
	}
	a.openConversations(keyring)
	a.Webhooks = webhooks.New(webhooks.Deps{
		DB: a.db, Workspaces: a.Workspaces, Keyring: keyring, CursorKey: keyFor("cursors", a.pageKey),
		Guard: guard, Policy: a.webhookPolicy(),
		Retention: a.Config.WebhookRetention, Now: a.now, Log: a.log, Registry: a.metrics.Registry,
		UnknownAgents: a.Agents.Unknown,
	})
	if err := a.openTelephony(guard, keyring); err != nil {
		return err
	}
	a.openPrivacy()
	return a.openPeople(keyring)
}

func (a *App) webhookPolicy() webhooks.Policy {
	return webhooks.Policy{
		Schedule: a.Config.WebhookSchedule, DisableFailures: a.Config.WebhookDisableFailures,
		DisableWindow: a.Config.WebhookDisableWindow, DisableMinAge: a.Config.WebhookDisableMinAge,
	}
}

// publicBase returns PUBLIC_URL, or the address that the server listens on. It is for URLs that are
// made outside of a request.
func (a *App) publicBase() string {
	if a.Config.PublicURL != "" {
		return a.Config.PublicURL
	}
	if strings.HasPrefix(a.Config.Listen, "unix:") {
		return "http://localhost" // the proxy before the socket has another name, which only PUBLIC_URL says
	}
	scheme := "http://"
	if a.Config.TLSCertFile != "" {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(a.Config.Listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		return scheme + net.JoinHostPort("localhost", port)
	}
	return scheme + a.Config.Listen
}

// Work runs background tasks until ctx ends, and then drains.
func (a *App) Work(ctx context.Context) error {
	if err := a.documents.check(ctx); err != nil {
		return err
	}
	w, err := worker.New(worker.Deps{
		DB: a.db, Redis: a.redis, Webhooks: a.Webhooks, Ingester: a.ingestion, Reembedder: a.ingestion,
		Models: a.ingestion.SweepModels, ReleaseBlobFunc: a.Knowledge.SweepBlob, Strays: a.Knowledge.Sweep, Indexes: a.ingestion.Maintain,
		Sessions: a.Sessions, Analyses: a.Analysis, Privacy: a.Privacy, Billing: a.Billing.Sweep, UsageReports: a.Billing.ReportUsage,
		Answers: a.answers.Sweep, Audit: a.audit.Sweep, Recordings: a.Recordings.Sweep,
		Callbacks: a.Callbacks, Calls: a.Calls,
		Usage: a.Usage.Fold, UsageRecords: a.Usage.Sweep, Traces: a.Tools.Sweep, Memories: a.Memory.Sweep,
		Metrics: a.metrics, Tracer: a.traces, Log: a.log, Now: a.now, Pools: a.pools(), SharePercent: a.Config.TenantShare,
		Slots: a.slots, ShutdownTimeout: a.Config.ShutdownTimeout,
	})
	if err != nil {
		return err
	}
	metrics, err := a.openMetrics(ctx, a.Config.WorkerListen)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.Run(ctx) })
	group.Go(func() error { return metrics(ctx) })
	return group.Wait()
}

// MetricNames lists the metrics of this process, including those without a value.
func (a *App) MetricNames() []string { return a.metrics.Names() }

// Close closes what Open has opened.
func (a *App) Close() error {
	var errs []error
	if a.traces != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		errs = append(errs, a.traces.Shutdown(ctx))
	}
	if a.Tools != nil {
		a.Tools.Close()
	}
	if a.wal != nil {
		errs = append(errs, a.wal.Close())
	}
	if a.documents != nil {
		errs = append(errs, a.documents.close())
	}
	if a.speech != nil {
		errs = append(errs, a.speech.close())
	}
	if a.endModel != nil {
		errs = append(errs, a.endModel.Close())
	}
	for _, stop := range a.stops {
		stop()
	}
	if a.redis != nil {
		errs = append(errs, a.redis.Close())
	}
	if a.bucket != nil {
		errs = append(errs, a.bucket.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
	}
	return errors.Join(errs...)
}
