package billing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/usage"
)

// stuck reports until Stripe holds the request, and stops the worker there: nothing is written
// afterwards, as when the worker is killed.
func (m *metered) stuck(hang func() <-chan struct{}) {
	m.Helper()
	m.pass(time.Minute)
	ctx, kill := context.WithCancel(m.Context())
	held := hang()
	ended := make(chan error, 1)
	now := m.now
	go func() { ended <- m.billing.ReportUsage(ctx, now) }()
	<-held
	kill()
	if err := <-ended; err == nil {
		m.Error("the worker was stopped, and says nothing")
	}
	m.server.Release()
}

// TestKilledWhileReporting: a worker that is killed before Stripe has the event, or after it and
// before that is written down, leaves the event to the next, which sends it again as it was.
func TestKilledWhileReporting(t *testing.T) {
	t.Parallel()
	for name, hang := range map[string]func(*metered) func() <-chan struct{}{
		"before Stripe has it": func(m *metered) func() <-chan struct{} { return m.server.Hang },
		"before it is written": func(m *metered) func() <-chan struct{} { return m.server.Hold },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := openMetered(t).hasCustomer()
			m.use(m.tenant, usage.Tokens, 100)
			want := []string{"cus_Ada tokens 100 " + m.in(time.Minute)}
			m.stuck(hang(m))
			m.use(m.tenant, usage.Tokens, 11)
			calls := len(m.server.Calls())
			m.report()
			if got := len(m.server.Calls()); got != calls {
				t.Errorf("%d calls, %d before: another worker has the event for two minutes", got, calls)
			}
			m.report()
			m.report()
			m.wantEvents("after both", append(want, "cus_Ada tokens 11 "+m.in(0))...)
			m.wantProblem("after both")
		})
	}
}

// TestUnknownForADay: Stripe drops repetitions for a day. What it may have since then is not sent
// again, and a person is told.
func TestUnknownForADay(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"it was taken": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := openMetered(t).hasCustomer()
			m.use(m.tenant, usage.Tokens, 100)
			hang, want := m.server.Hang, []string(nil)
			if taken {
				hang, want = m.server.Hold, []string{"cus_Ada tokens 100 " + m.in(time.Minute)}
			}
			m.stuck(hang)
			m.pass(24 * time.Hour)
			m.use(m.tenant, usage.Tokens, 11)
			m.report()
			m.report()
			m.wantEvents("a day later", append(want, "cus_Ada tokens 11 "+m.in(0))...)
			m.wantProblem("a day later", "100 tokens of 2026-03 are not reported to Stripe any more")
			if log := m.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "usage=\"100 tokens of 2026-03\"") ||
				!strings.Contains(log, "stripe_identifier="+m.server.Calls()[0].Form.Get("identifier")) == taken {
				t.Errorf("the log: %s", log)
			}
			m.wantCounted("given_up", 1)
		})
	}
}

// wantCounted looks at the metric.
func (m *metered) wantCounted(outcome string, want float64) {
	m.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		m.Fatal(err)
	}
	for _, family := range families {
		for _, one := range family.GetMetric() {
			if one.GetLabel()[0].GetValue() == outcome && one.GetCounter().GetValue() == want {
				return
			}
		}
	}
	m.Errorf("the outcome %s was not counted %g times: %v", outcome, want, families)
}

