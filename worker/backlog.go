package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
)

// backlogInterval is how often backlogs are measured: a scrape must not query the database.
const backlogInterval = 15 * time.Second

// backlog measures what waits in the whole installation, and the states of sessions.
type backlog struct {
	count *prometheus.GaugeVec
	age   *prometheus.GaugeVec
	tasks *prometheus.GaugeVec
	wait  *prometheus.GaugeVec
	live  *prometheus.GaugeVec
}

func newBacklog(m *telemetry.Metrics) backlog {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	b := backlog{
		count: gauge("parlance_backlog_items", "What waits in Postgres; kind is public_events and internal_events (not relayed), "+
			"deliveries (pending), sources (queued), analyses (pending), callbacks (scheduled).", telemetry.KeyKind),
		age: gauge("parlance_backlog_oldest_seconds",
			"How long the oldest of them has waited beyond its time; 0: nothing waits.", telemetry.KeyKind),
		tasks: gauge("parlance_queue_tasks",
			"Tasks in Redis, by queue; state is pending, running or waiting (to run later).", telemetry.KeyQueue, "state"),
		wait: gauge("parlance_queue_oldest_seconds", "How long the first task of a queue has waited for a worker.", telemetry.KeyQueue),
		live: gauge("parlance_sessions_open", "Sessions that are not over; status is pending or in_progress.", telemetry.KeyStatus),
	}
	if m != nil {
		m.Registry.MustRegister(b.count, b.age, b.tasks, b.wait, b.live)
	}
	return b
}

// waiting is a row of backlogSQL.
type waiting struct {
	Kind   string    `bun:"kind"`
	Count  int       `bun:"count"`
	Oldest time.Time `bun:"oldest,nullzero"`
}

const backlogSQL = `
SELECT 'public_events' AS kind,
       count(*) AS count,
       min(created_at) AS oldest
FROM events
WHERE relayed_at IS NULL
  AND left(type, 1) <> '_'
UNION ALL
SELECT 'internal_events',
       count(*),
       min(created_at)
FROM events
WHERE relayed_at IS NULL
  AND left(type, 1) = '_'
UNION ALL
SELECT 'deliveries',
       count(*),
       min(next_at)
FROM webhook_deliveries
WHERE status = 'pending'
  AND next_at IS NOT NULL
UNION ALL
SELECT 'sources',
       count(*),
       min(due_at)
FROM sources
WHERE status = 'queued'
UNION ALL
SELECT 'analyses',
       count(*),
       min(due_at)
FROM session_analyses
WHERE status = 'pending'
UNION ALL
SELECT 'callbacks',
       count(*),
       min(due_at)
FROM callbacks
WHERE status = 'scheduled'
UNION ALL
SELECT 'session pending',
       count(*),
       NULL
FROM sessions
WHERE ended_at IS NULL
  AND started_at IS NULL
UNION ALL
SELECT 'session in_progress',
       count(*),
       NULL
FROM sessions
WHERE ended_at IS NULL
  AND started_at IS NOT NULL`

// measure sets the figures of Postgres and of Redis. When one of them is away, those of the other
// are set.
func (b backlog) measure(ctx context.Context, db *postgres.DB, redis goredis.UniversalClient, now time.Time) error {
	return errors.Join(b.measurePostgres(ctx, db, now), b.measureRedis(redis))
}

func (b backlog) measurePostgres(ctx context.Context, db *postgres.DB, now time.Time) error {
	var rows []waiting
	if err := db.NewRaw(postgres.RawForAllTenants("figures of the whole installation", backlogSQL)).Scan(ctx, &rows); err != nil {
		return fmt.Errorf("count what waits: %w", err)
	}
	for _, row := range rows {
		if status, isSession := strings.CutPrefix(row.Kind, "session "); isSession {
			b.live.WithLabelValues(status).Set(float64(row.Count))
			continue
		}
		age := 0.0
		if !row.Oldest.IsZero() {
			age = max(0, now.Sub(row.Oldest).Seconds())
		}
		b.count.WithLabelValues(row.Kind).Set(float64(row.Count))
		b.age.WithLabelValues(row.Kind).Set(age)
	}
	return nil
}

func (b backlog) measureRedis(redis goredis.UniversalClient) error {
	queues, err := queue.Backlogs(redis, queue.Names()...)
	if err != nil {
		return err
	}
	for name, held := range queues {
		b.tasks.WithLabelValues(string(name), "pending").Set(float64(held.Pending))
		b.tasks.WithLabelValues(string(name), "running").Set(float64(held.Running))
		b.tasks.WithLabelValues(string(name), "waiting").Set(float64(held.Waiting))
		b.wait.WithLabelValues(string(name)).Set(held.Oldest.Seconds())
	}
	return nil
}
