package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestWebhooks is an operator's day: an endpoint is made and tested, refuses an event, and gets it again.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	hook := receiver.New(t)
	w := startKBWith(t, "", nil, map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)})
	webhooks := func(args ...string) ran {
		t.Helper()
		return execute(t, "", append([]string{"webhooks", args[0], "--data-dir", w.dir}, args[1:]...)...)
	}
	deliveries := func(args ...string) []map[string]any {
		t.Helper()
		return jsonLines(t, webhooks(append([]string{"deliveries", "--json"}, args...)...).out)
	}
	webhooks("test").wants(t, exitFailed, "there is no endpoint yet", "parlance webhooks create")
	webhooks("ls").wants(t, exitDone, "There is no endpoint.")
	webhooks("create", "http://example.org/hook").wants(t, exitFailed, "begins with https://")
	made := jsonLines(t, webhooks("create", hook.URL+"/hook", "--events", "kb.source_ingested", "--json").out)[0]
	id, secret := made["id"].(string), made["secret"].(string)
	hook.Expect(secret)
	webhooks("test").wants(t, exitDone, "kb.source_ingested", "succeeded 200", "X-Parlance-Signature: sha256=", `"source_id"`)
	hook.Script(receiver.Answer{Status: 404, Body: `{"oh": "no"}`}, receiver.Answer{Status: 404})
	webhooks("test", "--event", "dsar.ready").wants(t, exitFailed, "failed 404", "did not accept the example", `"oh": "no"`)
	webhooks("test", "--event", "dsar").wants(t, exitFailed, "There is no event")

	w.ingest(t, "one")
	harness.Await(t, harness.Patience, "the delivery failed", func() bool {
		return len(deliveries("--status", "failed", "--event", "kb.source_ingested")) == 1
	})
	failed := deliveries("--status", "failed", "--event", "kb.source_ingested", "--since", time.Now().Add(-time.Hour).Format(time.RFC3339))[0]
	webhooks("deliveries", hook.URL+"/hook").wants(t, exitDone, "OUTCOME", "failed 404", failed["id"].(string))
	webhooks("deliveries", "--limit", "1").wants(t, exitDone, "there are more")
	webhooks("deliveries", "--status", "unknown").wants(t, exitDone, "No attempt is like that")
	webhooks("delivery", failed["id"].(string)).wants(t, exitDone, "attempt 1", failed["event_id"].(string), "404 Not Found")
	webhooks("show").wants(t, exitDone, "enabled", "1 attempt, 0.0 % accepted", "given up   1 event", "10 disable it")
	webhooks("recover").wants(t, exitUsage, "--since is missing")
	webhooks("recover", "--since", "yesterday").wants(t, exitUsage, "how long ago")
	webhooks("recover", "--since", "1h").wants(t, exitDone, "1 event is on the way")
	harness.Await(t, harness.Patience, "it was received", func() bool {
		return len(deliveries("--status", "succeeded", "--event-id", failed["event_id"].(string))) == 1
	})
	webhooks("recover", "--since", time.Now().Add(-time.Hour).Format(time.RFC3339)).wants(t, exitDone, "Nothing was given up")
	webhooks("redeliver", failed["id"].(string)).wants(t, exitDone, "attempt 3")
	harness.Await(t, harness.Patience, "it came again", func() bool {
		return len(deliveries("--status", "succeeded", "--event-id", failed["event_id"].(string))) == 2
	})
	webhooks("redeliver", "dlv_nonsense").wants(t, exitFailed, "there is no delivery dlv_nonsense")
	webhooks("ls").wants(t, exitDone, "enabled", hook.URL, "kb.source_ingested", id)
	rotated := webhooks("rotate-secret")
	rotated.wants(t, exitDone, "whsec_", "not shown again")
	if strings.Contains(rotated.out, secret) {
		t.Error("the old secret is shown")
	}
	hook.Always(receiver.Answer{Status: 410})
	hook.Expect()
	w.ingest(t, "two")
	harness.Await(t, harness.Patience, "it is disabled", func() bool { return strings.Contains(webhooks("ls").out, "disabled: gone") })
	hook.Always(receiver.Answer{})
	webhooks("enable", id, "--since", "yesterday").wants(t, exitUsage, "how long ago")
	webhooks("enable", id, "--since", "").wants(t, exitUsage, "how long ago") // not without what was missed
	webhooks("enable", id, "--since", "1h").wants(t, exitDone, id+" is enabled; 1 event is sent anew")
	webhooks("enable", id).wants(t, exitDone, id+" is enabled.")
	webhooks("update", id).wants(t, exitUsage, "nothing is to change")
	webhooks("update", id, "--events", "nonsense").wants(t, exitFailed, "There is no event")
	webhooks("update", id, "--events", "", "--description", "paused").wants(t, exitDone, id, "gets none")
	changed := jsonLines(t, webhooks("update", "--url", hook.URL+"/new", "--max-in-flight", "2", "--header", "X-Of-Mine: v", "--json").out)[0]
	if changed["url"] != hook.URL+"/new" || changed["max_in_flight"] != 2.0 || changed["description"] != "paused" || len(changed["events"].([]any)) != 0 || len(changed["header_names"].([]any)) != 1 {
		t.Errorf("changed: %v", changed)
	}
	webhooks("update", "--no-headers", "--events", "kb.source_ingested").wants(t, exitDone, "kb.source_ingested")
	token := filepath.Join(t.TempDir(), "token")
	writeFile(t, token, "Bearer tok-1234567890\n")
	webhooks("create", hook.URL, "--header", "Authorization").wants(t, exitUsage, "--header is")
	other := webhooks("create", hook.URL, "--ordered", "--max-per-second", "5", "--header", "Authorization: @"+token, "--json")
	if made := jsonLines(t, other.out)[0]; made["ordered"] != true || made["max_per_second"] != 5.0 || strings.Contains(other.out, "tok-") {
		t.Errorf("made: %s", other.out)
	} else {
		webhooks("show").wants(t, exitUsage, "which endpoint?", id+"  "+hook.URL)
		webhooks("test", made["id"].(string)).wants(t, exitDone, "succeeded 200")
		webhooks("rm", made["id"].(string)).wants(t, exitDone, "deleted")
	}
	// Not the newest one: what the other endpoint missed may still come.
	if !slices.ContainsFunc(hook.Requests(), func(r receiver.Request) bool { return r.Header.Get("Authorization") == "Bearer tok-1234567890" }) {
		t.Error("nothing came with the Authorization of the file")
	}
	webhooks("rm", "we_nonsense").wants(t, exitFailed, "there is no endpoint we_nonsense")
	webhooks("rm", id).wants(t, exitDone, "deleted "+hook.URL)
	for _, request := range hook.Requests() {
		if request.Err != nil {
			t.Errorf("%s: %v", request.Type, request.Err)
		}
	}
}
