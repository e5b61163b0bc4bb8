package billing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/payment/stripe"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

const (
	proPrice      = "price_pro_monthly"
	proYearly     = "price_pro_yearly"
	businessPrice = "price_business"
	customer      = "cus_Ada"
	subscription  = "sub_Ada"
	grace         = 7 * 24 * time.Hour
)

// start is when the subscriptions of these tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func plans() workspaces.Plans {
	made := workspaces.DefaultPlans()
	pro, business := made["pro"], made["enterprise"]
	pro.StripePriceIDs, business.Name, business.StripePriceIDs = []string{proPrice, proYearly}, "business", []string{businessPrice}
	made["pro"], made["business"] = pro, business
	return made
}

// fixture is a tenant with a customer, and the service with a clock that the test moves.
type fixture struct {
	*testing.T
	db         *postgres.DB
	workspaces *workspaces.Service
	billing    *billing.Service
	tenant     workspaces.Principal
	now        time.Time
	events     int
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, db: pgtest.Open(t), now: start}
	clock := func() time.Time { return f.now }
	f.workspaces = workspaces.New(workspaces.Deps{DB: f.db, Plans: plans(), Now: clock})
	f.billing = f.with(plans())
	f.workspaces.OnCustomer(f.billing.CustomerChanged)
	f.tenant = f.newTenant("free")
	return f
}

// with makes a service with other plans.
func (f *fixture) with(plans workspaces.Plans) *billing.Service {
	f.Helper()
	clock := func() time.Time { return f.now }
	made, err := billing.New(billing.Deps{
		DB: f.db, Workspaces: workspaces.New(workspaces.Deps{DB: f.db, Plans: plans, Now: clock}),
		WebhookSecrets: []seal.Secret{fake.WebhookSecret}, Grace: grace, FallbackPlan: "free", Now: clock,
	})
	if err != nil {
		f.Fatal(err)
	}
	return made
}

// withStripe makes a service that makes checkouts.
func (f *fixture) withStripe(server *fake.Server) *billing.Service {
	f.Helper()
	client, err := stripe.New(stripe.Config{BaseURL: server.URL, APIKey: fake.APIKey, Client: &http.Client{}})
	if err != nil {
		f.Fatal(err)
	}
	made := *f.billing
	made.Stripe = client
	return &made
}

func (f *fixture) newTenant(plan string) workspaces.Principal {
	f.Helper()
	made, err := f.workspaces.CreateTenant(f.Context(), "Acme", plan)
	if err != nil {
		f.Fatal(err)
	}
	return workspaces.Principal{TenantID: made.Tenant.ID, Scope: workspaces.ScopeAdmin}
}

func (f *fixture) setCustomer(tenant workspaces.Principal, id string) error {
	_, err := f.workspaces.UpdateTenant(f.Context(), tenant, workspaces.TenantChange{StripeCustomerID: &id})
	return err
}

func (f *fixture) hasCustomer() *fixture {
	f.Helper()
	if err := f.setCustomer(f.tenant, customer); err != nil {
		f.Fatal(err)
	}
	return f
}

// receive delivers an event that is signed now, and returns the error.
func (f *fixture) receive(e fake.Event) error {
	if e.ID == "" {
		f.events++
		e.ID = fmt.Sprintf("evt_%d", f.events)
	}
	body := e.JSON()
	return f.billing.Receive(f.Context(), fake.Header(body, f.now, fake.WebhookSecret), body)
}

func (f *fixture) must(events ...fake.Event) {
	f.Helper()
	for _, e := range events {
		if err := f.receive(e); err != nil {
			f.Fatalf("%s: %v", e.Type, err)
		}
	}
}

// status is an event about the subscription after so many days.
func status(kind, status string, days float64) fake.Event {
	return priced(kind, status, proPrice, days)
}

func priced(kind, status, price string, days float64) fake.Event {
	object := fake.Subscription{
		ID: subscription, Customer: customer, Status: status, Price: price, Created: start, PeriodEnd: start.AddDate(0, 1, 0),
	}.Object()
	return fake.Event{Type: "customer.subscription." + kind, At: after(days), Object: object}
}

