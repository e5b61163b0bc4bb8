package billing_test

import (
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	fake "parlance.dev/parlance/test/fake/stripe"
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
