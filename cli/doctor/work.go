package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/redis"
)

// How long work may wait before a person should look.
const (
	eventsWait     = time.Minute
	deliveriesWait = 5 * time.Minute
	sourcesWait    = 10 * time.Minute
)

// backlog is work that waits for workers. Its query returns how many items wait longer than $1, and
// since when.
type backlog struct {
	check, what string
	wait        time.Duration
	query       string
}

var backlogs = []backlog{
	{"events", "events have not been relayed", eventsWait, `
		SELECT count(*), min(created_at) FROM events WHERE relayed_at IS NULL AND created_at < $1`},
	{"deliveries", "webhook deliveries that are due have not been tried", deliveriesWait, `
		SELECT count(*),
		min(next_at) FROM webhook_deliveries WHERE status = 'pending' AND next_at < $1 AND (lease_until IS NULL OR lease_until < $1)`},
	{"sources", "sources have not been read", sourcesWait, `
		SELECT count(*), min(updated_at) FROM sources
		WHERE status IN ('queued', 'processing') AND updated_at < $1 AND (heartbeat_at IS NULL OR heartbeat_at < $1)`},
}

func checkWork(ctx context.Context, d Deps, r *report) {
	if d.Config.DatabaseURL == "" || d.Config.RedisURL == "" {
		r.skip("workers", "DATABASE_URL or REDIS_URL is not set")
		return
	}
	countWorkers(ctx, d, r)
	conn, err := connect(ctx, d.Config.DatabaseURL.Reveal())
	if err != nil {
		r.skip("backlog", "Postgres does not answer; see there")
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read from
	for _, waiting := range backlogs {
		if !checkBacklog(ctx, d, conn, waiting, r) {
			return
		}
	}
}

func countWorkers(ctx context.Context, d Deps, r *report) {
	client, err := redis.Open(redis.Config{URL: d.Config.RedisURL.Reveal()})
	if err != nil {
		r.skip("workers", "REDIS_URL is not understood; see there")
		return
	}
	defer func() { _ = client.Close() }() // only used here
	if redis.Ping(ctx, client, connectWithin) != nil {
		r.skip("workers", "Redis does not answer; see there")
		return
	}
	pools, err := queue.Workers(client)
	switch {
	case err != nil:
		r.skip("workers", "%v", err)
	case pools == 0:
		r.fail("workers", "Start `parlance worker` with the same settings.", "no worker runs: nothing is ingested or delivered")
	default:
		r.ok("workers", "a worker runs")
	}
}

// checkBacklog returns false when further queries would fail too.
func checkBacklog(ctx context.Context, d Deps, conn *pgx.Conn, b backlog, r *report) bool {
	var count int
	var since *time.Time
	err := conn.QueryRow(ctx, b.query, d.Now().Add(-b.wait)).Scan(&count, &since)
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		r.skip("backlog", "not looked at: %s", answer.Message) // the schema's own check says what to do
		return false
	}
	switch {
	case err != nil:
		r.skip("backlog", "not looked at: %v", err)
		return false
	case count > 0:
		r.warn(b.check, "See the workers' logs, and start more of them.", "%d %s, the oldest since %s", count, b.what,
			d.Now().Sub(*since).Round(time.Second))
	default:
		r.ok(b.check, "nothing waits longer than %s", b.wait)
	}
	return true
}