// invoice is an event about an invoice of the subscription after so many days.
func invoice(kind, id string, days float64) fake.Event {
	made := fake.Invoice{ID: id, Customer: customer, Subscription: subscription, Amount: 4900, Attempts: 1}
	if kind != "payment_failed" {
		made.PaidAt = after(days)
	}
	return fake.Event{Type: "invoice." + kind, At: after(days), Object: made.Object()}
}

func after(days float64) time.Time { return start.Add(time.Duration(days * 24 * float64(time.Hour))) }

func (f *fixture) overview() billing.Overview {
	f.Helper()
	seen, err := f.billing.Overview(f.Context(), f.tenant)
	if err != nil {
		f.Fatal(err)
	}
	return seen
}

func (f *fixture) wantPlan(want, when string) {
	f.Helper()
	if got := f.overview().Tenant.Plan; got != want {
		f.Errorf("%s: the plan is %q, want %q", when, got, want)
	}
}

func (f *fixture) sweep(days float64) {
	f.Helper()
	f.now = after(days)
	if err := f.billing.Sweep(f.Context(), f.now); err != nil {
		f.Fatal(err)
	}
}

// outbox lists the events of the tenant as "type status plan" or "type invoice".
func (f *fixture) outbox(tenant workspaces.Principal) []string {
	f.Helper()
	var bodies [][]byte
	const ofTenant = "SELECT body FROM events WHERE tenant_id = ? AND workspace_id = '' ORDER BY seq"
	if err := f.db.NewRaw(ofTenant, tenant.TenantID).Scan(f.Context(), &bodies); err != nil {
		f.Fatal(err)
	}
	var lines []string
	for _, body := range bodies {
		var e struct {
			Type string
			Data struct {
				PreviousStatus string `json:"previous_status"`
				Status, Plan   string
				InvoiceID      string `json:"invoice_id"`
			}
		}
		if err := json.Unmarshal(body, &e); err != nil {
			f.Fatal(err)
		}
		line := e.Type + " " + e.Data.InvoiceID
		if e.Type == "subscription.changed" {
			line = e.Type + " " + e.Data.PreviousStatus + ">" + e.Data.Status + " " + e.Data.Plan
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *fixture) wantOutbox(want ...string) {
	f.Helper()
	if diff := cmp.Diff(want, f.outbox(f.tenant)); diff != "" {
		f.Errorf("the events of the outbox (-want +got):\n%s", diff)
	}
}

func (f *fixture) outcomes() map[string]string {
	f.Helper()
	var rows []struct {
		EventID string `bun:"event_id"`
		Outcome string `bun:"outcome"`
	}
	if err := f.db.NewRaw("SELECT event_id, outcome FROM billing_events").Scan(f.Context(), &rows); err != nil {
		f.Fatal(err)
	}
	found := map[string]string{}
	for _, row := range rows {
		found[row.EventID] = row.Outcome
	}
	return found
}

// TestNew: a fallback plan that does not exist is found at the start, where it would be used.
func TestNew(t *testing.T) {
	t.Parallel()
	for secrets, refused := range map[int]bool{0: false, 1: true} {
		_, err := billing.New(billing.Deps{
			Workspaces: workspaces.New(workspaces.Deps{Plans: plans()}), FallbackPlan: "platinum",
			WebhookSecrets: []seal.Secret{fake.WebhookSecret}[:secrets],
		})
		if (err != nil) != refused {
			t.Errorf("with %d secrets: %v", secrets, err)
		}
	}
}

// TestLife is a subscription from its first payment to its end, in order.
func TestLife(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(status("created", "incomplete", 0))
	f.wantPlan("free", "before it is paid")
	f.must(invoice("paid", "in_1", 0.01), invoice("payment_succeeded", "in_1", 0.01), status("updated", "active", 0.01))
	f.wantPlan("pro", "when it is paid")
	f.must(priced("updated", "active", businessPrice, 3))
	f.wantPlan("business", "with another price")
	f.must(priced("updated", "active", businessPrice, 4), priced("deleted", "canceled", businessPrice, 30))
	f.wantPlan("free", "when it is over")
	f.wantOutbox("subscription.changed >incomplete free", "invoice.paid in_1", "subscription.changed incomplete>active pro",
		"subscription.changed active>active business", "subscription.changed active>canceled free")
	want := map[string]string{
		"evt_1": "applied", "evt_2": "announced", "evt_3": "repeated", "evt_4": "applied", "evt_5": "applied", "evt_6": "applied",
		"evt_7": "applied",
	}
	if diff := cmp.Diff(want, f.outcomes()); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	s := f.overview().Subscription
	if s == nil || s.ID != subscription || s.Status != "canceled" || s.PriceID != businessPrice ||
		!s.CurrentPeriodEnd.Equal(start.AddDate(0, 1, 0)) {
		t.Errorf("got %+v", s)
	}
}

// TestStatuses: which statuses give the plan.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for said, plan := range map[string]string{
		"incomplete": "free", "incomplete_expired": "free", "trialing": "pro", "active": "pro", "past_due": "pro", "unpaid": "pro",
		"paused": "free", "canceled": "free", "invented_later": "free",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			f := open(t).hasCustomer()
			f.must(status("updated", said, 0))
			f.wantPlan(plan, said)
		})
	}
	t.Run("paused and resumed", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "trialing", 0), status("paused", "paused", 1))
		f.wantPlan("free", "paused")
		f.must(status("resumed", "active", 2))
		f.wantPlan("pro", "resumed")
	})
}

