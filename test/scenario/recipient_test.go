package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// TestSecretStaysWithItsServer changes the address of everything that is sent a write-only secret.
// A path may change; another scheme, host or port needs the secret again or cleared.
func TestSecretStaysWithItsServer(t *testing.T) {
	t.Parallel()
	hook, other := receiver.New(t), receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	for name, row := range map[string]struct {
		path, create string
		url, secret  string // the fields
		value        string // of the secret, in JSON
		here, there  string
	}{
		"HTTPTool": {
			"/tools", `"slug":"shop","description":"d","kind":"http"`, "webhook_url", "auth_header", `"Bearer k"`,
			"https://shop.example/a", "https://thief.example/a",
		},
		"MCPTool": {
			"/tools", `"slug":"remote","description":"d","kind":"mcp"`, "mcp_server_url", "auth_header", `"Bearer k"`,
			"https://shop.example/mcp", "https://shop.example:8443/mcp",
		},
		"HTTPToolHeaders": {
			"/tools", `"slug":"store","description":"d","kind":"http"`, "webhook_url", "secret_headers", `{"X-Key":"k"}`,
			"https://shop.example/a", "https://shop.example:8443/a",
		},
		"MCPToolHeaders": {
			"/tools", `"slug":"far","description":"d","kind":"mcp"`, "mcp_server_url", "secret_headers", `{"X-Key":"k"}`,
			"https://shop.example/mcp", "https://thief.example/mcp",
		},
		"Webhook": {"/webhooks", `"events":[]`, "url", "headers", `{"X-Key":"k"}`, hook.URL + "/a", other.URL + "/a"},
		"Credential": {
			"/provider-credentials", `"kind":"model","provider":"openai"`, "base_url", "api_key", `"k"`,
			"https://a.example/v1", "https://b.example/v1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := env.Tenant.In(row.path)
			pair := func(field, value string) string { return fmt.Sprintf(`"%s":%s`, field, value) }
			quoted := func(text string) string { return `"` + text + `"` }
			made := env.Do(t, "POST", in, "{"+row.create+","+pair(row.url, quoted(row.here))+","+pair(row.secret, row.value)+"}").Must(t, 201)
			one := in + "/" + made.Text("id")
			patch := func(pairs ...string) harness.Response {
				return env.Do(t, "PATCH", one, "{"+strings.Join(pairs, ",")+"}")
			}
			checkField(t, patch(pair(row.url, quoted(row.there))), row.secret)
			if got := env.Do(t, "GET", one, nil).Must(t, 200); got.Text(row.url) != row.here {
				t.Errorf("a refused change was made: %s", got.Body)
			}
			patch(pair(row.url, quoted(row.here+"/b"))).Must(t, 200)
			patch(pair(row.url, quoted(row.there)), pair(row.secret, row.value)).Must(t, 200)
			if row.secret == "api_key" {
				return // it cannot be cleared
			}
			patch(pair(row.url, quoted(row.here)), pair(row.secret, "null")).Must(t, 200)
			patch(pair(row.url, quoted(row.there))).Must(t, 200)
		})
	}
}

// TestSecretIsNotUnencrypted: a tool with a secret does not go from https to http, also when the
// secret is given again.
func TestSecretIsNotUnencrypted(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	var seen string
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Get("Authorization") }))
	t.Cleanup(shop.Close)
	in := env.Tenant.In("/tools")
	secure := strings.Replace(shop.URL, "http://", "https://", 1)
	one := in + "/" + env.Do(t, "POST", in, `{"slug":"shop","description":"d","kind":"http","auth_header":"Bearer k","webhook_url":"`+
		secure+`"}`).Must(t, 201).Text("id")
	checkField(t, env.Do(t, "PATCH", one, `{"webhook_url":"`+shop.URL+`"}`), "auth_header")
	checkField(t, env.Do(t, "PATCH", one, `{"webhook_url":"`+shop.URL+`","auth_header":"Bearer k"}`), "webhook_url")
	env.Do(t, "PATCH", one, `{"webhook_url":"`+shop.URL+`","auth_header":null}`).Must(t, 200)
	env.Do(t, "POST", one+"/run", `{}`).Must(t, 200)
	env.Do(t, "PATCH", one, `{"webhook_url":"`+secure+`","secret_headers":{"Authorization-Key":"k"}}`).Must(t, 200)
	checkField(t, env.Do(t, "PATCH", one, `{"webhook_url":"`+shop.URL+`","secret_headers":{"Authorization-Key":"k"}}`), "webhook_url")
	if seen != "" {
		t.Errorf("the server got %q", seen)
	}
}
