package insights_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture has two tenants.
type fixture struct {
	*insights.Service
	db      *postgres.DB
	tenancy *workspaces.Service
	usage   *usage.Service
	// ref is the first tenant's workspace, caller its key; other is another tenant's workspace.
	ref, other workspaces.Ref
	caller     workspaces.Principal
	now        time.Time
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{db: pgtest.Open(t), now: time.Date(2026, 11, 16, 12, 30, 0, 0, time.UTC)}
	now := func() time.Time { return f.now }
	client, err := redis.Open(redis.Config{URL: redistest.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() }) // only read
	f.tenancy = workspaces.New(workspaces.Deps{DB: f.db, Plans: workspaces.Plans{"p": {Name: "p"}}})
	f.usage = usage.New(usage.Deps{DB: f.db, Workspaces: f.tenancy, Now: now})
	f.Service = insights.New(insights.Deps{
		DB: f.db, Redis: client, Workspaces: f.tenancy, Usage: f.usage, Currency: "EUR", Now: now,
	})
	for _, ref := range []*workspaces.Ref{&f.ref, &f.other} {
		made, err := f.tenancy.CreateTenant(t.Context(), "T", "p")
		if err != nil {
			t.Fatal(err)
		}
		*ref = workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	}
	f.caller = workspaces.Principal{TenantID: f.ref.TenantID, Scope: workspaces.ScopeAdmin}
	return f
}

// exec runs a statement for a workspace: ?0 is the tenant, ?1 the workspace, ?2 the present time.
func (f *fixture) exec(t testing.TB, ref workspaces.Ref, statement string, args ...any) {
	t.Helper()
	raw := postgres.RawForAllTenants("a test fills the tables", statement)
	if _, err := f.db.NewRaw(raw, append([]any{ref.TenantID, ref.ID, f.now}, args...)...).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// setZone sets the first tenant's time zone.
func (f *fixture) setZone(t testing.TB, zone string) {
	t.Helper()
	f.exec(t, f.ref, "UPDATE tenants SET timezone = ?3 WHERE id = ?0", zone)
}

// fold adds records to the first tenant's usage and sums them.
func (f *fixture) fold(t testing.TB, ref workspaces.Ref, agent string, at time.Time, records ...usage.Record) {
	t.Helper()
	if err := usage.Add(t.Context(), f.db, usage.Place{Workspace: ref, AgentID: agent, At: at}, records...); err != nil {
		t.Fatal(err)
	}
	if err := f.usage.Fold(t.Context(), f.now); err != nil {
		t.Fatal(err)
	}
}

// activity is Activity, which must not fail.
func (f *fixture) activity(t testing.TB, p insights.ActivityParams) insights.Activity {
	t.Helper()
	activity, err := f.Activity(t.Context(), f.caller, p)
	if err != nil {
		t.Fatal(err)
	}
	return activity
}

// refuses fails unless an error has the reason.
func refuses(t *testing.T, err error, reason fault.Reason) {
	t.Helper()
	if !fault.IsReason(err, reason) {
		t.Errorf("got %v, want %s", err, reason)
	}
}

// moment reads a time of RFC 3339.
func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
