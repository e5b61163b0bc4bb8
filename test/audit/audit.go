package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Evidence is what the auditor reads.
type Evidence struct {
	// DatabaseURL is for pgx.
	DatabaseURL string
	// BlobDir is the directory of the bucket.
	BlobDir string
	Journal *Journal
	// Received are the requests that webhook endpoints got, in order of arrival.
	Received []Received
	// Called are the requests that tools' endpoints got.
	Called []Called
	// Faithful are ids of endpoints that were there before the first event, subscribe to
	// everything, and never changed: each event of their workspace was for them.
	Faithful []string
}

// Received is a request to a webhook endpoint.
type Received struct {
	// URL is the endpoint's.
	URL, EventID string
	Body         []byte
	// Status is what was answered; 0: nothing was, or it was held back.
	Status int
	At     time.Time
	// Err says why a customer would refuse the request.
	Err error
}

// Called is a request to a tool's endpoint.
type Called struct {
	Method, IdempotencyKey, Body string
}

// Report is what was looked at and what was found.
type Report struct {
	// Checked counts, by invariant, the things that were looked at; 0 where there was none.
	Checked map[string]int
	// Findings are violations, each with its invariant's name before the first colon.
	Findings []string
}

// Names are the invariants, sorted.
func (r Report) Names() []string {
	names := make([]string, 0, len(r.Checked))
	for name := range r.Checked {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// String is the tally for people.
func (r Report) String() string {
	var out strings.Builder
	total := 0
	for _, name := range r.Names() {
		total += r.Checked[name]
		fmt.Fprintf(&out, "  %6d  %s\n", r.Checked[name], name)
	}
	fmt.Fprintf(&out, "%d invariants over %d things, %d violations", len(r.Checked), total, len(r.Findings))
	for _, finding := range r.Findings {
		out.WriteString("\n  " + finding)
	}
	return out.String()
}

// auditor is one look.
type auditor struct {
	Evidence
	conn   *pgx.Conn
	report Report
}

// Check looks at everything once. The installation must be at rest; see [Unsettled].
func Check(ctx context.Context, e Evidence) (Report, error) {
	conn, err := pgx.Connect(ctx, e.DatabaseURL)
	if err != nil {
		return Report{}, fmt.Errorf("connect the auditor: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read
	a := &auditor{Evidence: e, conn: conn, report: Report{Checked: map[string]int{}}}
	for _, check := range []func(context.Context) error{a.checkRows, a.checkAnswers, a.checkReceived, a.checkCalled, a.checkFiles} {
		if err := check(ctx); err != nil {
			return a.report, err
		}
	}
	return a.report, nil
}

// looked counts n things under an invariant.
func (a *auditor) looked(invariant string, n int) { a.report.Checked[invariant] += n }

// found notes a violation.
func (a *auditor) found(invariant, format string, args ...any) {
	a.report.Findings = append(a.report.Findings, invariant+": "+fmt.Sprintf(format, args...))
}

// query reads rows of one shape.
func query[T any](ctx context.Context, conn *pgx.Conn, sql string, args ...any) ([]T, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("audit %.60q: %w", sql, err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("audit %.60q: %w", sql, err)
	}
	return out, nil
}

// unsettled lists what is still under way.
const unsettled = `
SELECT 'event not relayed: ' || event_id || ' ' || type FROM events WHERE relayed_at IS NULL
UNION ALL
SELECT 'delivery pending: ' || id || ', next at ' || coalesce(next_at::text, 'never') || ', lease ' || coalesce(lease_until::text, 'none')
FROM webhook_deliveries WHERE status = 'pending'
UNION ALL
SELECT 'source ' || status || ': ' || id FROM sources WHERE status IN ('queued', 'processing')
UNION ALL
SELECT 'turn running: ' || id FROM sessions WHERE running_turn_id IS NOT NULL
UNION ALL
SELECT 'session being ended: ' || id FROM sessions WHERE ending_at IS NOT NULL AND ended_at IS NULL
UNION ALL
SELECT 'socket: ' || session_id FROM session_connections
UNION ALL
SELECT 'request with Idempotency-Key under way since ' || created_at::text FROM idempotency_keys WHERE answer IS NULL
	AND lease_until > now()`

// Unsettled lists what the installation has still to do on its own; when there is nothing, it
// has come to rest.
func Unsettled(ctx context.Context, databaseURL string) ([]string, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect the auditor: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read
	rows, err := conn.Query(ctx, unsettled)
	if err != nil {
		return nil, fmt.Errorf("look for what is under way: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
