package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestWebhookOptions goes through REST: what an endpoint asks for beside its events is kept, shown
// without its secrets, refused with a field when it is wrong, and obeyed by the worker.
func TestWebhookOptions(t *testing.T) {
	t.Parallel()
	hook := receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	in := env.Tenant.In
	began := time.Now().UTC()
	agents := make([]string, 2)
	for i := range agents {
		agents[i] = env.Do(t, "POST", in("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	}
	foreign := env.Do(t, "POST", "/v1/workspaces", `{"name":"other"}`).Must(t, 201).Text("id")
	stranger := env.Do(t, "POST", "/v1/workspaces/"+foreign+"/agents", `{"name":"Eve"}`).Must(t, 201).Text("id")
	for field, wrong := range map[string]string{
		"max_per_second": `"max_per_second":1001`,
		"max_in_flight":  `"max_in_flight":-1`,
		"headers":        `"headers":{"webhook-id":"x"}`,
	} {
		checkField(t, env.Do(t, "POST", in("/webhooks"), `{"url":"`+hook.URL+`",`+wrong+`}`), field)
	}
	for _, unknown := range []string{`["` + agents[0] + `","` + stranger + `"]`, `["nothing"]`} {
		checkProblem(t, env.Do(t, "POST", in("/webhooks"), `{"url":"`+hook.URL+`","agent_ids":`+unknown+`}`), 404, "not-found")
	}
	for name, value := range map[string]string{
		"Host": "x", "content-length": "1", "Transfer-Encoding": "chunked", "connection": "close",
		"Proxy-Authorization": "x", "X-Parlance-Event": "x",
		"WEBHOOK-Signature": "x", "User-Agent": "x", "Traceparent": "x", "Two Words": "x", "": "x",
		"X-Lines": "a\r\nX-More: b", "X-Control": "a\x01", "X-Long": strings.Repeat("v", 4097),
		strings.Repeat("n", 101): "x",
	} {
		refused := env.Do(t, "POST", in("/webhooks"), map[string]any{"url": hook.URL, "headers": map[string]string{name: value}})
		checkField(t, refused, "headers")
	}
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprint("X-", i)] = "v"
	}
	checkField(t, env.Do(t, "POST", in("/webhooks"), map[string]any{"url": hook.URL, "headers": many}), "headers")
	checkField(t, env.Do(t, "POST", in("/webhooks"), map[string]any{
		"url":     hook.URL,
		"headers": map[string]string{"X-A": "1", "x-a": "2"},
	}), "headers")

	const token = "Bearer its-own-secret"
	made := env.Do(t, "POST", in("/webhooks"), map[string]any{
		"url": hook.URL, "events": []string{"post_call_transcription"}, "agent_ids": agents[:1], "ordered": true,
		"max_per_second": 500, "max_in_flight": 7,
		"headers": map[string]string{"authorization": token, "X-Team": "ops"},
	}).Must(t, 201)
	hook.Expect(made.Text("secret"))
	path := in("/webhooks/" + made.Text("id"))
	got := env.Do(t, "GET", path, "").Must(t, 200)
	for _, shown := range []harness.Response{made, got} {
		if strings.Contains(string(shown.Body), "its-own-secret") || fmt.Sprint(shown.At("header_names")) != "[Authorization X-Team]" ||
			fmt.Sprint(shown.At("agent_ids")) != "["+agents[0]+"]" || shown.At("ordered") != true ||
			shown.At("max_per_second") != 500.0 || shown.At("max_in_flight") != 7.0 {
			t.Errorf("shown: %s", shown.Body)
		}
	}
	stored := harness.Rows[string](t, env, "SELECT encode(headers, 'escape') FROM webhook_endpoints")
	if len(stored) != 1 || stored[0] == "" || strings.Contains(stored[0], "its-own-secret") {
		t.Errorf("stored: %q", stored)
	}

	talk := func(agent string) {
		t.Helper()
		session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
		env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`).Must(t, 200)
		env.Do(t, "POST", "/v1/sessions/"+session+"/end", `{"status":"completed"}`).Must(t, 200)
	}
	hook.Always(receiver.Answer{Body: "you sent " + token})
	talk(agents[1])
	talk(agents[0])
	patient, stop := context.WithTimeout(t.Context(), harness.Patience)
	defer stop()
	requests := hook.Await(patient, t, 1)
	if requests[0].Err != nil || requests[0].Header.Get("Authorization") != token ||
		requests[0].Header.Get("X-Team") != "ops" || !strings.Contains(string(requests[0].Body), agents[0]) {
		t.Errorf("the request: %v %v", requests[0].Err, requests[0].Header)
	}
	var listed harness.Response
	harness.Await(t, harness.Patience, "the attempt is written down", func() bool {
		listed = env.Do(t, "GET", path+"/deliveries", "").Must(t, 200)
		return len(listed.List("deliveries")) == 1 && listed.Text("deliveries", 0, "status") == "succeeded"
	})
	if strings.Contains(string(listed.Body), "its-own-secret") || listed.Text("deliveries", 0, "request_headers",
		"Authorization") != "REDACTED" || listed.Text("deliveries", 0, "response_body") != "you sent REDACTED" {
		t.Errorf("written down: %s", listed.Body)
	}

	// PATCH: absent keeps, null clears.
	kept := env.Do(t, "PATCH", path, `{"description":"d"}`).Must(t, 200)
	if fmt.Sprint(kept.At("header_names")) != "[Authorization X-Team]" || kept.At("ordered") != true || kept.At("max_in_flight") != 7.0 {
		t.Errorf("kept: %s", kept.Body)
	}
	replaced := env.Do(t, "PATCH", path, `{"headers":{"X-Only":"1"},"max_in_flight":null,"ordered":false}`).Must(t, 200)
	if fmt.Sprint(replaced.At("header_names")) != "[X-Only]" || replaced.At("ordered") != false ||
		replaced.At("max_in_flight") != 0.0 || replaced.At("max_per_second") != 500.0 {
		t.Errorf("replaced: %s", replaced.Body)
	}
	checkProblem(t, env.Do(t, "PATCH", path, `{"agent_ids":["`+stranger+`"]}`), 404, "not-found")
	cleared := env.Do(t, "PATCH", path, `{"headers":null,"agent_ids":null,"max_per_second":0}`).Must(t, 200)
	if fmt.Sprint(cleared.At("header_names")) != "[]" || fmt.Sprint(cleared.At("agent_ids")) != "[]" || cleared.At("max_per_second") != 0.0 {
		t.Errorf("cleared: %s", cleared.Body)
	}

	// What was left out for its agent is sent when it is asked for; what was received is not.
	checkField(t, env.Do(t, "POST", path+"/enable", map[string]any{"since": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}), "since")
	checkProblem(t, env.Do(t, "POST", path+"/enable", `{"since":"yesterday"}`), 400, "invalid-request")
	if plain := env.Do(t, "POST", path+"/enable", `{}`).Must(t, 200); plain.At("requeued") != nil {
		t.Errorf("enabled without since: %s", plain.Body)
	}
	since := map[string]any{"since": began.Format(time.RFC3339Nano)}
	if anew := env.Do(t, "POST", path+"/enable", since).Must(t, 200); anew.At("requeued") != 1.0 {
		t.Errorf("sent anew: %s", anew.Body)
	}
	requests = hook.Await(patient, t, 2)
	if !strings.Contains(string(requests[1].Body), agents[1]) || requests[1].Header.Get("Authorization") != "" {
		t.Errorf("sent anew: %s", requests[1].Body)
	}
	if again := env.Do(t, "POST", path+"/enable", since).Must(t, 200); again.At("requeued") != 0.0 {
		t.Errorf("a second time: %s", again.Body)
	}
}

// checkField fails unless an answer is 400 invalid-request about the field.
func checkField(t *testing.T, got harness.Response, field string) {
	t.Helper()
	checkProblem(t, got, 400, "invalid-request")
	if fields := got.Problem.Fields(); len(fields) != 1 || fields[0] != field {
		t.Errorf("the fields are %v, want %s: %s", fields, field, got.Body)
	}
}
