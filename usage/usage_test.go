package usage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture is a tenant on a plan with monthly quotas.
type fixture struct {
	*usage.Service
	db      *postgres.DB
	tenancy *workspaces.Service
	ref     workspaces.Ref
	now     time.Time
	// used is how many things were used.
	used int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{db: pgtest.Open(t), now: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)}
	plans := workspaces.Plans{
		"free":   {Name: "free", KBStorageBytes: 1000, KBUploadBytes: 1, Monthly: map[string]int64{"turns": 1000, "tokens": 100}},
		"more":   {Name: "more", KBStorageBytes: 1000, KBUploadBytes: 1, Monthly: map[string]int64{"turns": 5000, "tokens": 100}},
		"a most": {Name: "a most", KBStorageBytes: 1000, KBUploadBytes: 1},
	}
	f.tenancy = workspaces.New(workspaces.Deps{DB: f.db, Plans: plans})
	f.Service = usage.New(usage.Deps{DB: f.db, Workspaces: f.tenancy, Now: func() time.Time { return f.now }})
	made, err := f.tenancy.CreateTenant(t.Context(), "T", "free")
	if err != nil {
		t.Fatal(err)
	}
	f.ref = workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	return f
}

func (f *fixture) add(ctx context.Context, at time.Time, records ...usage.Record) error {
	return usage.Add(ctx, f.db, usage.Place{Workspace: f.ref, AgentID: "agt_a", At: at}, records...)
}

func (f *fixture) fold(t *testing.T) {
	t.Helper()
	if err := f.Fold(t.Context(), f.now); err != nil {
		t.Fatal(err)
	}
}

// use counts something that was used now, and sums it.
func (f *fixture) use(t *testing.T, meter usage.Meter, quantity int64) {
	t.Helper()
	f.used++
	if err := f.add(t.Context(), f.now, usage.Record{Source: fmt.Sprint(f.used), Meter: meter, Quantity: quantity}); err != nil {
		t.Fatal(err)
	}
	f.fold(t)
}

// store has a workspace store so many bytes.
func (f *fixture) store(t *testing.T, workspace workspaces.ID, bytes int64) {
	t.Helper()
	if _, err := f.db.NewRaw("UPDATE workspaces SET kb_used_bytes = ? WHERE id = ?", bytes, workspace).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	place := usage.Place{Workspace: workspaces.Ref{TenantID: f.ref.TenantID, ID: workspace}, At: f.now}
	record := usage.Record{Source: string(workspace), Meter: usage.KBBytes, Quantity: bytes}
	if err := usage.Add(t.Context(), f.db, place, record); err != nil {
		t.Fatal(err)
	}
	f.fold(t)
}

func (f *fixture) setPlan(t *testing.T, plan string) {
	t.Helper()
	if _, err := f.tenancy.SetPlan(t.Context(), f.ref.TenantID, plan); err != nil {
		t.Fatal(err)
	}
}

