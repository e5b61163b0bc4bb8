package webhooks_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestWebhooks registers an endpoint and tests it; the endpoint refuses an event and receives it
// again.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	hook := receiver.New(t)
	w := clitest.Start(t, clitest.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	webhooks := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "webhooks", args[0], args[1:]...)
	}
	deliveries := func(args ...string) []map[string]any {
		t.Helper()
		return webhooks(append([]string{"deliveries", "--json"}, args...)...).JSONLines(t)
	}
	webhooks("test").Wants(t, command.ExitFailed, "there is no endpoint yet", "parlance webhooks create")
	webhooks("ls").Wants(t, command.ExitDone, "There is no endpoint.")
	webhooks("create", "http://example.org/hook").Wants(t, command.ExitFailed, "begins with https://")
	made := webhooks("create", hook.URL+"/hook", "--events", "kb.source_ingested", "--json").JSONLines(t)[0]
	id, secret := made["id"].(string), made["secret"].(string)
	hook.Expect(secret)
	webhooks("test").Wants(t, command.ExitDone, "kb.source_ingested", "succeeded 200", "X-Parlance-Signature: sha256=", `"source_id"`)
	hook.Script(receiver.Answer{Status: 404, Body: `{"oh": "no"}`}, receiver.Answer{Status: 404})
	webhooks("test", "--event", "dsar.ready").Wants(t, command.ExitFailed, "failed 404", "did not accept the example", `"oh": "no"`)
	webhooks("test", "--event", "dsar").Wants(t, command.ExitFailed, "There is no event")

	webhooks("pause").Wants(t, command.ExitDone, id+" is paused")
	webhooks("show").Wants(t, command.ExitDone, "paused     its events wait")
	webhooks("enable").Wants(t, command.ExitDone, id+" is enabled.")

	w.AddText(t, "one")
	harness.Await(t, harness.Patience, "the delivery failed", func() bool {
		return len(deliveries("--status", "failed", "--event", "kb.source_ingested")) == 1
	})
	failed := deliveries("--status", "failed", "--event", "kb.source_ingested", "--since", time.Now().Add(-time.Hour).Format(time.RFC3339))[0]
	webhooks("deliveries", hook.URL+"/hook").Wants(t, command.ExitDone, "OUTCOME", "failed 404", failed["id"].(string))
	webhooks("deliveries", "--limit", "1").Wants(t, command.ExitDone, "there are more")
	webhooks("deliveries", "--status", "unknown").Wants(t, command.ExitDone, "No attempt is like that")
	webhooks("delivery", failed["id"].(string)).Wants(t, command.ExitDone, "attempt 1", failed["event_id"].(string), "404 Not Found")
	webhooks("show").Wants(t, command.ExitDone, "enabled", "1 attempt, 0.0 % accepted", "given up   1 event", "10 disable it")
	webhooks("recover").Wants(t, command.ExitUsage, "--since is missing")
	webhooks("recover", "--since", "yesterday").Wants(t, command.ExitUsage, "how long ago")
	webhooks("recover", "--since", "1h").Wants(t, command.ExitDone, "1 event is on the way")
	harness.Await(t, harness.Patience, "it was received", func() bool {
		return len(deliveries("--status", "succeeded", "--event-id", failed["event_id"].(string))) == 1
	})
	webhooks("recover", "--since", time.Now().Add(-time.Hour).Format(time.RFC3339)).Wants(t, command.ExitDone, "Nothing was given up")
	webhooks("redeliver", failed["id"].(string)).Wants(t, command.ExitDone, "attempt 3")
	harness.Await(t, harness.Patience, "it came again", func() bool {
		return len(deliveries("--status", "succeeded", "--event-id", failed["event_id"].(string))) == 2
	})
	webhooks("redeliver", "dlv_nonsense").Wants(t, command.ExitFailed, "there is no delivery dlv_nonsense")
	webhooks("ls").Wants(t, command.ExitDone, "enabled", hook.URL, "kb.source_ingested", id)
	rotated := webhooks("rotate-secret")
	rotated.Wants(t, command.ExitDone, "whsec_", "not shown again")
	if strings.Contains(rotated.Out, secret) {
		t.Error("the old secret is shown")
	}
	hook.Always(receiver.Answer{Status: 410})
	hook.Expect()
	w.AddText(t, "two")
	harness.Await(t, harness.Patience, "it is disabled", func() bool { return strings.Contains(webhooks("ls").Out, "disabled: gone") })
	hook.Always(receiver.Answer{})
	webhooks("enable", id, "--since", "yesterday").Wants(t, command.ExitUsage, "how long ago")
	webhooks("enable", id, "--since", "").Wants(t, command.ExitUsage, "how long ago") // not without what was missed
	webhooks("enable", id, "--since", "1h").Wants(t, command.ExitDone, id+" is enabled; 1 event is sent anew")
	webhooks("enable", id).Wants(t, command.ExitDone, id+" is enabled.")
	webhooks("update", id).Wants(t, command.ExitUsage, "nothing is to change")
	webhooks("update", id, "--events", "nonsense").Wants(t, command.ExitFailed, "There is no event")
	webhooks("update", id, "--events", "", "--description", "paused").Wants(t, command.ExitDone, id, "gets none")
	changed := webhooks("update", "--url", hook.URL+"/new", "--max-in-flight", "2", "--header", "X-Of-Mine: v", "--json").JSONLines(t)[0]
	if changed["url"] != hook.URL+"/new" || changed["max_in_flight"] != 2.0 || changed["description"] != "paused" ||
		len(changed["events"].([]any)) != 0 || len(changed["header_names"].([]any)) != 1 {
		t.Errorf("changed: %v", changed)
	}
	webhooks("update", "--no-headers", "--events", "kb.source_ingested").Wants(t, command.ExitDone, "kb.source_ingested")
	token := filepath.Join(t.TempDir(), "token")
	clitest.WriteFile(t, token, "Bearer tok-1234567890\n")
	webhooks("create", hook.URL, "--header", "Authorization").Wants(t, command.ExitUsage, "--header is")
	other := webhooks("create", hook.URL, "--ordered", "--max-per-second", "5", "--header", "Authorization: @"+token, "--json")
	if made := other.JSONLines(t)[0]; made["ordered"] != true || made["max_per_second"] != 5.0 || strings.Contains(other.Out, "tok-") {
		t.Errorf("made: %s", other.Out)
	} else {
		webhooks("show").Wants(t, command.ExitUsage, "which endpoint?", id+"  "+hook.URL)
		webhooks("test", made["id"].(string), "--event", "kb.source_ingested").Wants(t, command.ExitDone, "succeeded 200")
		webhooks("rm", made["id"].(string)).Wants(t, command.ExitDone, "deleted")
	}
	// Search all requests: an event that the other endpoint missed may arrive last.
	if !slices.ContainsFunc(hook.Requests(),
		func(r receiver.Request) bool { return r.Header.Get("Authorization") == "Bearer tok-1234567890" }) {
		t.Error("nothing came with the Authorization of the file")
	}
	webhooks("rm", "we_nonsense").Wants(t, command.ExitFailed, "there is no endpoint we_nonsense")
	webhooks("rm", id).Wants(t, command.ExitDone, "deleted "+hook.URL)
	for _, request := range hook.Requests() {
		if request.Err != nil {
			t.Errorf("%s: %v", request.Type, request.Err)
		}
	}
}