// TestSameSecond: events of one second come to the same in every order.
func TestSameSecond(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		events []fake.Event
		want   string
	}{
		"created, then active":   {[]fake.Event{status("created", "incomplete", 0), status("updated", "active", 0)}, "active"},
		"created active at once": {[]fake.Event{status("created", "active", 0), status("updated", "incomplete", 0)}, "incomplete"},
		"deletion is last":       {[]fake.Event{status("deleted", "canceled", 0), status("updated", "active", 0)}, "canceled"},
		"success is last":        {[]fake.Event{status("updated", "past_due", 0), status("updated", "active", 0)}, "active"},
		"cancelling is last":     {[]fake.Event{status("updated", "canceled", 0), status("updated", "active", 0)}, "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				f := open(t).hasCustomer()
				f.must(row.events...)
				if got := f.overview().Subscription.Status; string(got) != row.want {
					t.Errorf("got %s, want %s", got, row.want)
				}
				slices.Reverse(row.events)
			}
		})
	}
	t.Run("a failed attempt that is said twice", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(invoice("payment_failed", "in_1", 30), invoice("payment_failed", "in_1", 30), invoice("payment_failed", "in_2", 30),
			invoice("payment_failed", "in_1", 30.1)) // by hand, with the same attempt_count
		f.wantOutbox("invoice.failed in_1", "invoice.failed in_2", "invoice.failed in_1")
	})
	t.Run("a payment of the same second counts", func(t *testing.T) {
		t.Parallel()
		f := open(t).hasCustomer()
		f.must(status("created", "active", 0), invoice("payment_failed", "in_1", 30), invoice("paid", "in_1", 30))
		if o := f.overview().Subscription; !o.PaymentFailedAt.IsZero() {
			t.Errorf("the payments fail since %s", o.PaymentFailedAt)
		}
	})
}

