package scenario

import (
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestOtherSpellings: JSON callers may write variables as numbers and booleans, client tools as
// OpenAI does, and any number of seconds. Connect takes the contract's values only.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	llm, shop := openaichat.New(t), httptool.New(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := func(path, user, rest string) harness.Response {
		return env.Do(t, "POST", path, `{"agent_id":"`+agent+`","user_id":"`+user+`","modality":"text"`+rest+`}`)
	}
	variables := `,"dynamic_variables":{"n": 5, "vip":true ,"x":"y"}`
	made := session("/v1/sessions", "u", variables+`,"ttl_seconds":3000000000`).Must(t, 201)
	seen := env.Do(t, "GET", "/v1/sessions/"+made.Text("id"), nil).Must(t, 200)
	if seen.Text("dynamic_variables", "n") != "5" || seen.Text("dynamic_variables", "vip") != "true" {
		t.Errorf("variables: %s", seen.Body)
	}
	for body, field := range map[string]string{
		`,"dynamic_variables":{"n":[5]}`:         `dynamic_variables["n"]`,
		`,"dynamic_variables":{"n":5,"n":"a"}`:   `dynamic_variables["n"]`,
		`,"ttl_seconds":1.5`:                     "ttl_seconds",
		`,"ttl_seconds":59`:                      "ttl_seconds",
		`,"ttl_seconds":-3000000000`:             "ttl_seconds",
		`,"dynamic_variables":5,"ttl_seconds":"`: "",
	} {
		refused := session("/v1/sessions", "u", body)
		checkProblem(t, refused, 400, "invalid-request")
		if field != "" && refused.Text("errors", 0, "field") != field {
			t.Errorf("%s: %s", body, refused.Body)
		}
	}
	for _, value := range []string{"null", "[5]", `{"a":1}`} {
		refused := session("/v1/sessions", "u", `,"dynamic_variables":{"n":`+value+`}`)
		if got, want := refused.Text("errors", 0, "message"), "Must be a string, a number, true or false."; got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
		refused = session("/parlance.v1.SessionService/CreateSession", "u", `,"dynamic_variables":{"n":`+value+`}`)
		if !strings.Contains(string(refused.Body), "Must be a string.") {
			t.Errorf("%s over Connect: %s", value, refused.Body)
		}
	}
	if refused := session("/v1/sessions", "  ", ""); refused.Status != 400 || refused.Text("errors", 0, "field") != "user_id" {
		t.Errorf("a blank user: %s", refused.Body)
	}
	if strict := session("/parlance.v1.SessionService/CreateSession", "u", variables); strict.Status != 400 {
		t.Errorf("Connect: %d %s", strict.Status, strict.Body)
	}

	tool := map[string]any{
		"slug": "find", "description": "Finds.", "kind": "http", "method": "GET", "webhook_url": shop.URL + "/find?n={{n}}",
		"allow_dynamic_vars": true, "auth_header": "  ",
	}
	if refused := env.Do(t, "POST", env.Tenant.In("/tools"), tool); refused.Status != 400 ||
		refused.Text("errors", 0, "field") != "auth_header" {
		t.Errorf("a blank auth_header: %s", refused.Body)
	}
	delete(tool, "auth_header")
	path := env.Tenant.In("/tools/" + env.Do(t, "POST", env.Tenant.In("/tools"), tool).Must(t, 201).Text("id"))
	env.Do(t, "POST", path+"/run", `{"dynamic_variables":{"n":7}}`).Must(t, 200)
	if got := shop.Requests("/find"); len(got) != 1 || got[0].Query.Get("n") != "7" {
		t.Errorf("sent %+v", got)
	}

	turns := "/v1/sessions/" + made.Text("id") + "/turns"
	llm.Add(openaichat.Reply{Text: []string{"Well."}})
	env.Do(t, "POST", turns, `{"text":"Hello","client_tools":[
		{"type":"function","function":{"name":"one","description":"d","parameters":{"type":"object"},"strict":true}},
		{"type":"function","name":"two","parameters":{"properties":{}},"strict":false},{"name":"three"}]}`).Must(t, 200)
	var offered []string
	for _, one := range llm.Requests()[0].Tools {
		offered = append(offered, one.Name)
	}
	for _, name := range []string{"one", "two", "three"} {
		if !slices.Contains(offered, name) {
			t.Errorf("offered %v, want %s", offered, name)
		}
	}
	refused := env.Do(t, "POST", turns, `{"text":"Hello","client_tools":[{"name":"one","parameters":{"type":"objekt"}}]}`)
	checkProblem(t, refused, 400, "invalid-request")
	if refused.Text("errors", 0, "field") != "client_tools[0].parameters" {
		t.Errorf("a schema that is none: %s", refused.Body)
	}
}