// month returns the sums of a month by meter.
func (f *fixture) month(t *testing.T, month string) map[usage.Meter]usage.Sum {
	t.Helper()
	m, err := f.Month(t.Context(), f.ref.TenantID, month, usage.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[usage.Meter]usage.Sum{}
	for _, sum := range m.Sums {
		sums[sum.Meter] = sum
	}
	return sums
}

// thresholds are the percents of usage.threshold that were announced, in order.
func (f *fixture) thresholds(t *testing.T) string {
	t.Helper()
	var all []string
	err := f.db.NewRaw(`SELECT (d.data ->> 'meter') || ' ' || (d.data ->> 'threshold_percent') || (d.data ->> 'alert_id')
		FROM events AS e, LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data) AS d
		WHERE e.type = 'usage.threshold' ORDER BY e.seq`).Scan(t.Context(), &all)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// TestExact: a thousand things that are counted twice each, side by side, while four workers sum
// them and are stopped at any moment, are counted once, and each threshold is announced once.
func TestExact(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const things = 1000
	counting, stop := context.WithCancel(t.Context())
	defer stop()
	var workers, writers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for counting.Err() == nil {
				ctx, kill := context.WithTimeout(counting, time.Duration(rand.IntN(8000))*time.Microsecond)
				_ = f.Fold(ctx, f.now) // it may have been killed
				_ = f.Sweep(ctx, f.now)
				kill()
			}
		})
	}
	for writer := range 8 {
		writers.Go(func() {
			for i := range things * 2 / 8 {
				id := fmt.Sprintf("turn_%d", (writer%4)*things/4+i)
				if err := f.add(t.Context(), f.now, usage.Record{Source: id, Meter: usage.Turns, Quantity: 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	workers.Wait()
	f.fold(t)
	if got := f.month(t, "")[usage.Turns].Quantity; got != things {
		t.Errorf("counted %d, want %d", got, things)
	}
	if got := f.thresholds(t); got != "turns 50, turns 80, turns 100" {
		t.Errorf("announced %s", got)
	}
}

// TestMonths: a day and a month are those of the tenant's time zone.
func TestMonths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.db.NewRaw("UPDATE tenants SET timezone = 'Asia/Tokyo' WHERE id = ?", f.ref.TenantID).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, at := range []string{"2026-10-31T14:59:59Z", "2026-10-31T15:00:00Z", "2026-11-30T14:59:59Z", "2026-11-30T15:00:00Z"} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.add(t.Context(), moment, usage.Record{Source: fmt.Sprint(i), Meter: usage.Turns, Quantity: 1}); err != nil {
			t.Fatal(err)
		}
	}
	f.fold(t)
	for month, want := range map[string]int64{"2026-10": 1, "2026-11": 2, "2026-12": 1, "": 2} {
		if got := f.month(t, month)[usage.Turns].Quantity; got != want {
			t.Errorf("%q has %d turns, want %d", month, got, want)
		}
	}
	rows, err := f.Days(t.Context(), f.ref.TenantID, usage.DaysParams{
		From: "2026-10-31", To: "2026-12-01", GroupBy: []usage.Group{usage.ByDay, usage.ByAgent},
	})
	if err != nil || len(rows) != 4 || rows[0].Day != "2026-10-31" || rows[1].Day != "2026-11-01" || rows[0].AgentID != "agt_a" {
		t.Errorf("by day: %+v, %v", rows, err)
	}
}

// TestQuotas: what is used up is refused with the plan that has more, a larger plan applies at
// once, and a smaller one deletes nothing.
func TestQuotas(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	admit := func(meters ...usage.Meter) error {
		f.now = f.now.Add(time.Minute) // longer than anything is kept
		return f.Admit(t.Context(), f.ref.TenantID, meters...)
	}
	use := func(turns, tokens int64) {
		source := fmt.Sprint(turns, tokens)
		err := f.add(t.Context(), f.now, usage.Record{Source: source, Meter: usage.Turns, Quantity: turns},
			usage.Record{Source: source, Meter: usage.InputTokens, Model: "a/b", Quantity: tokens, Cost: "0.25"},
			usage.Record{Source: source, Meter: usage.OutputTokens, Model: "a/b", Quantity: 2 * tokens, Cost: "0.5"})
		if err != nil {
			t.Fatal(err)
		}
		f.fold(t)
	}
	use(999, 0)
	if err := admit(usage.Turns, usage.Sessions, usage.Tokens); err != nil {
		t.Errorf("one turn is left: %v", err)
	}
	use(1, 0)
	refused := fault.From(admit(usage.Sessions, usage.Turns))
	if refused == nil || refused.Reason != fault.QuotaUsage || refused.Meta["plan_with_more"] != "more" || refused.Meta["limit"] != "1000" ||
		!strings.Contains(refused.Message, `"more"`) || refused.Meta["resets_at"] != "2026-12-01T00:00:00Z" {
		t.Errorf("used up: %+v", refused)
	}
	if err := admit(usage.Tokens); err != nil {
		t.Errorf("tokens: %v", err)
	}
	if _, err := f.tenancy.SetPlan(t.Context(), f.ref.TenantID, "more"); err != nil {
		t.Fatal(err)
	}
	if err := admit(usage.Turns); err != nil {
		t.Errorf("on a larger plan: %v", err)
	}
	use(2, 40)
	if refused := fault.From(admit(usage.Tokens)); refused == nil || refused.Meta["plan_with_more"] != "a most" {
		t.Errorf("tokens are used up: %+v", refused)
	}
	if _, err := f.tenancy.SetPlan(t.Context(), f.ref.TenantID, "free"); err != nil {
		t.Fatal(err)
	}
	sums := f.month(t, "")
	if tokens := sums[usage.Tokens]; sums[usage.Turns].Quantity != 1002 || tokens.Quantity != 120 || tokens.Cost != "0.75" ||
		tokens.Percent() != 120 {
		t.Errorf("the month: %+v", sums)
	}
	if admit(usage.Turns) == nil {
		t.Error("a smaller plan lets everything through")
	}
}

// TestRaisedQuota: a larger quota is announced again as it is used up, in steps or at once.
func TestRaisedQuota(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		used []int64
		want string
	}{
		"step by step": {[]int64{1, 1500, 1}, "turns 50, turns 80, turns 100, turns 50"},
		"at once":      {[]int64{4000}, "turns 50, turns 80, turns 100, turns 50, turns 80, turns 100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.use(t, usage.Turns, 1000)
			f.setPlan(t, "more")
			for _, turns := range row.used {
				f.use(t, usage.Turns, turns)
			}
			f.setPlan(t, "free")
			f.use(t, usage.Turns, 1)
			f.setPlan(t, "more")
			f.use(t, usage.Turns, 1)
			if got := f.thresholds(t); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestReachedWithoutUse: what is used already is announced once when the plan becomes smaller, when
// an alert is made, and of what is stored in each month.
func TestReachedWithoutUse(t *testing.T) {
	t.Parallel()
	t.Run("SmallerPlan", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.setPlan(t, "more")
		f.use(t, usage.Turns, 2000)
		f.setPlan(t, "free")
		f.wantSwept(t, "turns 50, turns 80, turns 100")
		f.now = f.now.AddDate(0, 1, 0)
		f.wantSwept(t, "turns 50, turns 80, turns 100")
	})
	t.Run("NewAlert", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.use(t, usage.Turns, 100)
		made, err := f.CreateAlert(t.Context(), f.ref.TenantID, usage.Alert{Meter: usage.Turns, Quantity: 100})
		if err != nil {
			t.Fatal(err)
		}
		f.wantSwept(t, "turns 100"+string(made.ID))
	})
	t.Run("Stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.store(t, f.ref.ID, 500)
		f.wantSwept(t, "kb_bytes 50")
		f.now = f.now.AddDate(0, 1, 0)
		f.wantSwept(t, "kb_bytes 50, kb_bytes 50")
	})
}

// wantSwept sweeps in four workers and then once more, and checks what was announced altogether.
func (f *fixture) wantSwept(t *testing.T, want string) {
	t.Helper()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			if err := f.Sweep(t.Context(), f.now); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	if err := f.Sweep(t.Context(), f.now); err != nil {
		t.Error(err)
	}
	if got := f.thresholds(t); got != want {
		t.Errorf("announced %s, want %s", got, want)
	}
}

// TestFullWorkspaces: the quota of kb_bytes is that of each workspace, and so is its announcement.
func TestFullWorkspaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	admin := workspaces.Principal{TenantID: f.ref.TenantID, Scope: workspaces.ScopeAdmin}
	second, err := f.tenancy.CreateWorkspace(t.Context(), admin, "second")
	if err != nil {
		t.Fatal(err)
	}
	f.store(t, f.ref.ID, 1000)
	f.store(t, second.ID, 800)
	if got, want := f.thresholds(t), "kb_bytes 50, kb_bytes 80, kb_bytes 100, kb_bytes 50, kb_bytes 80"; got != want {
		t.Errorf("announced %s, want %s", got, want)
	}
}

// TestAlerts: an alert is announced once a month, at a quantity or at a part of the quota.
func TestAlerts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := map[string]usage.AlertID{}
	for name, alert := range map[string]usage.Alert{
		"sessions": {Meter: usage.Sessions, Quantity: 3}, "turns": {Meter: usage.Turns, Percent: 90},
		"bytes": {Meter: usage.KBBytes, Percent: 10},
	} {
		stored, err := f.CreateAlert(t.Context(), f.ref.TenantID, alert)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = stored.ID
	}
	for name, alert := range map[string]usage.Alert{
		"both": {Meter: usage.Turns, Quantity: 1, Percent: 1}, "neither": {Meter: usage.Turns}, "meter": {Meter: "none", Quantity: 1},
	} {
		if _, err := f.CreateAlert(t.Context(), f.ref.TenantID, alert); fault.ReasonOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	use := func(meter usage.Meter, source string, n int64, at time.Time) {
		if err := f.add(t.Context(), at, usage.Record{Source: source, Meter: meter, Quantity: n}); err != nil {
			t.Fatal(err)
		}
		f.fold(t)
	}
	use(usage.Sessions, "1", 2, f.now)
	use(usage.Sessions, "2", 1, f.now)
	use(usage.Sessions, "3", 9, f.now)
	use(usage.Turns, "4", 900, f.now)
	f.now = f.now.AddDate(0, 1, 0)
	use(usage.Sessions, "5", 3, f.now)
	want := fmt.Sprintf("sessions 100%s, turns 50, turns 80, turns 90%s, sessions 100%s", made["sessions"], made["turns"], made["sessions"])
	if got := f.thresholds(t); got != want {
		t.Errorf("announced %s, want %s", got, want)
	}
	if err := f.DeleteAlert(t.Context(), f.ref.TenantID, made["turns"]); err != nil {
		t.Error(err)
	}
	if err := f.DeleteAlert(t.Context(), "ten_other", made["bytes"]); fault.ReasonOf(err) != fault.ResourceNotFound {
		t.Errorf("another tenant's: %v", err)
	}
	if left, err := f.Alerts(t.Context(), f.ref.TenantID); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestForecast: a limit is reached on a day of the month at its present pace, or not at all.
func TestForecast(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC) // ten of thirty days
	for _, row := range []struct {
		value, limit, end int64
		on                string
	}{
		{100, 200, 300, "2026-11-21"},
		{100, 300, 300, ""},
		{100, 299, 300, "2026-11-30"},
		{100, 100, 300, "2026-11-11"},
		{0, 100, 0, ""},
		{100, 0, 300, ""},
		{1, 1 << 60, 3, ""},
	} {
		f := usage.Forecast{Value: row.value, Limit: row.limit, Month: "2026-11-01"}
		if on, end := f.ReachedOn(now), f.AtEnd(now); on != row.on || end != row.end {
			t.Errorf("%d of %d: %s and %d, want %s and %d", row.value, row.limit, on, end, row.on, row.end)
		}
	}
}
