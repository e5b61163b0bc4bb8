package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/contract"
	"parlance.dev/parlance/test/fake/receiver"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/test/harness"
)

const stripePath = "/v1/billing/stripe/webhook"

// billingPlans has the usual plans, of which pro and business have a price.
const billingPlans = `{
	"free": {"kb_storage_bytes": 50000000, "kb_upload_bytes": 10000000, "tools": true},
	"pro": {"kb_storage_bytes": 5000000000, "kb_upload_bytes": 100000000, "tools": true, "mcp": true,
		"stripe_price_ids": ["price_pro", "price_pro_yearly"]},
	"business": {"kb_storage_bytes": 5000000000, "kb_upload_bytes": 100000000, "tools": true, "mcp": true,
		"stripe_price_ids": ["price_business"]},
	"enterprise": {"kb_storage_bytes": 100000000000, "kb_upload_bytes": 1000000000, "tools": true, "mcp": true}}`

// stripeSettings configure an installation with Stripe, and prices for two of the plans.
func stripeSettings(t testing.TB, server *fake.Server, more map[string]string) map[string]string {
	t.Helper()
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(billingPlans), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{
		"PARLANCE_STRIPE_API_KEY": fake.APIKey, "PARLANCE_STRIPE_WEBHOOK_SECRET": "whsec_next, " + fake.WebhookSecret,
		"PARLANCE_STRIPE_BASE_URL": server.URL, "PARLANCE_PLANS_FILE": plans,
	}
	maps.Copy(settings, more)
	return settings
}

// shop is a running installation with Stripe.
type shop struct {
	*harness.Env
	stripe *fake.Server
	sender fake.Sender
}

func newShop(t *testing.T, more map[string]string) *shop {
	t.Helper()
	s := &shop{stripe: fake.New(t)}
	s.Env = harness.Start(t, harness.Options{Plan: "free", Settings: stripeSettings(t, s.stripe, more)})
	s.sender = fake.Sender{URL: s.URL + stripePath}
	return s
}

// send delivers events and wants them to be taken.
func (s *shop) send(t *testing.T, events ...fake.Event) {
	t.Helper()
	for _, e := range events {
		if status, answer, err := s.sender.Send(t.Context(), e.JSON()); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", e.Type, status, answer, err)
		}
	}
}

func (s *shop) checkout(t *testing.T, plan, successURL string) harness.Response {
	t.Helper()
	return s.Do(t, "POST", "/v1/billing/checkout", map[string]any{
		"plan": plan, "success_url": successURL, "cancel_url": "https://a.example/no",
	})
}

// story are the events in the life of one subscription of a customer.
type story struct {
	customer, subscription, invoice string
	begin                           time.Time
}

func newStory(name string) story {
	return story{"cus_" + name, "sub_" + name, "in_" + name, time.Now().UTC().Add(-40 * 24 * time.Hour).Truncate(time.Second)}
}

func (s story) subscribed(kind, status, price string, days int) fake.Event {
	object := fake.Subscription{
		ID: s.subscription, Customer: s.customer, Status: status, Price: price, Created: s.begin, PeriodEnd: s.begin.AddDate(0, 2, 0),
	}.Object()
	return fake.Event{
		ID: fmt.Sprintf("evt_%s_%s_%d", s.subscription, kind, days), Type: "customer.subscription." + kind,
		At: s.begin.AddDate(0, 0, days), Object: object,
	}
}

func (s story) invoiced(kind, number string, days int) fake.Event {
	at := s.begin.AddDate(0, 0, days)
	made := fake.Invoice{ID: s.invoice + number, Customer: s.customer, Subscription: s.subscription, Amount: 4900, Attempts: 1}
	if kind == "payment_failed" {
		made.NextAttempt = at.AddDate(0, 0, 3)
	} else {
		made.PaidAt = at
	}
	id := fmt.Sprintf("evt_%s%s_%s_%d", s.invoice, number, kind, days)
	return fake.Event{ID: id, Type: "invoice." + kind, At: at, Object: made.OldObject()}
}

// whole is a subscription that is made, paid, changed, not paid, and at last cancelled.
func (s story) whole() []fake.Event {
	return []fake.Event{
		s.subscribed("created", "incomplete", "price_pro", 0), s.invoiced("paid", "1", 0), s.subscribed("updated", "active", "price_business", 1),
		s.invoiced("payment_failed", "2", 30), s.subscribed("deleted", "canceled", "price_business", 37),
	}
}

