package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker/task"
)

const (
	// interval is how often the relay and the sweeps look. Source: design, Events, outbox, queue.
	interval = time.Second
	// expectInterval is how often it is asked who may have deliveries.
	expectInterval = 10 * time.Second
	// indexInterval is how often sources without an index are looked for.
	indexInterval = time.Minute
	// ingestSpare is how many workers are kept free for whoever comes while one tenant's long
	// documents are read: hours, when every page is a picture.
	ingestSpare = 1
	// slowInterval is how often forgotten blobs, expired answers and old traces are looked for.
	slowInterval = 5 * time.Minute
	// memoryInterval is how often memories without a vector are looked for.
	memoryInterval = 5 * time.Second
	// modelInterval is how often changes of the embedding model are carried on.
	modelInterval = 15 * time.Second
)

// Housekeeper is a noun that repairs what time has overtaken, by itself.
type Housekeeper interface {
	// Sweep does what is due by now; harmless beside its double.
	Sweep(ctx context.Context, now time.Time) error
}

// Sessions is a Housekeeper that has to know how steadily the database answers.
type Sessions interface {
	Housekeeper
	// Watch looks until ctx ends.
	Watch(ctx context.Context)
}

// Deps is what a Worker works with. DB, Redis and Webhooks are required; work whose noun is nil
// is left for workers that have it.
type Deps struct {
	DB *postgres.DB
	// Redis stays its owner's, who closes it after Run.
	Redis    goredis.UniversalClient
	Webhooks *webhooks.Service
	Ingester task.Ingester
	// Reembedder may be nil although there is an Ingester.
	Reembedder task.Reembedder
	Blobs      task.BlobReleaser
	// Sessions is conversation.Service: each second.
	Sessions Sessions
	// Analyses is conversation.Service too: what it analyses, as sessions end.
	Analyses *conversation.Service
	// Strays is knowledge.Service: blobs that nobody has referred to for long, every five minutes.
	Strays Housekeeper
	// Indexes indexes sources of earlier versions: ingestion's Maintain, every minute.
	Indexes Housekeeper
	// Models is knowledge.Service.SweepModels: each 15 s.
	Models Housekeeper
	// Answers is idempotency.Service: answers past their day, every five minutes.
	Answers Housekeeper
	// Traces is tools.Service: traces of calls past their time, every five minutes.
	Traces Housekeeper
	// Memories is memory.Service: vectors that were not made at once, and what has expired, every five seconds.
	Memories Housekeeper
	// Tracer makes spans of relays and tasks; nil: nobody does.
	Tracer trace.TracerProvider
	// Metrics may be nil.
	Metrics *telemetry.Metrics
	// Log may be nil.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Pools is queue.DefaultPools when empty.
	Pools []queue.Pool
	// SharePercent of a queue's workers is what one tenant gets while there are others; 0 means 75.
	SharePercent int
	// Slots measures how the workers are shared; nil: nobody does. New adds what it shares.
	Slots *fair.Metrics
	// ShutdownTimeout is what running tasks get to end in; 0 means 20 s.
	ShutdownTimeout time.Duration
}

// Worker relays, sweeps and runs tasks.
type Worker struct {
	db       *postgres.DB
	client   *queue.Client
	server   *queue.Server
	webhooks *webhooks.Service
	sessions Sessions
	strays   Housekeeper
	indexes  Housekeeper
	models   Housekeeper
	answers  Housekeeper
	traces   Housekeeper
	memories Housekeeper
	depths   *queue.Depths
	// deliveries, ingestion and analyses are the lanes; one whose noun is missing is nil.
	deliveries *lane
	ingestion  *lane
	analyses   *lane
	// taskFuncs make the tasks of internal events, bells say which lane has work of one; types
	// with neither are left alone.
	taskFuncs map[events.Type]func(events.Row) queue.Task
	bells     map[events.Type]*lane
	// publicTurn and internalTurn are whose events were relayed last.
	publicTurn   fair.Turn
	internalTurn fair.Turn
	// fanOut is how many deliveries an event of a backlog made the last time. The relay alone uses it.
	fanOut  float64
	metrics metrics
	backlog backlog
	redis   goredis.UniversalClient
	tracer  trace.TracerProvider
	log     *slog.Logger
	now     func() time.Time
}

