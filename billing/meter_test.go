package billing_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/billing"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// metered is a tenant whose tokens and sessions are reported to a fake of Stripe, with the clock of
// the fixture.
type metered struct {
	*fixture
	server   *fake.Server
	usage    *usage.Service
	log      bytes.Buffer
	registry *prometheus.Registry
	used     int
}

func openMetered(t *testing.T) *metered {
	t.Helper()
	m := &metered{fixture: open(t), server: fake.New(t)}
	clock := func() time.Time { return m.now }
	m.server.SetClock(clock)
	m.usage = usage.New(usage.Deps{DB: m.db, Workspaces: m.workspaces, Now: clock})
	m.reports(map[string]string{"tokens": "parlance_tokens", "sessions": "parlance_sessions"})
	return m
}

// reports makes the service report these meters.
func (m *metered) reports(meters map[string]string) {
	m.Helper()
	deps := m.withStripe(m.server).Deps
	deps.Meters, deps.Log = meters, slog.New(slog.NewTextHandler(&m.log, nil))
	m.registry = prometheus.NewRegistry()
	deps.Registry = m.registry
	made, err := billing.New(deps)
	if err != nil {
		m.Fatal(err)
	}
	m.billing = made
	m.workspaces.OnCustomer(made.CustomerChanged)
}

func (m *metered) hasCustomer() *metered {
	m.Helper()
	m.fixture.hasCustomer()
	return m
}

// use counts usage of a meter now, and sums it. Of tokens it is input.
func (m *metered) use(tenant workspaces.Principal, meter usage.Meter, quantity int64) {
	m.Helper()
	m.useAt(tenant, meter, quantity, m.now)
}

func (m *metered) useAt(tenant workspaces.Principal, meter usage.Meter, quantity int64, at time.Time) {
	m.Helper()
	if meter == usage.Tokens {
		meter = usage.InputTokens
	}
	m.used++
	place := usage.Place{Workspace: workspaces.Ref{TenantID: tenant.TenantID, ID: "ws_1"}, At: at}
	err := usage.Add(m.Context(), m.db, place, usage.Record{Source: fmt.Sprintf("turn_%d", m.used), Meter: meter, Quantity: quantity})
	if err == nil {
		err = m.usage.Fold(m.Context(), m.now)
	}
	if err != nil {
		m.Fatal(err)
	}
}

// pass moves the clock.
func (m *metered) pass(d time.Duration) { m.now = m.now.Add(d) }

// report reports after a minute, and wants no error.
func (m *metered) report() {
	m.Helper()
	m.pass(time.Minute)
	if err := m.billing.ReportUsage(m.Context(), m.now); err != nil {
		m.Fatal(err)
	}
}

// events are the events that Stripe has counted, as "customer name value time", sorted.
func (m *metered) events() (lines []string) {
	for _, e := range m.server.MeterEvents() {
		meter := strings.TrimPrefix(e.Name, "parlance_")
		lines = append(lines, fmt.Sprintf("%s %s %d %s", e.Customer, meter, e.Value, e.At.Format(time.DateTime)))
	}
	slices.Sort(lines)
	return lines
}

func (m *metered) wantEvents(when string, want ...string) {
	m.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, m.events()); diff != "" {
		m.Errorf("%s: the events (-want +got):\n%s", when, diff)
	}
}

// in is a time of the clock after d, as events show it.
func (m *metered) in(d time.Duration) string { return m.now.Add(d).Format(time.DateTime) }

func (m *metered) wantProblem(when string, want ...string) {
	m.Helper()
	got := m.overview().UsageProblem
	if len(want) == 0 && got != "" {
		m.Errorf("%s: the problem %q", when, got)
	}
	for _, part := range want {
		if !strings.Contains(got, part) {
			m.Errorf("%s: the problem is %q, want %q in it", when, got, part)
		}
	}
}