// permutations lists every order of the numbers below n.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, shorter := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), i, n-1))
		}
	}
	return all
}

// outcome is what a tenant's events have come to.
type outcome struct {
	Plan, Status, Price, Last string
	Invoices                  map[string]int
}

func (s *shop) outcomeOf(t *testing.T, tenant harness.Tenant) outcome {
	t.Helper()
	got := s.Do(t, "GET", "/v1/billing", nil, harness.Key(tenant.Read)).Must(t, 200)
	found := outcome{
		Plan: got.Text("plan"), Status: got.Text("subscription", "status"), Price: got.Text("subscription", "price_id"),
		Invoices: map[string]int{},
	}
	for _, body := range harness.Rows[string](t, s.Env,
		"SELECT convert_from(body, 'UTF8') FROM events WHERE tenant_id = $1 AND workspace_id = '' ORDER BY seq", tenant.ID) {
		var e struct {
			Type string
			Data struct {
				Status, Plan string
				InvoiceID    string `json:"invoice_id"`
			}
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatal(err)
		}
		err := contract.Validate([]byte(body), "webhooks", e.Type, "post", "requestBody", "content", "application/json", "schema")
		if err != nil {
			t.Errorf("%s differs from the OpenAPI document: %v", body, err)
		}
		if e.Type == "subscription.changed" {
			found.Last = e.Data.Status + " " + e.Data.Plan
			continue
		}
		found.Invoices[e.Type]++
	}
	return found
}