// New makes a worker; Run starts it.
func New(d Deps) (*Worker, error) {
	if d.DB == nil || d.Redis == nil || d.Webhooks == nil {
		return nil, errors.New("a worker needs a database, Redis and webhooks")
	}
	w := &Worker{
		db: d.DB, client: queue.NewClient(d.Redis), webhooks: d.Webhooks, sessions: d.Sessions, strays: d.Strays, indexes: d.Indexes, models: d.Models, answers: d.Answers, traces: d.Traces, memories: d.Memories,
		depths:    queue.NewDepths(d.Redis),
		taskFuncs: map[events.Type]func(events.Row) queue.Task{}, bells: map[events.Type]*lane{},
		metrics: newMetrics(d.Metrics), backlog: newBacklog(d.Metrics), redis: d.Redis, tracer: d.Tracer, log: d.Log, now: d.Now,
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.now == nil {
		w.now = time.Now
	}
	if len(d.Pools) == 0 {
		d.Pools = queue.DefaultPools()
	}
	handlers := w.handlers(d)
	config := queue.ServerConfig{
		Redis: d.Redis, Pools: d.Pools, Handlers: handlers, Local: w.deliveries.local, ShutdownTimeout: d.ShutdownTimeout, Logger: w.log, Tracer: d.Tracer,
	}
	if d.Metrics != nil {
		config.ObserveFunc = d.Metrics.ObserveTask
	}
	server, err := queue.NewServer(config)
	if err != nil {
		return nil, err
	}
	w.server = server
	return w, nil
}

// handlers joins tasks, the events that make them and the sweeps that find them, to the nouns there are.
func (w *Worker) handlers(d Deps) map[string]queue.HandlerFunc {
	w.deliveries = newLane(laneParams{queue: queue.Deliver, local: true, sweeper: task.WebhookSweeper{Service: d.Webhooks}}, d)
	handlers := map[string]queue.HandlerFunc{
		task.DeliverWebhookType: w.deliveries.runs(task.HandleDeliverWebhook(d.Webhooks, w.deliveries.admit, w.metrics.attempted)),
	}
	if d.Ingester != nil {
		w.ingestion = newLane(laneParams{queue: queue.Ingest, spare: ingestSpare, sweeper: task.SourceSweeper{Ingester: d.Ingester, Reembedder: d.Reembedder}}, d)
		if d.Reembedder != nil {
			handlers[task.ReembedSourceType] = w.ingestion.runs(task.HandleReembedSource(d.Reembedder, w.ingestion.admit))
		}
		handlers[task.IngestSourceType] = w.ingestion.runs(task.HandleIngestSource(d.Ingester, w.ingestion.admit))
		w.bells[events.SourceQueued] = w.ingestion
	}
	if d.Analyses != nil {
		w.analyses = newLane(laneParams{queue: queue.Analyse, sweeper: task.AnalysisSweeper{Sessions: d.Analyses}}, d)
		handlers[task.AnalyseSessionType] = w.analyses.runs(task.HandleAnalyseSession(d.Analyses, w.analyses.admit))
		handlers[task.LearnSessionType] = w.analyses.runs(task.HandleLearnSession(d.Analyses, w.analyses.admit))
		w.bells[events.AnalysisWanted] = w.analyses
	}
	if d.Blobs != nil {
		handlers[task.ReleaseBlobType] = task.HandleReleaseBlob(d.Blobs)
		w.taskFuncs[events.BlobOrphaned] = func(row events.Row) queue.Task { return task.ReleaseBlob(row.Subject, row.EventID) }
	}
	return handlers
}

// internalTypes lists the internal events this worker takes.
func (w *Worker) internalTypes() []events.Type {
	types := make([]events.Type, 0, len(w.taskFuncs)+len(w.bells))
	for t := range w.taskFuncs {
		types = append(types, t)
	}
	for t := range w.bells {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}

// Run works until ctx ends, then lets running tasks end (see Deps.ShutdownTimeout) and returns
// nil. What was not finished is taken up again by another worker, or by this one next time.
// Errors: handlers that did not return although they were cancelled.
func (w *Worker) Run(ctx context.Context) error {
	ctx = telemetry.WithTracer(ctx, w.tracer)
	var group errgroup.Group
	loop := func(what string, each time.Duration, woken <-chan struct{}, fn func(context.Context) error) {
		group.Go(func() error { w.every(ctx, periodic{what: what, interval: each, woken: woken, fn: fn}); return nil })
	}
	public, internal := make(chan struct{}, 1), make(chan struct{}, 1)
	group.Go(func() error {
		// It returns the context's error only; a lost connection is its own business.
		_ = w.db.Listen(ctx, events.Channel, func(word string) {
			if word != events.WordInternal {
				wake(public)
			}
			if word != events.WordPublic {
				wake(internal)
			}
		})
		return nil
	})
	group.Go(func() error { return w.server.Attend(ctx) })
	loop("relay of public events", interval, public, w.relayPublic)
	loop("relay of internal events", interval, internal, w.relayInternal)
	for _, l := range []*lane{w.deliveries, w.ingestion, w.analyses} {
		if l != nil {
			loop("hand-over to "+string(l.queue), interval, l.woken, func(ctx context.Context) error { return w.fill(ctx, l) })
		}
	}
	loop("look at who has endpoints", expectInterval, nil, w.expect)
	if w.sessions != nil {
		group.Go(func() error { w.sessions.Watch(ctx); return nil })
		loop("sweep of sessions", interval, nil, func(ctx context.Context) error { return w.sessions.Sweep(ctx, w.now()) })
	}
	if w.strays != nil {
		loop("sweep of strays", slowInterval, nil, w.byAge(w.strays))
	}
	if w.indexes != nil {
		loop("index sources", indexInterval, nil, func(ctx context.Context) error { return w.indexes.Sweep(ctx, w.now()) })
	}
	if w.models != nil {
		loop("change of the embedding model", modelInterval, nil, func(ctx context.Context) error { return w.models.Sweep(ctx, w.now()) })
	}
	if w.answers != nil {
		loop("sweep of answers", slowInterval, nil, w.byAge(w.answers))
	}
	if w.traces != nil {
		loop("sweep of traces", slowInterval, nil, w.byAge(w.traces))
	}
	if w.memories != nil {
		loop("care for memories", memoryInterval, nil, w.byAge(w.memories))
	}
	loop("retention of webhooks", slowInterval, nil, w.byAge(w.webhooks))
	loop("look at what waits", backlogInterval, nil, func(ctx context.Context) error { return w.backlog.look(ctx, w.db, w.redis, w.now()) })
	group.Go(func() error { return w.work(ctx) })
	return group.Wait()
}

// byAge sweeps what goes because of its age, by the clock of Postgres: what a machine removes whose own
// clock is ahead does not come back.
func (w *Worker) byAge(noun Housekeeper) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := postgres.Now(ctx, w.db)
		if err != nil {
			return err
		}
		return noun.Sweep(ctx, now)
	}
}

// work runs tasks; when Redis is away at the start it tries again.
func (w *Worker) work(ctx context.Context) error {
	for {
		err := w.server.Run(ctx)
		if ctx.Err() != nil {
			return err
		}
		w.log.WarnContext(ctx, "workers did not start", telemetry.KeyError, err)
		if !pause(ctx, interval) {
			return nil
		}
	}
}
