package workspaces_test

import (
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestTenant(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	tenant := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "tenant", args[0], append(args[1:], "--api-key", w.Env.Tenant.Admin)...)
	}
	tenant("show").Wants(t, command.ExitDone, w.Env.Tenant.ID, "Acme", "enterprise", "UTC")
	tenant("update").Wants(t, command.ExitUsage, "--timezone")
	tenant("update", "--timezone", "Europe/Berlin", "--stripe-customer-id", "cus_Ada").Wants(t, command.ExitDone, "Europe/Berlin", "cus_Ada")
	got := tenant("update", "--stripe-customer-id", "", "--json").JSONLines(t)[0]
	if got["stripe_customer_id"] != "" || got["timezone"] != "Europe/Berlin" {
		t.Errorf("got %v", got)
	}
	tenant("update", "--timezone", "Mars").Wants(t, command.ExitFailed, "change the tenant", "Europe/Berlin")
	w.Run(t, "", "tenant", "update", "--name", "x").Wants(t, command.ExitFailed, "admin")
}