// TestStripeIsAway: while Stripe is in trouble the same event is tried again, less and less often,
// and nothing else; afterwards everything is reported.
func TestStripeIsAway(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	other := m.newTenant("free")
	if err := m.setCustomer(other, "cus_Bob"); err != nil {
		t.Fatal(err)
	}
	m.use(m.tenant, usage.Tokens, 100)
	m.use(other, usage.Tokens, 200)
	m.server.Fail(slowly(503, 60)...)
	var tried []int
	for minute := range 60 {
		m.pass(time.Minute)
		before := len(m.server.Calls())
		if err := m.billing.ReportUsage(t.Context(), m.now); (err != nil) != (len(m.server.Calls()) > before) {
			t.Errorf("minute %d: %v", minute, err)
		}
		if len(m.server.Calls()) > before+1 {
			t.Errorf("minute %d: more than one call", minute)
		}
		if len(m.server.Calls()) > before {
			tried = append(tried, minute)
		}
	}
	if want := []int{0, 1, 2, 3, 4, 6, 7, 10, 15, 18, 31, 34}; !cmp.Equal(tried, want) {
		t.Errorf("tried in the minutes %v, want %v", tried, want)
	}
	m.wantProblem("while it is away", "Stripe has not taken 100 tokens of 2026-03", "503")
	m.server.Fail()
	m.use(m.tenant, usage.Tokens, 7)
	m.pass(time.Hour)
	m.report()
	m.report()
	m.wantEvents("when it is back", "cus_Ada tokens 100 2026-03-01 12:01:00", "cus_Bob tokens 200 2026-03-01 12:01:00",
		"cus_Ada tokens 7 "+m.in(0))
	m.wantProblem("when it is back")
	if log := m.log.String(); log != "" {
		t.Errorf("the log: %s", log)
	}
}

// slowly is a status many times.
func slowly(status, times int) []int {
	statuses := make([]int, times)
	for i := range statuses {
		statuses[i] = status
	}
	return statuses
}

// TestNotTakenForDays: what Stripe is known not to have is never given up, however long it takes,
// because it cannot be counted twice.
func TestNotTakenForDays(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusForbidden, http.StatusUnauthorized} {
		m := openMetered(t).hasCustomer()
		m.use(m.tenant, usage.Tokens, 100)
		want := "cus_Ada tokens 100 " + m.in(2*time.Hour)
		m.server.Fail(slowly(status, 30)...)
		for range 30 {
			m.pass(2 * time.Hour)
			if err := m.billing.ReportUsage(t.Context(), m.now); err == nil {
				t.Fatal("no error")
			}
		}
		m.pass(2 * time.Hour)
		m.report()
		m.wantEvents("days later", want)
		m.wantCounted("not_taken", 30)
	}
}

// TestStripeRefuses: what Stripe refuses waits, is said, and is tried again each hour; others are
// not kept waiting.
func TestStripeRefusesUsage(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	other := m.newTenant("free")
	if err := m.setCustomer(other, "cus_Bob"); err != nil {
		t.Fatal(err)
	}
	m.server.Gone(customer)
	m.use(m.tenant, usage.Tokens, 100)
	m.use(other, usage.Tokens, 200)
	at := m.in(time.Minute)
	m.report()
	m.wantEvents("one is refused", "cus_Bob tokens 200 "+at)
	m.wantProblem("one is refused", "Stripe refuses 100 tokens of 2026-03 for the customer cus_Ada", "No such customer: 'cus_Ada'")
	for range 59 {
		m.report()
	}
	if got := len(m.server.Calls()); got != 2 {
		t.Errorf("%d calls within the hour", got)
	}
	m.pass(48 * time.Hour)
	m.report()
	if got := strings.Count(m.log.String(), "level=WARN"); got != 1 {
		t.Errorf("%d warnings: %s", got, m.log.String())
	}
	m.server.Gone()
	m.use(m.tenant, usage.Tokens, 7)
	m.pass(time.Hour)
	m.report()
	m.report()
	m.wantEvents("the customer is there", "cus_Ada tokens 100 "+at, "cus_Bob tokens 200 "+at, "cus_Ada tokens 7 "+m.in(0))
	m.wantProblem("the customer is there")
	m.wantCounted("refused", 2)
}

// TestMeterIsRenamed: what was refused because of a wrong event name goes to the right one.
func TestMeterIsRenamed(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	m.server.Gone("parlance_tokens")
	m.use(m.tenant, usage.Tokens, 100)
	at := m.in(time.Minute)
	m.report()
	m.wantProblem("the wrong name", "No active meter found for event name parlance_tokens")
	m.reports(map[string]string{"tokens": "parlance_words"})
	m.pass(time.Hour)
	m.report()
	m.wantEvents("the right name", "cus_Ada words 100 "+at)
}

