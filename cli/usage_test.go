package cli_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// TestUsage shows a month with a plot of its days, and adds and removes an alert.
func TestUsage(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	usage := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append(append([]string{"usage"}, args...), "--data-dir", w.DataDir, "--api-key", w.Env.Tenant.Admin)...)
	}
	usage().Wants(t, command.ExitDone, "plan enterprise", "no turns in these days")
	usage("--meter", "tokens").Wants(t, command.ExitDone, "no tokens in these days")
	agent := w.Env.Do(t, "POST", w.Env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := w.Env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	w.Env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello."}`).Must(t, 200)
	if err := w.Env.App.Usage.Fold(t.Context(), harness.Rows[time.Time](t, w.Env, "SELECT now()")[0]); err != nil {
		t.Fatal(err)
	}
	usage().Wants(t, command.ExitDone, "turns", "no limit", "█", "at most 1")
	usage("--json", "--agent", "agt_none").Wants(t, command.ExitDone, `"month":`)
	usage("--month", "11/2026").Wants(t, command.ExitFailed, "2026-11")
	usage("--meter", "nothing").Wants(t, command.ExitFailed, "Meters by day are")
	usage("alerts", "ls").Wants(t, command.ExitDone, "There are no alerts")
	usage("alerts", "add", "--meter", "turns").Wants(t, command.ExitFailed, "quantity")
	usage("alerts", "add", "--meter", "turns", "--quantity", "1000").Wants(t, command.ExitDone, "reaches 1,000")
	id := harness.Rows[string](t, w.Env, "SELECT id FROM usage_alerts")[0]
	usage("alerts", "ls").Wants(t, command.ExitDone, id, "1,000")
	usage("alerts", "rm", id).Wants(t, command.ExitDone, id)
	usage("alerts", "rm", "ual_none").Wants(t, command.ExitFailed, "ual_none")
}