// TestOlderEvents: what happened before does not undo what happened later.
func TestOlderEvents(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(priced("updated", "past_due", businessPrice, 5))
	f.must(status("updated", "active", 4), priced("created", "incomplete", proPrice, 0))
	f.wantPlan("business", "after older events")
	f.wantOutbox("subscription.changed >past_due business")
	if seen := f.overview().Subscription; seen.Status != "past_due" || !seen.PaymentFailedAt.Equal(after(5)) {
		t.Errorf("got %+v", seen)
	}
	want := map[string]string{"evt_1": "applied", "evt_2": "outdated", "evt_3": "outdated"}
	if diff := cmp.Diff(want, f.outcomes()); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// TestTwoSubscriptions: the one that was started last gives the plan, and when it ends the other
// does.
func TestTwoSubscriptions(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	second := func(kind, status string, days float64) fake.Event {
		object := fake.Subscription{
			ID: "sub_Second", Customer: customer, Status: status, Price: businessPrice, Created: after(10), PeriodEnd: after(40),
		}.OldObject()
		return fake.Event{Type: "customer.subscription." + kind, At: after(days), Object: object}
	}
	f.must(status("created", "active", 0), second("created", "active", 10))
	f.wantPlan("business", "with both")
	f.must(second("deleted", "canceled", 20))
	f.wantPlan("pro", "when the second has ended")
	if got := f.overview().Subscription.ID; got != subscription {
		t.Errorf("the subscription is %s", got)
	}
}

// TestPrices: a price of no plan leaves the plan as it is until a plan has the price; a plan can
// have several.
func TestPrices(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	f.must(priced("created", "active", "price_new", 0))
	f.wantPlan("free", "no plan has the price")
	if s := f.overview().Subscription; s.Plan != "" || s.PriceID != "price_new" || s.Status != "active" {
		t.Errorf("got %+v", s)
	}
	known := plans()
	pro := known["pro"]
	pro.StripePriceIDs = append(pro.StripePriceIDs, "price_new")
	known["pro"] = pro
	f.billing = f.with(known)
	f.sweep(1)
	f.wantPlan("pro", "the plan has the price now")
	f.must(priced("updated", "active", proYearly, 2))
	f.wantPlan("pro", "by the year")
	f.wantOutbox("subscription.changed >active free", "subscription.changed active>active pro")
}

// TestReceiveRefuses: what is not from Stripe, not now, or no event changes nothing.
func TestReceiveRefuses(t *testing.T) {
	t.Parallel()
	f := open(t).hasCustomer()
	good := status("created", "active", 0)
	good.ID = "evt_good"
	body := good.JSON()
	for name, row := range map[string]struct {
		header string
		body   []byte
		reason fault.Reason
	}{
		"no header":       {"", body, fault.SignatureInvalid},
		"another secret":  {fake.Header(body, f.now, "whsec_other"), body, fault.SignatureInvalid},
		"another body":    {fake.Header(body, f.now, fake.WebhookSecret), append(slices.Clone(body), ' '), fault.SignatureInvalid},
		"five minutes":    {fake.Header(body, f.now.Add(-5*time.Minute-time.Second), fake.WebhookSecret), body, fault.SignatureInvalid},
		"from the future": {fake.Header(body, f.now.Add(5*time.Minute+time.Second), fake.WebhookSecret), body, fault.SignatureInvalid},
		"no event":        {fake.Header([]byte(`{}`), f.now, fake.WebhookSecret), []byte(`{}`), fault.InvalidRequest},
	} {
		if err := f.billing.Receive(t.Context(), row.header, row.body); fault.ReasonOf(err) != row.reason {
			t.Errorf("%s: got %v, want %s", name, err, row.reason)
		}
	}
	if got := f.outcomes(); len(got) != 0 {
		t.Errorf("stored: %v", got)
	}
	f.must(fake.Event{ID: "evt_other", Type: "charge.succeeded", At: f.now, Object: map[string]any{"id": "ch_1", "customer": customer}})
	if got := f.outcomes(); len(got) != 0 {
		t.Errorf("an event that is not read was stored: %v", got)
	}
	if err := f.billing.Receive(t.Context(), fake.Header(body, f.now.Add(-4*time.Minute), "whsec_old", fake.WebhookSecret), body); err != nil {
		t.Errorf("signed with two secrets, four minutes ago: %v", err)
	}
	f.wantPlan("pro", "the event")
}