// TestUsageIsReported: what is used since the tenant has a customer is reported once, by meter.
func TestUsageIsReported(t *testing.T) {
	t.Parallel()
	m := openMetered(t)
	m.use(m.tenant, usage.Tokens, 1000)
	m.report()
	if seen := m.overview(); !seen.UsageReportedAt.IsZero() || seen.UsageProblem != "" {
		t.Errorf("before there is a customer: %+v", seen)
	}
	m.hasCustomer()
	m.report()
	m.wantEvents("what was used before is not reported")
	m.use(m.tenant, usage.Tokens, 60)
	m.use(m.tenant, usage.OutputTokens, 40)
	m.use(m.tenant, usage.Turns, 3) // no meter for them
	want := []string{"cus_Ada tokens 100 " + m.in(time.Minute)}
	m.report()
	m.wantEvents("the first time", want...)
	if got := m.overview().UsageReportedAt; !got.Equal(m.now) {
		t.Errorf("reported at %s, want %s", got, m.now)
	}
	m.report()
	m.wantEvents("nothing new", want...)
	m.use(m.tenant, usage.Tokens, 7)
	m.use(m.tenant, usage.Sessions, 2)
	want = append(want, "cus_Ada sessions 2 "+m.in(time.Minute), "cus_Ada tokens 7 "+m.in(time.Minute))
	m.report()
	m.wantEvents("only what is new", want...)
	m.wantProblem("all is well")
	restricted := m.tenant
	restricted.WorkspaceID = "ws_1"
	if seen, err := m.billing.Overview(t.Context(), restricted); err != nil || !seen.UsageReportedAt.IsZero() {
		t.Errorf("a key of one workspace sees %s, %v", seen.UsageReportedAt, err)
	}
}

