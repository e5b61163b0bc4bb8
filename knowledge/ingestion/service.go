package ingestion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/blob"
)

// Deps is what a Service works with; what follows Embedders may be absent.
type Deps struct {
	DB     *postgres.DB
	Bucket blob.Bucket
	// Embedders has at least one: the first embeds for all workspaces in the end.
	Embedders knowledge.Embedders
	// Readers read PDF files and pictures.
	Readers document.Readers
	// Fetcher fetches sources that have a URL; nil: nobody does.
	Fetcher Fetcher
	// Log gets our own failures; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// EmbedCalls is how many calls of an outside embedder are made at once; 0 is 4.
	EmbedCalls int
	// ComputeSlots is how many runs parse, cut or embed in this process at once; 0 is one a CPU.
	ComputeSlots int
	// GateFunc makes what shares so many slots between tenants; nil: unmeasured ones.
	GateFunc func(name string, slots int) *fair.Gate
	// HeartbeatEvery is how often a run says that it is alive; 0 is 5 s.
	HeartbeatEvery time.Duration
	// Registry gets what is measured; nil: nobody does.
	Registry prometheus.Registerer
}

// defaultEmbedCalls is how many calls of an outside embedder this process makes at once.
const defaultEmbedCalls = 4

// cleanUpTimeout bounds what is put right after a run was stopped.
const cleanUpTimeout = 10 * time.Second

// Service makes chunks of sources, with their vectors and indexes. Safe for concurrent use.
type Service struct {
	db             *postgres.DB
	bucket         blob.Bucket
	embedders      knowledge.Embedders
	readers        document.Readers
	fetcher        Fetcher
	log            *slog.Logger
	now            func() time.Time
	heartbeatEvery time.Duration
	slots          slots
	stages         *prometheus.HistogramVec

	// planning guards what SweepModels knows.
	planning sync.Mutex
	chosen   bool
	planned  time.Time
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, bucket: d.Bucket, embedders: d.Embedders, readers: d.Readers, fetcher: d.Fetcher, log: d.Log, now: d.Now,
		heartbeatEvery: cmp.Or(d.HeartbeatEvery, defaultHeartbeat), slots: newSlots(d),
		stages: promauto.With(d.Registry).NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_ingest_stage_duration_seconds", Help: "Stages of reading a source; result is ok or error.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900},
		}, []string{"stage", telemetry.KeyResult}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

func newSlots(d Deps) slots {
	gate := d.GateFunc
	if gate == nil {
		gate = func(name string, slots int) *fair.Gate {
			return fair.New(fair.Config{Name: name, Slots: slots, MaxWaiting: math.MaxInt, Now: d.Now})
		}
	}
	cores, calls := runtime.GOMAXPROCS(0), cmp.Or(max(d.EmbedCalls, 0), defaultEmbedCalls)
	return slots{
		compute: gate("ingest_compute", cmp.Or(max(d.ComputeSlots, 0), cores)), ocr: gate("ingest_ocr", cores),
		embed: gate("ingest_embed", calls), fetch: gate("ingest_fetch", fetchesAtOnce), calls: calls, cores: cores,
	}
}

// moment is now as Postgres keeps it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// Maintain drops what unfinished runs kept and nobody came back for within a day, indexes sources
// that have no index of this version, and queues those whose URL is to be fetched again. Call it
// every minute.
func (s *Service) Maintain(ctx context.Context, now time.Time) error {
	_, err := s.db.TryLock(ctx, "knowledge reindex", s.reindex)
	if err != nil {
		err = fmt.Errorf("index sources: %w", err)
	}
	return errors.Join(err, s.queueFetches(ctx, s.moment()), dropKeptBefore(ctx, s.db, now.Add(-keptFor)))
}
