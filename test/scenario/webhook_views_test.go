package scenario

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// sseEvent is one Server-Sent Event.
type sseEvent struct{ id, name, data string }

// followEvents reads n events of the workspace's feed.
func followEvents(t *testing.T, env *harness.Env, query string, n int, with ...harness.With) []sseEvent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	request, err := env.NewRequest(t, "GET", env.Tenant.In("/events"+query), nil,
		append(with, harness.Header("Accept", "text/event-stream"))...)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it never ends by itself
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	var got []sseEvent
	var one sseEvent
	lines := bufio.NewScanner(response.Body)
	for len(got) < n && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "id":
			one.id = value
		case name == "event":
			one.name = value
		case name == "data":
			one.data = value
		case lines.Text() == "" && one.data != "":
			got, one = append(got, one), sseEvent{}
		}
	}
	if len(got) < n {
		t.Fatalf("%d of %d events came: %v", len(got), n, lines.Err())
	}
	return got
}

// TestWebhookViews: what an operator sees of an endpoint and of the feed, over REST.
func TestWebhookViews(t *testing.T) {
	t.Parallel()
	hook := receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	in := env.Tenant.In
	made := env.Do(t, "POST", in("/webhooks"), `{"url":"`+hook.URL+`","events":["kb.source_ingested"]}`).Must(t, 201)
	if made.Text("health") != "ok" || made.At("disable_progress") != 0.0 {
		t.Errorf("a new endpoint: %s", made.Body)
	}
	endpoint := in("/webhooks/" + made.Text("id"))
	hook.Script(receiver.Answer{Status: 400, Body: "not today"})
	began := time.Now().UTC().Add(-time.Minute).Format(time.RFC3339)
	env.Do(t, "POST", in("/knowledge-base/sources/inline"), `{"name":"n","content":"Something to read."}`).Must(t, 202)
	harness.Await(t, harness.Patience, "the delivery has failed", func() bool {
		return len(env.Do(t, "GET", endpoint+"/deliveries?status=failed", nil).Must(t, 200).List("deliveries")) == 1
	})
	failed := env.Do(t, "GET",
		endpoint+"/deliveries?status=failed&event=kb.source_ingested&omit_bodies=true&started_after="+began, nil).Must(t, 200)
	if failed.Text("deliveries", 0, "request_body") != "" {
		t.Errorf("a list without bodies: %s", failed.Body)
	}
	eventID := failed.Text("deliveries", 0, "event_id")
	whole := env.Do(t, "GET", endpoint+"/deliveries/"+failed.Text("deliveries", 0, "id"), nil).Must(t, 200)
	if whole.Text("response_body") != "not today" || !strings.Contains(whole.Text("request_body"), eventID) {
		t.Errorf("one delivery: %s", whole.Body)
	}
	health := env.Do(t, "GET", endpoint+"/health", nil).Must(t, 200)
	if health.At("attempts") != 1.0 || health.At("success_rate") != 0.0 || health.At("failed_events") != 1.0 ||
		health.Text("disable_not_before") == "" {
		t.Errorf("health: %s", health.Body)
	}
	for path, code := range map[string]string{
		"/deliveries?status=done":       "invalid-request",
		"/deliveries?event=nonsense":    "webhook-event-unknown",
		"/deliveries?started_after=now": "invalid-request",
	} {
		checkProblem(t, env.Do(t, "GET", endpoint+path, nil), 400, code)
	}
	checkProblem(t, env.Do(t, "GET", endpoint+"/deliveries/dlv_none", nil), 404, "not-found")
	checkProblem(t, env.Do(t, "POST", endpoint+"/recover", `{}`), 400, "invalid-request")

	again := env.Do(t, "POST", endpoint+"/recover", `{"since":"`+began+`"}`, harness.Header("Idempotency-Key", "once")).Must(t, 200)
	if again.At("recovered") != 1.0 || again.At("more") != false {
		t.Errorf("recover: %s", again.Body)
	}
	harness.Await(t, harness.Patience, "the event was received", func() bool {
		return env.Do(t, "GET", endpoint+"/deliveries?status=succeeded&event_id="+eventID, nil).Must(t, 200).At("deliveries", 0, "attempt") == 2.0
	})

	// The feed as a stream: from the beginning, by name, and on from the last id.
	env.Do(t, "POST", in("/knowledge-base/sources/inline"), `{"name":"m","content":"More to read."}`).Must(t, 202)
	all := followEvents(t, env, "?after=0&events=kb.source_ingested&events=dsar.ready", 2)
	if all[0].name != "kb.source_ingested" || !strings.Contains(all[0].data, eventID) || all[0].id == "" {
		t.Errorf("the first event: %+v", all[0])
	}
	rest := followEvents(t, env, "?after=0", 1, harness.Header("Last-Event-ID", all[0].id))
	if rest[0] != all[1] {
		t.Errorf("after the first came %+v, want %+v", rest[0], all[1])
	}
	checkProblem(t, env.Do(t, "GET", in("/events?events=nonsense"), nil), 400, "webhook-event-unknown")
	env.Exec(t, "INSERT INTO event_feed_floors (tenant_id, workspace_id, position) VALUES ($1, $2, 1000000)",
		env.Tenant.ID, env.Tenant.WorkspaceID)
	checkProblem(t, env.Do(t, "GET", in("/events?after="+all[0].id), nil), 409, "events-cursor-expired")
	checkProblem(t, env.Do(t, "GET", in("/events?after="+all[0].id), nil,
		harness.Header("Accept", "text/event-stream")), 409, "events-cursor-expired")
}
