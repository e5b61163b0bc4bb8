package scenario

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestWebhookEcho has endpoints send the secrets in their headers back. None is readable in what
// is recorded of the attempt.
func TestWebhookEcho(t *testing.T) {
	t.Parallel()
	const key = `sk/live&"Ab12Cd34Ef56<Gh78`
	const header = "Bearer " + key
	quoted, err := json.Marshal(header) // with < and & as the letters u003c and u0026
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]receiver.Answer{
		"the token alone": {Body: `invalid token ` + key + `.`},
		"in a header":     {Header: map[string]string{"X-Echo": key}},
		"escaped in JSON": {Body: `{"got":` + string(quoted) + `}`},
		"as PHP does":     {Body: `{"got":"` + strings.ReplaceAll(header, "/", `\/`) + `"}`},
		"in a URL":        {Body: "/sign-in?with=" + url.QueryEscape(header)},
		"where it is cut": {Body: strings.Repeat("a", 4096-len(header)+4) + header},
		"in what is read": {Body: strings.Repeat(header, 500) + "end"},
	}
	hook := receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	in := env.Tenant.In
	for name, answer := range answers {
		hook.Always(answer)
		path := in("/webhooks/" + env.Do(t, "POST", in("/webhooks"), map[string]any{
			"url": hook.URL, "headers": map[string]string{"Authorization": header, "X-Short": "12345"},
		}).Must(t, 201).Text("id"))
		env.Do(t, "POST", path+"/test", `{"event":"kb.source_ingested"}`).Must(t, 200)
		var shown harness.Response
		harness.Await(t, harness.Patience, "the attempt is written down", func() bool {
			listed := env.Do(t, "GET", path+"/deliveries", "").Must(t, 200)
			if len(listed.List("deliveries")) == 0 || listed.Text("deliveries", 0, "status") != "succeeded" {
				return false
			}
			shown = env.Do(t, "GET", path+"/deliveries/"+listed.Text("deliveries", 0, "id"), "").Must(t, 200)
			return true
		})
		recorded := shown.Text("response_body") + " " + shown.Text("response_headers", "X-Echo")
		if strings.Contains(recorded, "Ab12") || !strings.Contains(recorded, "aaaa") && !strings.Contains(recorded, "REDACTED") {
			t.Errorf("%s: %s", name, recorded)
		}
		if shown.Text("request_headers", "Authorization") != "REDACTED" || shown.Text("request_headers", "X-Short") != "REDACTED" {
			t.Errorf("%s: sent with %s", name, shown.Body)
		}
	}
}
