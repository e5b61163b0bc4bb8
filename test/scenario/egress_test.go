package scenario

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// counted is a model server that keeps the path of every request.
type counted struct {
	*httptest.Server

	mu    sync.Mutex
	paths []string
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	target, err := url.Parse(openaichat.New(t).BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})
	c := &counted{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.paths = append(c.paths, r.URL.Path)
		c.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// strange are the paths that no model is asked by.
func (c *counted) strange() (all int, strange []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range c.paths {
		if path != "/v1/chat/completions" {
			strange = append(strange, path)
		}
	}
	return len(c.paths), strange
}

// TestDeniedRangesAreNotReached: PARLANCE_EGRESS_DENY_CIDRS closes an address that
// PARLANCE_EGRESS_ALLOW_CIDRS opened, when it is stored and when a stored address is called.
func TestDeniedRangesAreNotReached(t *testing.T) {
	t.Parallel()
	asked := newCounted(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{"PARLANCE_EGRESS_DENY_CIDRS": "127.0.0.1/32"}})
	in := env.Tenant.In
	tool := map[string]string{"slug": "t", "description": "d", "kind": "http", "webhook_url": "http://127.0.0.2/tool"}
	id := env.Do(t, "POST", in("/tools"), tool).Must(t, 201).Text("id")
	tool["slug"], tool["webhook_url"] = "u", asked.URL+"/tool"
	checkProblem(t, env.Do(t, "POST", in("/tools"), tool), 400, "invalid-request")
	for _, target := range []string{asked.URL, strings.Replace(asked.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		env.Exec(t, "UPDATE tools SET config = jsonb_set(config, '{webhook_url}', to_jsonb($1::text))", target+"/tool")
		if ran := env.Do(t, "POST", in("/tools/"+id+"/run"), `{}`).Must(t, 200); ran.Text("error", "code") != "not-public" {
			t.Errorf("%s: %s", target, ran.Body)
		}
	}
	if all, _ := asked.strange(); all != 0 {
		t.Errorf("the denied address got %d requests", all)
	}
}

// TestTenantsCannotReachTheModel runs as in production, with a model on loopback that the operator
// named: conversations reach it, and nothing that a tenant can set does, neither when it is stored
// nor when a stored address has come to be that one.
func TestTenantsCannotReachTheModel(t *testing.T) {
	t.Parallel()
	model := newCounted(t)
	env := harness.Start(t, harness.Options{Guarded: true, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": model.URL + "/v1", "PARLANCE_MODEL_NAME": "m",
	}})
	in, secure := env.Tenant.In, strings.Replace(model.URL, "http://", "https://", 1)
	named := strings.Replace(model.URL, "127.0.0.1", "localhost", 1)
	for _, target := range []string{
		model.URL, named, strings.Replace(model.URL, "127.0.0.1", "2130706433", 1),
		strings.Replace(model.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1),
	} {
		checkProblem(t, env.Do(t, "POST", in("/tools"), map[string]string{
			"slug": "t", "description": "d",
			"kind": "http", "webhook_url": target + "/tool",
		}), 400, "invalid-request")
		checkProblem(t, env.Do(t, "POST", in("/tools"), map[string]string{
			"slug": "t", "description": "d",
			"kind": "mcp", "mcp_server_url": target + "/mcp",
		}), 400, "invalid-request")
		hook := strings.Replace(target, "http://", "https://", 1) + "/hook"
		checkProblem(t, env.Do(t, "POST", in("/webhooks"),
			map[string]any{"url": hook, "events": []string{"kb.source_ingested"}}), 400, "webhook-url-not-public")
	}
	credential := map[string]string{"kind": "model", "provider": "openai", "api_key": ownKey, "base_url": secure + "/v1"}
	checkProblem(t, env.Do(t, "POST", in("/provider-credentials"), credential), 400, "invalid-request")

	// What is stored is checked again when it is dialled.
	tool := env.Do(t, "POST", in("/tools"), map[string]string{
		"slug": "t", "description": "d", "kind": "http",
		"webhook_url": "https://8.8.8.8/tool",
	}).Must(t, 201).Text("id")
	hook := env.Do(t, "POST", in("/webhooks"), map[string]any{
		"url":    "https://8.8.8.8/hook",
		"events": []string{"kb.source_ingested"},
	}).Must(t, 201).Text("id")
	other := env.Do(t, "POST", "/v1/workspaces", `{"name":"other"}`).Must(t, 201).Text("id")
	credential["base_url"] = "https://8.8.8.8/credential"
	own := env.Do(t, "POST", "/v1/workspaces/"+other+"/provider-credentials", credential).Must(t, 201).Text("id")
	env.Exec(t, "UPDATE tools SET config = jsonb_set(config, '{webhook_url}', to_jsonb($1::text))", model.URL+"/tool")
	env.Exec(t, "UPDATE webhook_endpoints SET url = $1", model.URL+"/hook")
	env.Exec(t, "UPDATE provider_credentials SET base_url = $1", model.URL+"/credential")
	ran := env.Do(t, "POST", in("/tools/"+tool+"/run"), `{}`).Must(t, 200)
	if ran.Text("error", "code") != "not-public" {
		t.Errorf("the tool: %s", ran.Body)
	}
	delivery := env.Do(t, "POST", in("/webhooks/"+hook+"/test"), `{"event":"kb.source_ingested"}`).Must(t, 200)
	if delivery.Text("status") != "failed" || !strings.Contains(delivery.Text("error"), "public") {
		t.Errorf("the webhook: %s", delivery.Body)
	}
	tried := env.Do(t, "POST", "/v1/workspaces/"+other+"/provider-credentials/"+own+"/test", `{}`).Must(t, 200)
	if tried.At("ok") != false || strings.Contains(tried.Text("detail"), "127.0.0.1") {
		t.Errorf("the credential: %s", tried.Body)
	}

	agent := env.Do(t, "POST", in("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`).Must(t, 200)
	if all, strange := model.strange(); all != 1 || len(strange) > 0 {
		t.Errorf("the model got %d requests, %v among them", all, strange)
	}
}
