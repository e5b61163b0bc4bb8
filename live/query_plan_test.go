package live_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/live"
)

// TestQueryPlansWithoutStatistics: Postgres finds each session by its id although thousands of
// sessions began since it last gathered statistics.
func TestQueryPlansWithoutStatistics(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(t)
	for _, statement := range []string{
		`INSERT INTO sessions
			SELECT (jsonb_populate_record(s, jsonb_build_object('id', s.id || n))).* FROM sessions AS s, generate_series(1, 5000) AS n`,
		"ANALYZE sessions, session_connections, turns",
		"UPDATE sessions SET status = 'in_progress', started_at = now()",
	} {
		if _, err := f.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, statement := range live.StatementsOfSockets {
		t.Run(name, func(t *testing.T) {
			if plan := f.plan(t, statement); !strings.Contains(plan, "sessions_pkey") || strings.Count(plan,
				"sessions_") != strings.Count(plan, "sessions_pkey") {
				t.Errorf("sessions are not found by their id:\n%s", plan)
			}
		})
	}
}

// plan returns how Postgres would execute a prepared statement.
func (f *fixture) plan(t *testing.T, statement string) string {
	t.Helper()
	var nulls []string
	for strings.Contains(statement, "$"+strconv.Itoa(len(nulls)+1)) {
		nulls = append(nulls, "NULL")
	}
	var lines []string
	err := f.db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		for _, s := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE rush AS " + statement} {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		if err := tx.NewRaw("EXPLAIN EXECUTE rush("+strings.Join(nulls, ", ")+")").Scan(ctx, &lines); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DEALLOCATE rush")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