// TestStripeInEveryOrder sends the events of a subscription in each of their orders, each event
// twice, to several requests at the same time: it always comes to the same.
func TestStripeInEveryOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	want := outcome{
		Plan: "free", Status: "canceled", Price: "price_business", Last: "canceled free",
		Invoices: map[string]int{"invoice.paid": 1, "invoice.failed": 1},
	}
	type run struct {
		tenant harness.Tenant
		events []fake.Event
		order  []int
	}
	var runs []run
	for i, order := range permutations(5) {
		tenant, told := s.NewTenant(t, "free"), newStory(fmt.Sprintf("Order%d", i))
		s.Do(t, "PATCH", "/v1/tenant", map[string]any{"stripe_customer_id": told.customer}, harness.Key(tenant.Admin)).Must(t, 200)
		runs = append(runs, run{tenant, told.whole(), order})
	}
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for _, r := range runs {
		group.Go(func() error {
			for _, number := range r.order {
				if err := s.sendTwice(ctx, r.events[number]); err != nil {
					return fmt.Errorf("%v: %w", r.order, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if diff := cmp.Diff(want, s.outcomeOf(t, r.tenant)); diff != "" {
			t.Errorf("in the order %v (-want +got):\n%s", r.order, diff)
		}
	}
	if n := harness.Rows[int](t, s.Env, "SELECT count(*)::int FROM billing_events")[0]; n != 5*len(runs) {
		t.Errorf("%d events are stored, want %d", n, 5*len(runs))
	}
}

// sendTwice delivers an event twice at the same time.
func (s *shop) sendTwice(ctx context.Context, e fake.Event) error {
	group, ctx := errgroup.WithContext(ctx)
	for range 2 {
		group.Go(func() error {
			status, answer, err := s.sender.Send(ctx, e.JSON())
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%s: %d %s", e.Type, status, answer)
			}
			return err
		})
	}
	return group.Wait()
}

// TestStripeAllAtOnce sends all events of a subscription at the same moment, three times each.
func TestStripeAllAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	told := newStory("Rush")
	s.Do(t, "PATCH", "/v1/tenant", map[string]any{"stripe_customer_id": told.customer}).Must(t, 200)
	var sending sync.WaitGroup
	for _, e := range slices.Concat(told.whole(), told.whole(), told.whole()) {
		sending.Go(func() {
			if status, answer, err := s.sender.Send(t.Context(), e.JSON()); err != nil || status != http.StatusOK {
				t.Errorf("%s: %d %s, %v", e.Type, status, answer, err)
			}
		})
	}
	sending.Wait()
	got := s.outcomeOf(t, s.Tenant)
	if got.Plan != "free" || got.Last != "canceled free" || got.Invoices["invoice.paid"] != 1 || got.Invoices["invoice.failed"] != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestStripeToReceivers is the way of a customer: a checkout, events that come before the one that
// names the tenant, a plan that is there at once, and all three events at the tenant's endpoints.
func TestStripeToReceivers(t *testing.T) {
	t.Parallel()
	hook, elsewhere := receiver.New(t), receiver.New(t)
	s := newShop(t, map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)})
	s.subscribe(t, hook, s.Tenant)
	s.subscribe(t, elsewhere, s.NewTenant(t, "free"))
	page := s.checkout(t, "pro", "https://a.example/ok").Must(t, 200)
	if !strings.HasPrefix(page.Text("url"), "https://checkout.stripe.com/") || page.Text("expires_at") == "" {
		t.Errorf("got %s", page.Body)
	}
	reference := s.stripe.Calls()[0].Form.Get("client_reference_id")
	told := newStory("Way")
	s.send(t, told.subscribed("created", "active", "price_pro", 0), told.invoiced("paid", "1", 0))
	if got := s.outcomeOf(t, s.Tenant); got.Plan != "free" || got.Status != "" {
		t.Errorf("before the checkout is known: %+v", got)
	}
	s.send(t, fake.Event{
		ID: "evt_way_checkout", Type: "checkout.session.completed", At: told.begin,
		Object: fake.CheckoutObject("cs_way", told.customer, told.subscription, reference),
	}, told.invoiced("payment_failed", "2", 39))
	told.wantBilling(t, s)
	// MCP tools are of the plan: it is in force without another request between.
	s.Do(t, "POST", s.Tenant.In("/tools"), `{"slug":"x","description":"d","kind":"mcp","mcp_server_url":"https://x.example/"}`).Must(t, 201)
	told.wantReceived(t, hook, s.Tenant)
	if got := elsewhere.Requests(); len(got) != 0 {
		t.Errorf("another tenant got %s", got[0].Body)
	}
	portal := s.Do(t, "POST", "/v1/billing/portal", `{"return_url":"https://a.example/account"}`).Must(t, 200)
	called := s.stripe.Calls()[1].Form.Get("customer")
	if !strings.HasPrefix(portal.Text("url"), "https://billing.stripe.com/") || called != told.customer {
		t.Errorf("got %s for %q", portal.Body, called)
	}
	s.checkout(t, "business", "https://a.example/ok").Must(t, 200)
	if form := s.stripe.Calls()[2].Form; form.Get("customer") != told.customer || form.Get("line_items[0][price]") != "price_business" {
		t.Errorf("the second checkout has %v", form)
	}
}

// subscribe gives a tenant an endpoint for the events of billing.
func (s *shop) subscribe(t *testing.T, to *receiver.Receiver, tenant harness.Tenant) {
	t.Helper()
	made := s.Do(t, "POST", tenant.In("/webhooks"), map[string]any{
		"url": to.URL, "events": []string{"subscription.changed", "invoice.paid", "invoice.failed"},
	}, harness.Key(tenant.Admin)).Must(t, 201)
	to.Expect(made.Text("secret"))
}

// wantBilling wants an active subscription whose last payment has failed after 39 days.
func (s story) wantBilling(t *testing.T, at *shop) {
	t.Helper()
	after := func(months, days int) string { return s.begin.AddDate(0, months, days).Format(time.RFC3339) }
	want := map[string]any{
		"plan": "pro", "stripe_customer_id": s.customer, "stripe_configured": true,
		"payment_failed_at": after(0, 39), "grace_until": after(0, 46), "usage_reported_at": nil, "usage_problem": "",
		"subscription": map[string]any{
			"id": s.subscription, "status": "active", "plan": "pro", "price_id": "price_pro", "cancel_at_period_end": false,
			"current_period_end": after(2, 0),
		},
	}
	if diff := cmp.Diff(want, at.Do(t, "GET", "/v1/billing", nil).Must(t, 200).At()); diff != "" {
		t.Errorf("GET /v1/billing (-want +got):\n%s", diff)
	}
}

// wantReceived wants each of the three events at an endpoint of the tenant.
func (s story) wantReceived(t *testing.T, hook *receiver.Receiver, tenant harness.Tenant) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	seen := map[string]map[string]any{}
	for _, r := range hook.Await(ctx, t, 3) {
		var body struct {
			WorkspaceID string `json:"workspace_id"`
			TenantID    string `json:"tenant_id"`
			Data        map[string]any
		}
		if err := json.Unmarshal(r.Body, &body); err != nil || r.Err != nil || body.WorkspaceID != "" || body.TenantID != tenant.ID {
			t.Errorf("%s: %v, %v", r.Body, err, r.Err)
		}
		seen[r.Type] = body.Data
	}
	for name, data := range map[string]map[string]any{
		"subscription.changed": {"subscription_id": s.subscription, "previous_status": "", "status": "active", "plan": "pro"},
		"invoice.paid":         {"invoice_id": s.invoice + "1", "amount_paid": 4900.0, "currency": "eur", "subscription_id": s.subscription},
		"invoice.failed":       {"invoice_id": s.invoice + "2", "amount_due": 4900.0, "attempt_count": 1.0, "customer_id": s.customer},
	} {
		for field, value := range data {
			if seen[name][field] != value {
				t.Errorf("%s has %s %v, want %v", name, field, seen[name][field], value)
			}
		}
	}
}

