package tenantwall

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// marks are the statements that may serve all tenants, and why; a test writes and checks them.
//
//go:embed marks.txt
var marks string

// Wall checks every statement that a pool sends: set it as the Tracer of postgres.Config. Safe for
// concurrent use.
type Wall struct {
	schema *Schema
	// tenantFunc returns the tenant on whose behalf a statement is sent, "" if there is none.
	tenantFunc func(context.Context) string

	mu sync.Mutex
	// found maps each problem to the first statement that has it.
	found map[string]string
	seen  int
}

// New makes the wall for the database of a test. At the end of the test it fails for every
// statement with a problem. tenantFunc may be nil.
func New(t testing.TB, schema *Schema, tenantFunc func(context.Context) string) *Wall {
	t.Helper()
	w := Build(schema, tenantFunc)
	t.Cleanup(func() {
		if report := w.Report(); report != "" {
			t.Error(report)
		}
	})
	return w
}

// Build makes a wall without a test; its user asks for the Report.
func Build(schema *Schema, tenantFunc func(context.Context) string) *Wall {
	return &Wall{schema: schema, tenantFunc: tenantFunc, found: map[string]string{}}
}

// Report describes the problems; it is empty if there are none.
func (w *Wall) Report() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.found) == 0 {
		return ""
	}
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(w.found)) {
		fmt.Fprintf(&b, "tenantwall: %s\n%s\n", what, w.found[what])
	}
	fmt.Fprintf(&b, "Bind every tenant's table to a tenant_id or workspace_id. A statement that rightly serves all "+
		"tenants says so by postgres.AllTenants; these do:\n%s", marks)
	return b.String()
}

// Seen returns how many statements the wall has checked.
func (w *Wall) Seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *Wall) judge(ctx context.Context, sql string, args ...any) {
	verdict := w.schema.Check(sql, args...)
	problems := verdict.Problems
	if w.tenantFunc != nil {
		if caller := w.tenantFunc(ctx); caller != "" {
			for _, tenant := range verdict.Tenants {
				if tenant != caller {
					problems = append(problems, "it asks for another tenant than the caller's")
				}
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	if len(problems) == 0 {
		return
	}
	where, ours := sender()
	if !ours {
		return
	}
	for _, problem := range problems {
		if _, known := w.found[where+": "+problem]; !known {
			w.found[where+": "+problem] = shorten(sql)
		}
	}
}

// sender returns the place in the product that sends the statement; ours is false for tests
// themselves.
func sender() (where string, ours bool) {
	frames := make([]uintptr, 64)
	calls := runtime.CallersFrames(frames[:runtime.Callers(3, frames)])
	for {
		frame, more := calls.Next()
		if path, found := strings.CutPrefix(frame.Function, "parlance.dev/parlance/"); found &&
			!strings.HasPrefix(path, "platform/postgres.") && !strings.HasPrefix(path, "test/tenantwall.") {
			test := strings.HasSuffix(frame.File, "_test.go") || strings.HasPrefix(path, "test/")
			room, _, _ := strings.Cut(path, ".")
			return fmt.Sprintf("%s/%s:%d", room, filepath.Base(frame.File), frame.Line), !test
		}
		if !more {
			return "somewhere", true
		}
	}
}

// longest is how much of a statement a report shows.
const longest = 2000

func shorten(sql string) string {
	if len(sql) > longest {
		return sql[:longest] + " …"
	}
	return sql
}

// TraceQueryStart implements pgx.QueryTracer.
func (w *Wall) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	w.judge(ctx, data.SQL, data.Args...)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (w *Wall) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (w *Wall) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, one := range data.Batch.QueuedQueries {
		w.judge(ctx, one.SQL, one.Arguments...)
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (w *Wall) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (w *Wall) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceCopyFromStart implements pgx.CopyFromTracer. The rows of a COPY are not read: it must set
// the column tenant_id.
func (w *Wall) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	if !slices.Contains(data.ColumnNames, "tenant_id") {
		w.judge(ctx, "COPY "+data.TableName.Sanitize())
	}
	return ctx
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (w *Wall) TraceCopyFromEnd(context.Context, *pgx.Conn, pgx.TraceCopyFromEndData) {}
