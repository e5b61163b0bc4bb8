package worker

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/analysis"
	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker/task"
)

const (
	// interval is how often the relay and the dispatchers look. Source: design, Events, outbox,
	// queue.
	interval = time.Second
	// subscribersInterval is how often the worker looks who may have deliveries.
	subscribersInterval = 10 * time.Second
	// indexInterval is how often the worker looks for sources without an index.
	indexInterval = time.Minute
	// ingestReserved is how many workers no tenant uses alone. Long documents are read for hours when
	// every page is a picture, and another tenant must not wait for that.
	ingestReserved = 1
	// slowInterval is how often forgotten blobs, expired answers, old traces and old events are
	// looked for.
	slowInterval = 5 * time.Minute
	// memoryInterval is how often memories without a vector are looked for.
	memoryInterval = 5 * time.Second
	// contentInterval is how often content that is not kept is looked for, once it is delivered.
	contentInterval = 5 * time.Second
	// billingInterval is how often subscriptions are looked for whose grace is over.
	billingInterval = 15 * time.Second
	// reportsInterval is how often usage is reported to the payment provider.
	reportsInterval = time.Minute
	// callsInterval is how often calls are looked for of which nothing was heard.
	callsInterval = 2 * time.Second
	// modelInterval is how often changes of the embedding model are continued.
	modelInterval = 15 * time.Second
)

// Sessions is package sessions.
type Sessions interface {
	Sweep(ctx context.Context, now time.Time) error
	// Watch observes the health of the database until ctx ends.
	Watch(ctx context.Context)
}

// Deps is what a Worker works with. DB, Redis and Webhooks are required. The work of a noun that is
// nil is left to workers that have it.
type Deps struct {
	DB *postgres.DB
	// Redis is closed by its owner after Run.
	Redis    goredis.UniversalClient
	Webhooks *webhooks.Service
	// Ingester and Reembedder are ingestion.Service. Reembedder may be nil although there is an
	// Ingester.
	Ingester   task.Ingester
	Reembedder task.Reembedder
	// ReleaseBlobFunc deletes a blob if no source has it (knowledge.Service.SweepBlob).
	ReleaseBlobFunc func(ctx context.Context, key string) error
	// Sessions is sessions.Service; swept each second.
	Sessions Sessions
	// Analyses analyses sessions that are over; swept each second.
	Analyses *analysis.Service
	// Privacy exports and erases the data of users. Every five minutes it deletes expired exports, and
	// sessions that are kept no longer.
	Privacy *privacy.Service
	// Callbacks dials callbacks that are due, and makes those of schedules (callbacks.Service.Sweep)
	// each second. Calls looks at calls of which their carrier says nothing (telephony.Service.Sweep),
	// every two seconds.
	Callbacks *callbacks.Service
	Calls     *telephony.Service
	// Billing ends the grace of failed payments (billing.Service.Sweep); every fifteen seconds.
	Billing SweepFunc
	// UsageReports reports usage to the payment provider (billing.Service.ReportUsage); every minute.
	UsageReports SweepFunc
	// Strays deletes blobs without a source (knowledge.Service.Sweep); every five minutes.
	Strays SweepFunc
	// Recordings deletes recordings that are kept no longer, and files that nothing needs
	// (recordings.Service.Sweep); every five minutes.
	Recordings SweepFunc
	// Indexes indexes sources of earlier versions (ingestion.Service.Maintain); every minute.
	Indexes SweepFunc
	// Models continues changes of the embedding model (ingestion.Service.SweepModels); each 15 s.
	Models SweepFunc
	// Answers deletes answers older than a day (idempotency.Service.Sweep); every five minutes.
	Answers SweepFunc
	// Traces deletes old traces of calls (tools.Service.Sweep); every five minutes.
	Traces SweepFunc
	// Audit writes the audit log's entries of changes whose process has died (audit.Service.Sweep);
	// every five minutes.
	Audit SweepFunc
	// Usage sums what tenants use (usage.Service.Fold), each second; UsageRecords deletes what was
	// summed long ago, and announces what was reached without use (usage.Service.Sweep), every five
	// minutes.
	Usage        SweepFunc
	UsageRecords SweepFunc
	// Memories embeds memories and deletes expired ones (memory.Service.Sweep); every five seconds.
	Memories SweepFunc
	// Tracer makes spans of relays and tasks; nil: none are made.
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
	// Slots measures how the workers are shared; nil: nothing is measured.
	Slots *fair.Metrics
	// ShutdownTimeout is how long running tasks may take to end; 0 means 20 s.
	ShutdownTimeout time.Duration
}