// TestStripeRefuses: what Stripe did not send, or what is for another mode, is refused, and what
// could not be stored is sent again.
func TestStripeRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	told := newStory("Refused")
	s.Do(t, "PATCH", "/v1/tenant", map[string]any{"stripe_customer_id": told.customer}).Must(t, 200)
	event := told.subscribed("created", "active", "price_pro", 0)
	body, live := event.JSON(), event
	live.Live, live.ID = true, "evt_live"
	now := time.Now()
	for name, row := range map[string]struct {
		body   []byte
		header string
		status int
		code   string
	}{
		"no signature":          {body, "", 400, "signature-invalid"},
		"another's secret":      {body, fake.Header(body, now, "whsec_other"), 400, "signature-invalid"},
		"an old signature":      {body, fake.Header(body, now.Add(-6*time.Minute), fake.WebhookSecret), 400, "signature-invalid"},
		"another body":          {append(slices.Clone(body), '\n'), fake.Header(body, now, fake.WebhookSecret), 400, "signature-invalid"},
		"no event":              {[]byte(`[]`), fake.Header([]byte(`[]`), now, fake.WebhookSecret), 400, "invalid-request"},
		"real money, test key":  {live.JSON(), fake.Header(live.JSON(), now, fake.WebhookSecret), 400, "invalid-request"},
		"more than a mebibyte":  {make([]byte, 1<<20+1), fake.Header(nil, now, fake.WebhookSecret), 413, "body-too-large"},
		"the secret to be used": {body, fake.Header(body, now, "whsec_next"), 200, ""},
		"a second time":         {body, fake.Header(body, now, fake.WebhookSecret), 200, ""},
	} {
		status, answer, err := s.sender.SendWith(t.Context(), row.body, row.header)
		if err != nil || status != row.status || !strings.Contains(answer, row.code) {
			t.Errorf("%s: got %d %s, %v; want %d %s", name, status, answer, err, row.status, row.code)
		}
	}
	s.Exec(t, `CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'hunter2' USING ERRCODE = '57P03'; END $$;
		CREATE TRIGGER fail_once BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail_once()`)
	failed := told.invoiced("payment_failed", "1", 30)
	status, answer, err := s.sender.Send(t.Context(), failed.JSON())
	if err != nil || status != http.StatusServiceUnavailable || strings.Contains(answer, "hunter2") {
		t.Errorf("got %d %s, %v", status, answer, err)
	}
	stored := func() int {
		return harness.Rows[int](t, s.Env, "SELECT count(*)::int FROM billing_events WHERE event_id = $1", failed.ID)[0]
	}
	if stored() != 0 {
		t.Error("the event is stored, and what follows from it is not")
	}
	s.Exec(t, "DROP TRIGGER fail_once ON events")
	if s.send(t, failed); stored() != 1 {
		t.Error("the event was not stored the second time")
	}
	checkProblem(t, s.Do(t, "GET", stripePath, nil), 405, "method-not-allowed")
}

// TestWithoutStripe: everything but payments works.
func TestWithoutStripe(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_PLANS_FILE": stripeSettings(t, fake.New(t), nil)["PARLANCE_PLANS_FILE"],
	}})
	got := env.Do(t, "GET", "/v1/billing", nil).Must(t, 200)
	want := map[string]any{
		"plan": "enterprise", "stripe_customer_id": "", "subscription": nil, "grace_until": nil, "payment_failed_at": nil,
		"stripe_configured": false, "usage_reported_at": nil, "usage_problem": "",
	}
	if diff := cmp.Diff(want, got.At()); diff != "" {
		t.Errorf("GET /v1/billing (-want +got):\n%s", diff)
	}
	s := &shop{Env: env}
	for _, plan := range []string{"pro", "enterprise", "platinum"} { // enterprise has no price, platinum is no plan
		checkProblem(t, s.checkout(t, plan, "https://a.example/"), 409, "provider-not-configured")
	}
	portal := func(key string) harness.Response {
		return env.Do(t, "POST", "/v1/billing/portal", `{"return_url":"https://a.example/"}`, harness.Key(key))
	}
	checkProblem(t, portal(env.Tenant.Admin), 409, "provider-not-configured")
	checkProblem(t, portal(env.Tenant.Operator), 403, "auth-scope")
	checkProblem(t, env.Do(t, "POST", stripePath, `{}`, harness.Key("")), 409, "provider-not-configured")
}

