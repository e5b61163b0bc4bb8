package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestCrashBeforeAnswer repeats requests whose node died after their work and before it stored
// their answer: what was made is found, and nothing is made or done again.
func TestCrashBeforeAnswer(t *testing.T) {
	t.Parallel()
	hook, shop := receiver.New(t), httptool.New(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	in := env.Tenant.In
	agent := env.Do(t, "POST", in("/agents"), `{"name":"Ada","model":{"provider":"extractive"}}`).Must(t, 201).Text("id")
	tool := env.Do(t, "POST", in("/tools"),
		`{"slug":"count","description":"d","kind":"http","method":"POST","webhook_url":"`+shop.URL+`/count"}`).Must(t, 201).Text("id")
	env.Do(t, "POST", in("/agents/"+agent+"/tools/attach"), `{"tool_id":"`+tool+`","enabled":true}`).Must(t, 200)
	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	for name, row := range map[string]struct {
		path, body, id string
		// table counts what is made.
		table string
	}{
		"Agent":     {in("/agents"), `{"name":"Eva"}`, "id", "agents"},
		"Tool":      {in("/tools"), `{"slug":"other","description":"d","kind":"http","webhook_url":"` + shop.URL + `/x"}`, "id", "tools"},
		"Source":    {in("/knowledge-base/sources/inline"), `{"name":"n","content":"Some text."}`, "id", "sources"},
		"Session":   {"/v1/sessions", `{"agent_id":"` + agent + `","user_id":"v","modality":"text"}`, "id", "sessions"},
		"Turn":      {"/v1/sessions/" + session + "/turns", `{"text":"/tool count {\"n\":1}"}`, "turn_id", "turns"},
		"Endpoint":  {in("/webhooks"), `{"url":"` + hook.URL + `","events":[]}`, "id", "webhook_endpoints"},
		"Key":       {"/v1/api-keys", `{"name":"k","scope":"read"}`, "id", "api_keys"},
		"Workspace": {"/v1/workspaces", `{"name":"w"}`, "id", "workspaces"},
	} {
		t.Run(name, func(t *testing.T) {
			first := env.Do(t, "POST", row.path, row.body, withKey("crash-"+name))
			if first.Status >= 300 {
				t.Fatalf("got %d %s", first.Status, first.Body)
			}
			before := env.Counts(t)[row.table]
			env.Exec(t, "UPDATE idempotency_keys SET answer = NULL, lease_until = now() - interval '1 s' WHERE answer IS NOT NULL")
			again := env.Do(t, "POST", row.path, row.body, withKey("crash-"+name)).Must(t, first.Status)
			if got, want := again.Text(row.id), first.Text(row.id); got != want || want == "" || again.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("again it is %s, was %s", got, want)
			}
			if after := env.Counts(t)[row.table]; after != before {
				t.Errorf("%d rows of %s, were %d", after, row.table, before)
			}
			checkSecret(t, env, name, again)
		})
	}
	if calls := shop.Requests("/count"); len(calls) != 1 {
		t.Errorf("the turn's tool was called %d times", len(calls))
	}
}

// checkSecret looks that what is shown once works, although it is shown a second time.
func checkSecret(t *testing.T, env *harness.Env, name string, got harness.Response) {
	t.Helper()
	switch name {
	case "Key":
		env.Do(t, "GET", env.Tenant.In("/agents"), nil, harness.Key(got.Text("secret"))).Must(t, 200)
	case "Endpoint":
		if secret := got.Text("secret"); !strings.HasPrefix(secret, "whsec_") || !strings.HasSuffix(secret, got.Text("secret_hint")) {
			t.Errorf("the endpoint's secret: %s", got.Body)
		}
	case "Session":
		env.Do(t, "POST", "/v1/sessions/"+got.Text("id")+"/turns", `{"text":"Hello?"}`, harness.Key(got.Text("token"))).Must(t, 200)
	}
}