// Worker relays events, dispatches and runs tasks, and sweeps.
type Worker struct {
	deps    Deps
	db      *postgres.DB
	redis   goredis.UniversalClient
	client  *queue.Client
	server  *queue.Server
	backlog backlog
	metrics metrics
	log     *slog.Logger
	now     func() time.Time
	// deliveries, ingestion, analyses, privacy and callbacks dispatch; one whose noun is missing is
	// nil.
	deliveries *dispatcher
	ingestion  *dispatcher
	analyses   *dispatcher
	privacy    *dispatcher
	callbacks  *dispatcher
	// taskFuncs make the tasks of internal events, dispatchers has whom others wake. Events of
	// types in neither are left alone.
	taskFuncs   map[events.Type]func(events.Row) queue.Task
	dispatchers map[events.Type]*dispatcher
	// lastPublic and lastInternal are the tenants whose events were relayed last. Only their relay
	// uses them.
	lastPublic, lastInternal string
	// deliveriesPerEvent is how many deliveries an event made in the last batch. Only the relay of
	// public events uses it.
	deliveriesPerEvent float64
}

// New makes a worker; Run starts it.
func New(d Deps) (*Worker, error) {
	if d.DB == nil || d.Redis == nil || d.Webhooks == nil {
		return nil, errors.New("a worker needs a database, Redis and webhooks")
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if len(d.Pools) == 0 {
		d.Pools = queue.DefaultPools()
	}
	w := &Worker{
		deps: d, db: d.DB, redis: d.Redis, client: queue.NewClient(d.Redis), log: d.Log, now: d.Now,
		metrics: newMetrics(d.Metrics), backlog: newBacklog(d.Metrics),
		taskFuncs: map[events.Type]func(events.Row) queue.Task{}, dispatchers: map[events.Type]*dispatcher{},
	}
	config := queue.ServerConfig{
		Redis: d.Redis, Pools: d.Pools, Handlers: w.handlers(d), ShutdownTimeout: d.ShutdownTimeout, Logger: w.log, Tracer: d.Tracer,
	}
	if d.Metrics != nil {
		config.ObserveFunc = d.Metrics.ObserveTask
	}
	var err error
	w.server, err = queue.NewServer(config)
	return w, err
}

// handlers connects tasks, the events that make them and the queries that find them with the nouns.
func (w *Worker) handlers(d Deps) map[string]queue.HandlerFunc {
	w.deliveries = newDispatcher(dispatcherParams{queue: queue.Deliver, finder: task.DueDeliveries{Service: d.Webhooks}}, d)
	handlers := map[string]queue.HandlerFunc{
		task.DeliverWebhookType: w.deliveries.wrap(task.HandleDeliverWebhook(d.Webhooks, w.deliveries.admit, w.metrics.attempted)),
	}
	if d.Ingester != nil {
		finder := task.DueIngestions{Ingester: d.Ingester, Reembedder: d.Reembedder}
		w.ingestion = newDispatcher(dispatcherParams{queue: queue.Ingest, reserved: ingestReserved, finder: finder}, d)
		if d.Reembedder != nil {
			handlers[task.ReembedSourceType] = w.ingestion.wrap(task.HandleReembedSource(d.Reembedder, w.ingestion.admit))
		}
		handlers[task.IngestSourceType] = w.ingestion.wrap(task.HandleIngestSource(d.Ingester, w.ingestion.admit))
		w.dispatchers[events.SourceQueued] = w.ingestion
	}
	if d.Analyses != nil {
		w.analyses = newDispatcher(dispatcherParams{queue: queue.Analyse, finder: task.DueAnalyses{Analyses: d.Analyses}}, d)
		handlers[task.AnalyseSessionType] = w.analyses.wrap(task.HandleAnalyseSession(d.Analyses, w.analyses.admit))
		handlers[task.LearnSessionType] = w.analyses.wrap(task.HandleLearnSession(d.Analyses, w.analyses.admit))
		w.dispatchers[events.AnalysisWanted] = w.analyses
	}
	if d.Privacy != nil {
		w.privacy = newDispatcher(dispatcherParams{queue: queue.Privacy, finder: task.DuePrivacyRequests{Service: d.Privacy}}, d)
		handlers[task.PrivacyRequestType] = w.privacy.wrap(task.HandlePrivacyRequest(d.Privacy, w.privacy.admit))
		w.dispatchers[events.PrivacyRequested] = w.privacy
	}
	if d.Callbacks != nil {
		w.callbacks = newDispatcher(dispatcherParams{queue: queue.Call, finder: task.DueCallbacks{Service: d.Callbacks}}, d)
		handlers[task.DialCallbackType] = w.callbacks.wrap(task.HandleDialCallback(d.Callbacks, w.callbacks.admit))
	}
	if d.Calls != nil {
		handlers[task.HandOverType] = task.HandleHandOver(d.Calls)
		w.taskFuncs[events.HandoverRequested] = task.HandOver
	}
	if d.ReleaseBlobFunc != nil {
		handlers[task.ReleaseBlobType] = task.HandleReleaseBlob(d.ReleaseBlobFunc)
		w.taskFuncs[events.BlobOrphaned] = func(row events.Row) queue.Task { return task.ReleaseBlob(row.Subject, row.EventID) }
	}
	for name, sweep := range d.sweepTasks() {
		handlers[name] = w.handleSweep(name, sweep)
	}
	return handlers
}

// internalTypes lists the internal events this worker relays.
func (w *Worker) internalTypes() []events.Type {
	return slices.AppendSeq(slices.Collect(maps.Keys(w.taskFuncs)), maps.Keys(w.dispatchers))
}

// Run works until ctx ends, then lets running tasks end (see Deps.ShutdownTimeout) and returns
// nil. Unfinished work is taken up by another worker, or by this one when it runs again.
// Errors: handlers that did not return although they were cancelled.
func (w *Worker) Run(ctx context.Context) error {
	ctx = telemetry.WithTracer(ctx, w.deps.Tracer)
	var group errgroup.Group
	public, internal := make(chan struct{}, 1), make(chan struct{}, 1)
	group.Go(func() error { w.listen(ctx, public, internal); return nil })
	for _, p := range w.periodicWork(public, internal) {
		group.Go(func() error { w.repeat(ctx, p); return nil })
	}
	if w.deps.Sessions != nil {
		group.Go(func() error { w.deps.Sessions.Watch(ctx); return nil })
	}
	group.Go(func() error { return queue.RunScheduler(ctx, w.schedule()) })
	group.Go(func() error { return w.runTasks(ctx) })
	return group.Wait()
}

// listen wakes the relays when events are committed.
func (w *Worker) listen(ctx context.Context, public, internal chan<- struct{}) {
	// It returns the context's error only; it reconnects by itself.
	_ = w.db.Listen(ctx, events.Channel, func(kind string) {
		if kind != events.InternalAppended {
			wake(public)
		}
		if kind != events.PublicAppended {
			wake(internal)
		}
	})
}

// periodicWork lists what each process does by itself, see the package.
func (w *Worker) periodicWork(public, internal <-chan struct{}) []periodic {
	list := []periodic{
		{name: "relay of public events", interval: interval, woken: public, fn: w.relayPublic},
		{name: "relay of internal events", interval: interval, woken: internal, fn: w.relayInternal},
		{name: "look for subscribers", interval: subscribersInterval, fn: w.expectSubscribers},
		{name: "measure backlogs", interval: backlogInterval, fn: func(ctx context.Context) error {
			return w.backlog.measure(ctx, w.db, w.redis, w.now())
		}},
	}
	for _, d := range []*dispatcher{w.deliveries, w.ingestion, w.analyses, w.privacy, w.callbacks} {
		if d != nil {
			dispatch := func(ctx context.Context) error { return w.dispatch(ctx, d) }
			list = append(list, periodic{name: "dispatch to " + string(d.queue), interval: interval, woken: d.woken, fn: dispatch})
		}
	}
	d := w.deps
	if d.Sessions != nil {
		list = append(list, periodic{name: "sweep of sessions", interval: interval, fn: w.byOwnClock(d.Sessions.Sweep)})
	}
	if d.Analyses != nil {
		list = append(list, periodic{name: "sweep of analyses", interval: interval, fn: w.byOwnClock(d.Analyses.Sweep)})
	}
	if d.Models != nil {
		list = append(list, periodic{name: "change of the embedding model", interval: modelInterval, fn: w.byOwnClock(d.Models)})
	}
	if d.Indexes != nil {
		list = append(list, periodic{name: "indexes of sources", interval: indexInterval, fn: w.byOwnClock(d.Indexes)})
	}
	if d.Privacy != nil {
		list = append(list, periodic{
			name: "sweep of content that is not kept", interval: contentInterval, fn: w.byAge(d.Privacy.SweepContent),
		})
	}
	if d.Usage != nil {
		list = append(list, periodic{name: "sum of usage", interval: interval, fn: w.byOwnClock(d.Usage)})
	}
	if d.Billing != nil {
		list = append(list, periodic{name: "sweep of subscriptions", interval: billingInterval, fn: w.byAge(d.Billing)})
	}
	if d.UsageReports != nil {
		list = append(list, periodic{name: "reports of usage", interval: reportsInterval, fn: w.byAge(d.UsageReports)})
	}
	if d.Callbacks != nil {
		list = append(list, periodic{name: "runs of schedules", interval: interval, fn: w.byOwnClock(d.Callbacks.Sweep)})
	}
	if d.Calls != nil {
		list = append(list, periodic{name: "sweep of calls", interval: callsInterval, fn: w.byOwnClock(d.Calls.Sweep)})
	}
	if d.Memories != nil {
		list = append(list, periodic{name: "sweep of memories", interval: memoryInterval, fn: w.byAge(d.Memories)})
	}
	return list
}

// schedule lists the sweeps that are tasks.
func (w *Worker) schedule() queue.SchedulerConfig {
	config := queue.SchedulerConfig{Redis: w.redis, Logger: w.log}
	for name := range w.deps.sweepTasks() {
		config.Tasks = append(config.Tasks, queue.PeriodicTask{Type: name, Queue: queue.Sweep, Every: slowInterval, Timeout: sweepTimeout})
	}
	return config
}

// expectSubscribers makes the workers of deliveries leave a part to others when more than one
// tenant has endpoints. A slow endpoint holds a worker for half a minute: too long to begin sharing
// when the other tenant's delivery comes.
func (w *Worker) expectSubscribers(ctx context.Context) error {
	tenants, err := w.deps.Webhooks.Subscribers(ctx)
	if err == nil && len(tenants) > 1 {
		w.deliveries.gate.Expect(tenants...)
	}
	return err
}

// runTasks runs tasks; when Redis is away at the start it tries again.
func (w *Worker) runTasks(ctx context.Context) (err error) {
	ticker.Run(ctx, interval, nil, func() {
		err = w.server.Run(ctx)
		if ctx.Err() == nil {
			w.log.WarnContext(ctx, "workers did not start", telemetry.KeyError, err)
			err = nil
		}
	})
	return err
}