// TestNothingIsReported: without meters nothing is written and nothing sent.
func TestNothingIsReported(t *testing.T) {
	t.Parallel()
	m := openMetered(t)
	m.reports(nil)
	m.hasCustomer()
	m.use(m.tenant, usage.Tokens, 100)
	m.report()
	if calls := m.server.Calls(); len(calls) != 0 {
		t.Errorf("calls: %+v", calls)
	}
	var rows int
	err := m.db.NewRaw("SELECT (SELECT count(*) FROM billing_meters) + (SELECT count(*) FROM billing_meter_events)").Scan(t.Context(), &rows)
	if err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// TestSwitchedOn: what was used before reports were switched on is not reported. What is used while
// they are off is reported when they are on again within a week.
func TestSwitchedOn(t *testing.T) {
	t.Parallel()
	m := openMetered(t)
	on := m.billing.Meters
	m.reports(nil)
	m.hasCustomer()
	m.use(m.tenant, usage.Tokens, 1000)
	m.reports(on)
	m.report()
	m.wantEvents("switched on")
	m.use(m.tenant, usage.Tokens, 5)
	m.reports(nil)
	m.pass(time.Hour)
	m.use(m.tenant, usage.Tokens, 6)
	m.reports(on)
	m.use(m.tenant, usage.Tokens, 7)
	want := []string{"cus_Ada tokens 18 " + m.in(time.Minute)}
	m.report()
	m.wantEvents("on again", want...)
	m.reports(nil)
	m.pass(8 * 24 * time.Hour)
	m.use(m.tenant, usage.Tokens, 1000)
	m.reports(on)
	m.report()
	m.use(m.tenant, usage.Tokens, 8)
	want = append(want, "cus_Ada tokens 8 "+m.in(time.Minute))
	m.report()
	m.wantEvents("on again after a week", want...)
	if log := m.log.String(); strings.Count(log, "begin anew") != 1 {
		t.Errorf("the log: %s", log)
	}
	m.reports(map[string]string{"tokens": "parlance_tokens", "turns": "parlance_turns"})
	m.use(m.tenant, usage.Turns, 3)
	m.report()
	m.wantEvents("one more meter", want...)
	m.use(m.tenant, usage.Turns, 4)
	want = append(want, "cus_Ada turns 4 "+m.in(time.Minute))
	m.report()
	m.wantEvents("from when it was added", want...)
}

// TestCustomerOfUsageChanges: each customer pays for what is used while it is the tenant's.
func TestCustomerOfUsageChanges(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	is := func(customer string) {
		t.Helper()
		if err := m.setCustomer(m.tenant, customer); err != nil {
			t.Fatal(err)
		}
	}
	m.use(m.tenant, usage.Tokens, 1)
	m.report()
	m.use(m.tenant, usage.Tokens, 2)
	first := m.in(0)
	is("cus_Bob")
	m.pass(10 * time.Second)
	m.use(m.tenant, usage.Tokens, 4)
	second := m.in(0)
	is("")
	m.pass(10 * time.Second)
	m.use(m.tenant, usage.Tokens, 8) // nobody's
	is(customer)
	m.pass(10 * time.Second)
	m.use(m.tenant, usage.Tokens, 16)
	m.report() // the former customer's events wait, so what is new waits as well
	m.report()
	m.wantEvents("each its own", "cus_Ada tokens 1 2026-03-01 12:01:00", "cus_Ada tokens 2 "+first, "cus_Bob tokens 4 "+second,
		"cus_Ada tokens 16 "+m.in(0))
}

// TestCustomerByCheckout: usage is reported from the moment at which a checkout names the customer.
func TestCustomerByCheckout(t *testing.T) {
	t.Parallel()
	m := openMetered(t)
	m.use(m.tenant, usage.Tokens, 1)
	m.must(checkout(m.tenant.TenantID, customer, 0))
	m.use(m.tenant, usage.Tokens, 2)
	m.report()
	m.wantEvents("since the checkout", "cus_Ada tokens 2 "+m.in(0))
}

// TestMonthsOfUsage: usage is reported in its month, in the tenant's time zone, as long as Stripe
// takes it.
func TestMonthsOfUsage(t *testing.T) {
	t.Parallel()
	m := openMetered(t)
	zone := "Pacific/Auckland" // 13 hours before UTC in March, 12 since April 5
	if _, err := m.workspaces.UpdateTenant(t.Context(), m.tenant, workspaces.TenantChange{Timezone: &zone}); err != nil {
		t.Fatal(err)
	}
	m.hasCustomer() // and nothing is used in March, until its last minute
	m.now = time.Date(2026, 3, 31, 10, 59, 30, 0, time.UTC)
	m.use(m.tenant, usage.Tokens, 1)
	m.pass(time.Minute)
	m.use(m.tenant, usage.Tokens, 2)
	m.report()
	want := []string{"cus_Ada tokens 1 2026-03-31 10:59:59", "cus_Ada tokens 2 2026-03-31 11:01:30"}
	m.wantEvents("the first minute of April", want...)
	march := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
	for m.now.Before(time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)) {
		m.pass(24 * time.Hour)
		m.report()
	}
	m.now = time.Date(2026, 5, 5, 9, 0, 0, 0, time.UTC)
	m.useAt(m.tenant, usage.Tokens, 4, march) // as of a journal that was replayed late
	m.use(m.tenant, usage.Tokens, 8)
	want = append(want, "cus_Ada tokens 4 2026-03-31 10:59:59", "cus_Ada tokens 8 2026-05-05 09:01:00")
	m.report()
	m.wantEvents("35 days later", want...)
	m.pass(2 * time.Hour)
	m.useAt(m.tenant, usage.Tokens, 16, march)
	m.use(m.tenant, usage.Tokens, 32)
	want = append(want, "cus_Ada tokens 32 "+m.in(time.Minute))
	m.report()
	m.report()
	m.wantEvents("too late for March", want...)
	m.wantProblem("too late for March", "16 tokens of 2026-03 are not reported to Stripe any more")
	if log := m.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "16 tokens of 2026-03") {
		t.Errorf("the log: %s", log)
	}
}

// TestMonthsWithoutWorkers: what was used in the last month and in this one is reported although no
// worker ran at the end of the month.
func TestMonthsWithoutWorkers(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	m.now = time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC)
	m.report()
	m.now = time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC)
	m.useAt(m.tenant, usage.Tokens, 1, time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC))
	m.use(m.tenant, usage.Tokens, 2)
	m.report()
	m.wantEvents("both months", "cus_Ada tokens 1 2026-03-31 23:59:59", "cus_Ada tokens 2 "+m.in(0))
}