// TestBillingRefuses: URLs that are none, and a portal for nobody.
func TestBillingRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	got := s.Do(t, "POST", "/v1/billing/checkout", `{"plan":"pro","success_url":"javascript:alert(1)","cancel_url":"/plans"}`)
	checkProblem(t, got, 400, "invalid-request")
	if diff := cmp.Diff([]string{"cancel_url", "success_url"}, got.Problem.Fields()); diff != "" {
		t.Error(diff)
	}
	for _, plan := range []string{"enterprise", "platinum"} { // one has no price, the other is no plan
		checkProblem(t, s.checkout(t, plan, "https://a.example/"), 400, "invalid-request")
	}
	got = s.checkout(t, "pro", "https://localhost/")
	checkProblem(t, got, 400, "invalid-request") // Stripe says so
	if diff := cmp.Diff([]string{"success_url"}, got.Problem.Fields()); diff != "" {
		t.Error(diff)
	}
	checkProblem(t, s.Do(t, "POST", "/v1/billing/portal", `{"return_url":"https://a.example/"}`), 409, "billing-customer-missing")
	s.stripe.Fail(500, 500)
	checkProblem(t, s.checkout(t, "pro", "https://a.example/"), 502, "upstream-failed")
}

// TestUpdateTenant: what is sent is changed, null clears, and a customer belongs to one tenant.
func TestUpdateTenant(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	patch := func(body string, with ...harness.With) harness.Response {
		t.Helper()
		return env.Do(t, "PATCH", "/v1/tenant", body, with...)
	}
	for _, row := range []struct{ body, name, timezone, customer string }{
		{`{}`, "Acme", "UTC", ""},
		{`{"timezone":"Europe/Berlin"}`, "Acme", "Europe/Berlin", ""},
		{`{"name":"Acme & Co.","stripe_customer_id":"cus_Acme"}`, "Acme & Co.", "Europe/Berlin", "cus_Acme"},
		{`{"stripe_customer_id":"cus_Acme"}`, "Acme & Co.", "Europe/Berlin", "cus_Acme"},
		{`{"timezone":null}`, "Acme & Co.", "UTC", "cus_Acme"},
		{`{"stripe_customer_id":null}`, "Acme & Co.", "UTC", ""},
	} {
		got := patch(row.body).Must(t, 200)
		if read := env.Do(t, "GET", "/v1/tenant", nil); string(read.Body) != string(got.Body) {
			t.Errorf("%s: got %s, and read %s", row.body, got.Body, read.Body)
		}
		if got.Text("name") != row.name || got.Text("timezone") != row.timezone || got.Text("stripe_customer_id") != row.customer {
			t.Errorf("%s: %s", row.body, got.Body)
		}
	}
	for _, body := range []string{
		`{"timezone":"Mars/Olympus"}`, `{"timezone":"Local"}`, `{"timezone":"../etc/passwd"}`, `{"name":" "}`, `{"name":null}`,
		`{"stripe_customer_id":"cus/1"}`, `{"plan":"enterprise"}`,
	} {
		checkProblem(t, patch(body), 400, "invalid-request")
	}
	checkProblem(t, patch(`{"name":"x"}`, harness.Key(env.Tenant.Operator)), 403, "auth-scope")
	other := env.NewTenant(t, "")
	patch(`{"stripe_customer_id":"cus_Taken"}`).Must(t, 200)
	taken := patch(`{"stripe_customer_id":"cus_Taken","name":"Thief"}`, harness.Key(other.Admin))
	checkProblem(t, taken, 409, "conflict")
	for _, secret := range []string{env.Tenant.ID, "Acme &"} {
		if strings.Contains(string(taken.Body), secret) {
			t.Errorf("the refusal says whose it is: %s", taken.Body)
		}
	}
	if got := env.Do(t, "GET", "/v1/tenant", nil, harness.Key(other.Admin)).Must(t, 200); got.Text("name") != "Acme" {
		t.Errorf("a refused change has changed something: %s", got.Body)
	}
}
