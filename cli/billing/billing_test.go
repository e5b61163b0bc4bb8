package billing_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	fake "parlance.dev/parlance/test/fake/stripe"
	"parlance.dev/parlance/test/harness"
)

func TestBilling(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{Settings: map[string]string{
		"PARLANCE_STRIPE_API_KEY": fake.APIKey, "PARLANCE_STRIPE_BASE_URL": fake.New(t).URL,
	}})
	billing := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "billing", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	billing("show").Wants(t, command.ExitDone, "enterprise")
	back := []string{"--success-url", "https://app.example.com/paid", "--cancel-url", "https://app.example.com/plans"}
	billing(append([]string{"checkout", "enterprise"}, back...)...).Wants(t, command.ExitDone, "https://checkout.stripe.com/")
	billing(append([]string{"checkout", "small"}, back...)...).Wants(t, command.ExitFailed, "make the checkout", "no price")
	billing("portal", "--return-url", "https://app.example.com/").Wants(t, command.ExitFailed, "make the portal", "first checkout")
	w.Run(t, "", "tenant", "update", "--stripe-customer-id", "cus_1", "--api-key", w.Env.Tenant.Admin).Wants(t, command.ExitDone, "cus_1")
	billing("portal", "--return-url", "https://app.example.com/").Wants(t, command.ExitDone, "https://billing.stripe.com/")
	if got := billing("show", "--json").JSONLines(t)[0]; got["stripe_customer_id"] != "cus_1" || got["subscription"] != nil {
		t.Errorf("got %v", got)
	}
}

// TestShowUsage: it is shown when usage was reported, and why it was not.
func TestShowUsage(t *testing.T) {
	t.Parallel()
	server := fake.New(t)
	w := clitest.Start(t, clitest.Options{Settings: map[string]string{
		"PARLANCE_STRIPE_API_KEY": fake.APIKey, "PARLANCE_STRIPE_BASE_URL": server.URL, "PARLANCE_STRIPE_METERS": "tokens=parlance_tokens",
	}})
	show := func() clitest.Result {
		t.Helper()
		return w.Run(t, "", "billing", "show", "--api-key", w.Env.Tenant.Admin)
	}
	w.Env.Do(t, "PATCH", "/v1/tenant", `{"stripe_customer_id":"cus_1"}`).Must(t, 200)
	server.Gone("cus_1")
	w.Env.Exec(t, `INSERT INTO usage_months (tenant_id, month, meter, quantity, cost)
		VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 'tokens', 5, 0)`, w.Env.Tenant.ID)
	report := func() {
		t.Helper()
		w.Env.Exec(t, "UPDATE billing_meter_events SET due_at = now()")
		if err := w.Env.App.Billing.ReportUsage(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	report()
	harness.Await(t, harness.Patience, "the usage is refused", func() bool {
		return w.Env.Do(t, "GET", "/v1/billing", nil).Must(t, 200).Text("usage_problem") != ""
	})
	show().Wants(t, command.ExitDone, "usage problem", "Stripe refuses 5 tokens", "No such customer: 'cus_1'")
	server.Gone()
	report()
	harness.Await(t, harness.Patience, "the usage is reported", func() bool {
		return w.Env.Do(t, "GET", "/v1/billing", nil).Must(t, 200).At("usage_reported_at") != nil
	})
	show().Wants(t, command.ExitDone, "usage reported")
}
