package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/workspaces"
)

// TestUsage: what a tenant does is counted with its cost, thresholds are sent as they are reached,
// and what is used up is refused until the plan has more.
func TestUsage(t *testing.T) {
	t.Parallel()
	write := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	llm, hook := openaichat.New(t), receiver.New(t)
	llm.Else = func(modeltest.Received) modeltest.Reply { return modeltest.Reply{Text: []string{"All is well."}} }
	env := harness.Start(t, harness.Options{Plan: "small", Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_EGRESS_CA_FILE": hook.CAFile(t),
		"PARLANCE_PLANS_FILE": write("plans.json", `{
			"small": {"kb_storage_bytes": 1000, "kb_upload_bytes": 1000, "tools": true, "monthly": {"turns": 4}},
			"large": {"kb_storage_bytes": 1000, "kb_upload_bytes": 1000, "tools": true, "monthly": {"turns": 400}}}`),
		"PARLANCE_MODEL_PRICES_FILE": write("prices.json",
			`{"currency": "EUR", "models": {"openai": {"input_per_million": "1000000", "output_per_million": "2000000"}}}`),
	}})
	secret := env.Do(t, "POST", env.Tenant.In("/webhooks"),
		map[string]any{"url": hook.URL, "events": []string{"usage.threshold"}}).Must(t, 201).Text("secret")
	hook.Expect(secret)
	env.Do(t, "POST", "/v1/usage/alerts", `{"meter":"sessions","quantity":2}`, harness.Key(env.Tenant.Operator)).Must(t, 403)
	alert := env.Do(t, "POST", "/v1/usage/alerts", `{"meter":"sessions","quantity":2}`, harness.Key(env.Tenant.Admin)).Must(t, 201).Text("id")
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","memory":{}}`).Must(t, 201).Text("id")
	session := func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u", "modality": "text"})
	}
	say := func(id string) harness.Response {
		return env.Do(t, "POST", "/v1/sessions/"+id+"/turns", `{"text":"How are you?"}`)
	}
	first, second := session().Must(t, 201).Text("id"), session().Must(t, 201).Text("id")
	for _, id := range []string{first, first, second, second} {
		say(id).Must(t, 200)
	}
	env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), `{"name":"n","content":"Eighteen bytes ..."}`).Must(t, 202)
	refused := func() harness.Response {
		var got harness.Response
		harness.Await(t, harness.Patience, "a session is refused", func() bool { got = session(); return got.Status == 402 })
		return got
	}()
	if refused.Code() != "quota-exceeded-usage" || !strings.Contains(string(refused.Body), `The plan \"large\" has more`) {
		t.Errorf("a session beyond the quota: %s", refused.Body)
	}
	if got := say(first); got.Status != 402 || got.Code() != "quota-exceeded-usage" {
		t.Errorf("a turn beyond the quota: %d %s", got.Status, got.Body)
	}
	thresholds := map[string]bool{}
	harness.Await(t, harness.Patience, "the thresholds", func() bool {
		for _, r := range hook.Requests() {
			var event struct {
				Data struct {
					Meter            string
					ThresholdPercent int `json:"threshold_percent"`
				}
			}
			if err := json.Unmarshal(r.Body, &event); err != nil || r.Err != nil {
				t.Fatal(err, r.Err)
			}
			thresholds[event.Data.Meter+" "+strconv.Itoa(event.Data.ThresholdPercent)] = true
		}
		return len(thresholds) == 4
	})
	for _, want := range []string{"turns 50", "turns 80", "turns 100", "sessions 100"} {
		if !thresholds[want] {
			t.Errorf("%s was not announced: %v", want, thresholds)
		}
	}
	var usage harness.Response
	meters := map[string]map[string]any{}
	harness.Await(t, harness.Patience, "the deliveries and the source are counted", func() bool {
		usage = env.Do(t, "GET", "/v1/usage", nil).Must(t, 200)
		for _, one := range usage.List("meters") {
			if meter, ok := one.(map[string]any); ok {
				meters[fmt.Sprint(meter["meter"])] = meter
			}
		}
		return meters["deliveries"]["quantity"] == 4.0 && meters["kb_bytes"]["quantity"] == 18.0
	})
	tokens := 4 * float64(modeltest.Usage.InputTokens+modeltest.Usage.OutputTokens)
	cost := strconv.Itoa(4 * (modeltest.Usage.InputTokens + 2*modeltest.Usage.OutputTokens))
	if usage.Text("plan") != "small" || usage.Text("cost") != cost || usage.Text("currency") != "EUR" || meters["turns"]["quantity"] != 4.0 ||
		meters["turns"]["limit"] != 4.0 || meters["turns"]["percent"] != 100.0 || meters["sessions"]["quantity"] != 2.0 ||
		meters["tokens"]["quantity"] != tokens {
		t.Errorf("the usage: %s", usage.Body)
	}
	of := env.Do(t, "GET", "/v1/sessions/"+first, nil).Must(t, 200)
	if want := strconv.Itoa(2 * (modeltest.Usage.InputTokens + 2*modeltest.Usage.OutputTokens)); of.Text("usage", "cost") != want {
		t.Errorf("the session cost %q, want %q", of.Text("usage", "cost"), want)
	}
	days := env.Do(t, "GET", "/v1/usage/days?meter=turns&group_by=agent&group_by=workspace", nil).Must(t, 200)
	if days.Text("rows", 0, "agent_id") != agent || days.At("rows", 0, "quantity") != 4.0 || len(days.List("rows")) != 1 {
		t.Errorf("by agent: %s", days.Body)
	}
	if _, err := env.App.Workspaces.SetPlan(t.Context(), workspaces.TenantID(env.Tenant.ID), "large"); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, harness.Patience, "a turn on the larger plan", func() bool { return say(first).Status == 200 })
	env.Do(t, "DELETE", "/v1/usage/alerts/"+alert, nil, harness.Key(env.Tenant.Admin)).Must(t, 204)
	env.Do(t, "DELETE", "/v1/usage/alerts/"+alert, nil, harness.Key(env.Tenant.Admin)).Must(t, 204)
	other := env.NewTenant(t, "small")
	if got := env.Do(t, "GET", "/v1/usage", nil, harness.Key(other.Read)).Must(t, 200); strings.Contains(string(got.Body), `"quantity":4`) {
		t.Errorf("another tenant's usage: %s", got.Body)
	}
}
