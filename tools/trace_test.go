package tools_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// slugs of traces, in their order.
func slugs(calls []tools.Call) []string {
	out := []string{}
	for _, c := range calls {
		out = append(out, c.Slug)
	}
	return out
}

// TestTraceFilters narrows the traces of two tools in two sessions by each field.
func TestTraceFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/good", httptool.Step{Body: "ok"})
	f.endpoint.Script("/bad", httptool.Step{Status: 404})
	params := f.orderParams("/good")
	params.Slug = "good"
	good := f.create(t, params)
	params = f.orderParams("/bad")
	params.Slug = "bad"
	bad := f.create(t, params)
	goodEntry, badEntry := f.attached(t, good, 0), f.attached(t, bad, 0)
	f.call(t, goodEntry, `{}`, nil)
	middle := time.Now()
	f.call(t, badEntry, `{}`, nil)
	f.Call(t.Context(), tools.CallParams{Ref: f.ref, SessionID: "ses_2", Entry: badEntry})
	if _, err := f.Run(t.Context(), f.ref, tools.RunParams{ToolID: good.ID}); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		filter tools.CallFilter
		want   []string
	}{
		{"none", tools.CallFilter{}, []string{"good", "bad", "bad", "good"}},
		{"tool", tools.CallFilter{ToolID: bad.ID}, []string{"bad", "bad"}},
		{"session", tools.CallFilter{SessionID: "ses_1"}, []string{"bad", "good"}},
		{"agent", tools.CallFilter{AgentID: f.agent.ID}, []string{"bad", "bad", "good"}},
		{"another agent", tools.CallFilter{AgentID: "agt_other"}, []string{}},
		{"succeeded", tools.CallFilter{Status: tools.CallSucceeded}, []string{"good", "good"}},
		{"failed", tools.CallFilter{Status: tools.CallFailed, SessionID: "ses_2"}, []string{"bad"}},
		{"code", tools.CallFilter{ErrorCode: failure.HTTPStatus}, []string{"bad", "bad"}},
		{"another code", tools.CallFilter{ErrorCode: failure.Timeout}, []string{}},
		{"after", tools.CallFilter{StartedAfter: middle}, []string{"good", "bad", "bad"}},
		{"before", tools.CallFilter{StartedBefore: middle}, []string{"good"}},
	}
	for _, row := range rows {
		calls, _, err := f.ListAllCalls(t.Context(), f.ref, row.filter, postgres.PageParams{})
		if diff := cmp.Diff(row.want, slugs(calls)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", row.name, err, diff)
		}
	}
	ofSession, _, err := f.ListCallsOfSession(
		t.Context(), f.ref, tools.CallFilter{SessionID: "ses_1", Status: tools.CallFailed}, postgres.PageParams{},
	)
	if err != nil || !slices.Equal(slugs(ofSession), []string{"bad"}) {
		t.Errorf("the session's failures: %v, %v", slugs(ofSession), err)
	}
	if calls, _, err := f.ListAllCalls(t.Context(), f.tenant(t, "pro"), tools.CallFilter{}, postgres.PageParams{}); err != nil ||
		len(calls) != 0 {
		t.Errorf("another tenant sees %d traces, %v", len(calls), err)
	}

	_, token, err := f.ListAllCalls(t.Context(), f.ref, tools.CallFilter{Status: tools.CallFailed}, postgres.PageParams{Size: 1})
	if err != nil || token == "" {
		t.Fatalf("no second page: %v", err)
	}
	_, _, err = f.ListAllCalls(t.Context(), f.ref, tools.CallFilter{}, postgres.PageParams{Size: 1, Token: token})
	wantFault(t, err, fault.InvalidRequest, "page_token")
	_, _, err = f.ListAllCalls(t.Context(), f.ref, tools.CallFilter{Status: "lost"}, postgres.PageParams{})
	wantFault(t, err, fault.InvalidRequest, "status")
	_, _, err = f.ListAllCalls(
		t.Context(), f.ref, tools.CallFilter{Status: tools.CallSucceeded, ErrorCode: failure.Timeout}, postgres.PageParams{},
	)
	wantFault(t, err, fault.InvalidRequest, "error_code")
	_, _, err = f.ListAllCalls(t.Context(), f.ref, tools.CallFilter{StartedAfter: middle, StartedBefore: middle}, postgres.PageParams{})
	wantFault(t, err, fault.InvalidRequest, "started_before")

	// The traces of a deleted tool stay, where they can be found.
	if err := f.Delete(t.Context(), f.ref, bad.ID); err != nil {
		t.Fatal(err)
	}
	if calls, _, err := f.ListAllCalls(t.Context(), f.ref, tools.CallFilter{ToolID: bad.ID}, postgres.PageParams{}); err != nil ||
		len(calls) != 2 {
		t.Errorf("%d traces of the deleted tool, %v", len(calls), err)
	}
}

// TestSweepOfTraces deletes what is past its time, in more than one batch, and nothing else.
func TestSweepOfTraces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.node(30 * 24 * time.Hour)
	entry := f.attached(t, f.create(t, f.orderParams("/x")), 5)
	f.call(t, entry, `{}`, nil)
	// Another tenant's old traces are deleted as well, as the sweep has no tenant.
	f.must(t, `INSERT INTO tool_calls (id, tenant_id, workspace_id, tool_id, slug, input, output, started_at)
		SELECT 'call_' || n, ?, ?, ?, 'old', '{}', '', now() - interval '31 days' 
		FROM generate_series(1, 4001) AS n`, f.ref.TenantID, f.ref.ID, entry.Tool.ID)
	f.must(t, `INSERT INTO tool_call_counts (tenant_id, session_id, tool_id, calls, updated_at)
		VALUES (?, 'ses_old', ?, 5, now() - interval '4 days')`, f.ref.TenantID, entry.Tool.ID)
	if err := s.Sweep(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, counts := f.rows(t, "tool_calls"), f.rows(t, "tool_call_counts"); n != 1 || counts != 1 {
		t.Errorf("%d traces and %d counts are left, want the new one of each", n, counts)
	}
	if err := f.node(0).Sweep(t.Context(), time.Now().Add(1000*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := f.rows(t, "tool_calls"); n != 1 {
		t.Errorf("%d traces are left of those that are kept for ever", n)
	}
}

// node is another process over the fixture's database.
func (f *fixture) node(retention time.Duration) *tools.Service {
	deps := f.deps
	deps.TraceRetention = retention
	return tools.New(deps)
}

func (f *fixture) must(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := f.db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) rows(t *testing.T, table string) (n int) {
	t.Helper()
	if err := f.db.NewRaw("SELECT count(*) FROM "+table).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}