// TestRefusedForever: what a customer that is gone owes is given up when it is too old for Stripe.
// What is used with another customer is reported.
func TestRefusedForever(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	m.server.Gone(customer)
	m.use(m.tenant, usage.Tokens, 100)
	m.report()
	if err := m.setCustomer(m.tenant, "cus_Bob"); err != nil {
		t.Fatal(err)
	}
	m.use(m.tenant, usage.Tokens, 7)
	m.report()
	want := "cus_Bob tokens 7 " + m.in(0)
	m.wantEvents("another customer", want)
	m.pass(34 * 24 * time.Hour)
	m.report()
	m.wantProblem("34 days later", "Stripe refuses 100 tokens of 2026-03 for the customer cus_Ada")
	m.pass(24 * time.Hour)
	m.report()
	m.wantProblem("35 days later", "100 tokens of 2026-03 are not reported to Stripe any more")
	m.wantEvents("35 days later", want)
}

// TestReportedExactly: four workers report what a tenant uses, and are killed at any moment,
// while Stripe fails before and after it has done its work, and the customer changes. All that was
// used is counted once, for the customer of its time.
func TestReportedExactly(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	var seconds atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(seconds.Load()) * time.Second) }
	deps := m.billing.Deps
	deps.Now, deps.Registry = clock, nil
	service, err := billing.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	m.workspaces.OnCustomer(service.CustomerChanged)
	m.server.SetClock(clock)
	working, stop := context.WithCancel(t.Context())
	defer stop()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for working.Err() == nil {
				ctx, kill := context.WithTimeout(working, time.Duration(rand.IntN(20_000))*time.Microsecond)
				_ = service.ReportUsage(ctx, clock()) // it may have been killed
				kill()
			}
		})
	}
	payer, want := customer, map[string]int64{}
	for i := range 200 {
		want[payer] += int64(i)
		m.use(m.tenant, usage.Tokens, int64(i))
		seconds.Add(30)
		switch i % 10 {
		case 3:
			m.server.Lose(2)
		case 6:
			m.server.Fail(503, 429, 500)
		case 9:
			payer = fmt.Sprintf("cus_%d", i)
			if err := m.setCustomer(m.tenant, payer); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()
	workers.Wait()
	for range 20 {
		seconds.Add(3600)
		_ = service.ReportUsage(t.Context(), clock()) // Stripe may still fail
	}
	got := map[string]int64{}
	for _, e := range m.server.MeterEvents() {
		got[e.Customer] += e.Value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens by customer (-want +got):\n%s", diff)
	}
	t.Logf("%d calls, %d events", len(m.server.Calls()), len(m.server.MeterEvents()))
}

// TestCustomerChangesWhileReporting: a change of the customer that waited for a worker counts
// nothing again that the worker has made an event of meanwhile.
func TestCustomerChangesWhileReporting(t *testing.T) {
	t.Parallel()
	m := openMetered(t).hasCustomer()
	m.use(m.tenant, usage.Tokens, 1)
	worker, err := m.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	does := func(statement string) {
		t.Helper()
		if _, err := worker.NewRaw(statement, m.tenant.TenantID).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	does("SELECT FROM billing_meters WHERE tenant_id = ? FOR UPDATE")
	changed := make(chan error, 1)
	go func() { changed <- m.setCustomer(m.tenant, "cus_Bob") }()
	harness.Await(t, harness.Patience, "the change waits", func() bool {
		var waits bool
		err := m.db.NewRaw("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").
			Scan(t.Context(), &waits)
		return err == nil && waits
	})
	m.use(m.tenant, usage.Tokens, 10)
	does(`INSERT INTO billing_meter_events (tenant_id, id, meter, month, customer_id, name, quantity, at, attempts, due_at, problem)
		SELECT u.tenant_id, gen_random_uuid(), u.meter, u.month, 'cus_Ada', '', u.quantity, '2026-03-01 12:00:00Z', 0, '2026-03-01 12:00:00Z', ''
		FROM usage_months AS u WHERE u.tenant_id = ? AND u.meter = 'tokens'`)
	does("UPDATE billing_meters SET counted = 11 WHERE tenant_id = ? AND meter = 'tokens'")
	if err := worker.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Fatal(err)
	}
	m.use(m.tenant, usage.Tokens, 100)
	m.report()
	m.wantEvents("each once", "cus_Ada tokens 11 2026-03-01 12:00:00", "cus_Bob tokens 100 "+m.in(0))
}
