package cli_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// TestActivity shows the steps in which something happened, and refuses what cannot be shown.
func TestActivity(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	activity := func(args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append(append([]string{"activity"}, args...), "--data-dir", w.DataDir, "--api-key", w.Env.Tenant.Read)...)
	}
	activity().Wants(t, command.ExitDone, "Nothing happened", "turns by day", "UTC")
	session := w.Env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+w.Agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	w.Env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello."}`).Must(t, 200)
	w.Env.Do(t, "POST", "/v1/sessions/"+session+"/end", `{"status":"failed","reason":"test"}`).Must(t, 200)
	if err := w.Env.App.Usage.Fold(t.Context(), harness.Rows[time.Time](t, w.Env, "SELECT now()")[0]); err != nil {
		t.Fatal(err)
	}
	activity("--since", "7d").Wants(t, command.ExitDone, "DAY", "1 (1 failed)", "total", "at most 1", "█")
	activity("--since", "24h", "--agent", "default").Wants(t, command.ExitDone, "HOUR", ":00", "total")
	activity("--agent", "agt_none").Wants(t, command.ExitDone, "Nothing happened")
	activity("--json", "--step", "hour", "--timezone", "Asia/Tokyo").Wants(t, command.ExitDone, `"timezone":"Asia/Tokyo"`, `"step":"hour"`)
	activity("--step", "week").Wants(t, command.ExitFailed, "step")
	activity("--since", "7x").Wants(t, command.ExitUsage, "24h or 7d")
	activity("--workspace", "ws_none").Wants(t, command.ExitFailed, "ws_none")
}

// TestQueues shows the tenant's work, the queues and the worker.
func TestQueues(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	queues := func(key string, args ...string) clitest.Result {
		t.Helper()
		return clitest.Execute(t, "", append(append([]string{"queues"}, args...), "--data-dir", w.DataDir, "--api-key", key)...)
	}
	queues(w.Env.Tenant.Admin).Wants(t, command.ExitDone, "WAITING SINCE", "deliveries", "callbacks", "PENDING", "ingest")
	queues(w.Env.Tenant.Admin, "--json").Wants(t, command.ExitDone, `{"kinds":[{`, `"queues":[{`)
	queues(w.Env.Tenant.Operator).Wants(t, command.ExitFailed, "WAITING SINCE", "admin")
	queues(w.Env.Tenant.Read).Wants(t, command.ExitFailed, "operator")
	harness.Await(t, harness.Patience, "the worker has reported", func() bool {
		return len(w.Env.Do(t, "GET", "/v1/queues", nil, harness.Key(w.Env.Tenant.Admin)).Must(t, 200).List("workers")) > 0
	})
	queues(w.Env.Tenant.Admin).Wants(t, command.ExitDone, " busy, since ", "deliver")
}
