package harness

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/queue"
)

// explainTimeout bounds what is read after a failure: the databases may be what is broken.
const explainTimeout = 10 * time.Second

// unfinishedSQL lists each source, and each copy of a source for another model, that is not
// finished.
const unfinishedSQL = `
SELECT concat_ws(' ', id, status, nullif(stage, ''), progress || '%', 'page ' || pages_done || ' of ' || page_count, media_type,
                 'attempt ' || attempt, nullif(error_code || ' ' || error_message, ' '),
                 'updated ' || $1 - updated_at || ' ago', 'heartbeat ' || $1 - heartbeat_at || ' ago',
                 'due in ' || due_at - $1, 'handed over until in ' || queued_until - $1)
FROM sources
WHERE status IN ('queued', 'processing')
UNION ALL
SELECT concat_ws(' ', source_id, 'to be embedded by', model, 'attempt ' || attempt,
                 'due in ' || due_at - $1, 'handed over until in ' || queued_until - $1, 'busy until in ' || busy_until - $1)
FROM source_reembeddings
WHERE state = 'waiting'
ORDER BY 1
LIMIT 50`

// explain logs the unfinished work after a failure: the test itself often knows only that it
// waited too long.
func (e *Env) explain(t testing.TB) {
	if !t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), explainTimeout)
	defer cancel()
	if rows, err := e.unfinished(ctx); err != nil {
		t.Logf("sources that are not done: %v", err)
	} else if len(rows) > 0 {
		t.Logf("sources that are not done, by the clock of this test:\n  %s", strings.Join(rows, "\n  "))
	}
	if held, err := e.tasks(ctx); err != nil {
		t.Logf("tasks in Redis: %v", err)
	} else if len(held) > 0 {
		t.Logf("tasks in Redis: %s", strings.Join(held, "; "))
	}
}

func (e *Env) unfinished(ctx context.Context) (lines []string, err error) {
	conn, err := pgx.Connect(ctx, e.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }() // only read
	rows, err := conn.Query(ctx, unfinishedSQL, time.Now().UTC().Truncate(time.Millisecond))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// tasks lists the queues that are not empty.
func (e *Env) tasks(ctx context.Context) (lines []string, err error) {
	options, err := goredis.ParseURL(e.RedisURL)
	if err != nil {
		return nil, err
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }() // only read
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, err
	}
	queues, err := queue.Backlogs(client, queue.Names()...)
	for name, held := range queues {
		if held != (queue.Backlog{}) {
			lines = append(lines, fmt.Sprintf("%s: %d pending, the first for %s, %d running, %d to run later",
				name, held.Pending, held.Oldest.Round(time.Millisecond), held.Running, held.Waiting))
		}
	}
	return lines, err
}
