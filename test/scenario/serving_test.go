package scenario

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/test/harness"
)

const publicURL = "https://talk.example/parlance"

// lie makes a request say that it was sent to somebody else, in every way there is.
func lie(r *http.Request) {
	r.Host = "evil.example"
	for name, value := range map[string]string{
		"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "ftp", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Port": "666",
		"Forwarded": "for=192.0.2.1;host=evil.example", "X-Original-Host": "evil.example", "X-Host": "evil.example",
		"X-Forwarded-Prefix": "/evil.example",
	} {
		r.Header.Set(name, value)
	}
}

// TestPublicURL walks answers of every route: with a public URL no header has a say in theirs, and
// the listening address is not disclosed.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_PUBLIC_URL":      publicURL,
		"PARLANCE_TRUSTED_PROXIES": "loopback",
	}})
	honest := func(what string, got harness.Response) harness.Response {
		t.Helper()
		ours := strings.TrimPrefix(env.URL, "http://")
		for _, text := range []string{string(got.Body), headerText(got.Header)} {
			if strings.Contains(text, "evil.example") || strings.Contains(text, ours) {
				t.Errorf("%s hands out what the caller said, or our address:\n%s", what, text)
			}
		}
		if got.Problem.Type != "" && got.Problem.Type != publicURL+"/errors/"+got.Problem.Code {
			t.Errorf("%s: type %s", what, got.Problem.Type)
		}
		return got
	}
	agent := honest("create agent", env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`, lie)).Must(t, 201)
	if got, want := agent.Header.Get("Location"), publicURL+env.Tenant.In("/agents/"+agent.Text("id")); got != want {
		t.Errorf("Location %s, want %s", got, want)
	}
	session := honest("create session", env.Do(t, "POST", "/v1/sessions",
		`{"agent_id":"`+agent.Text("id")+`","user_id":"u","modality":"voice+text"}`, lie)).Must(t, 201)
	for _, name := range []string{"ws_url", "chat_url"} {
		if got := session.Text(name); !strings.HasPrefix(got, "wss://talk.example/parlance/v1/realtime/") {
			t.Errorf("%s %s", name, got)
		}
	}
	document := honest("openapi.json", env.Do(t, "GET", "/openapi.json", nil, lie)).Must(t, 200)
	if got := document.Text("servers", 0, "url"); got != publicURL {
		t.Errorf("openapi.json names the server %s", got)
	}
	fields := map[string]any{"workspace_id": env.Tenant.WorkspaceID, "agent_id": agent.Text("id"), "session_id": session.Text("id")}
	for _, route := range parlancev1rest.Routes {
		path := route.Pattern
		for _, name := range variables(path) {
			value, _ := fields[name].(string)
			if value == "" {
				value = "x_" + name
			}
			path = strings.Replace(path, "{"+name+"}", value, 1)
		}
		body := `{"name":"n"}`
		if route.Body == "" && !route.Manual {
			body = ""
		}
		if route.ServerStream || route.Method == http.MethodDelete {
			continue // a stream does not end; deletes would take what the others need
		}
		honest(route.Method+" "+path, env.Do(t, route.Method, path, body, lie))
		honest("with the prefix", env.Do(t, route.Method, "/parlance"+path, body, lie))
	}
	for _, path := range []string{
		"/", "/v1", "/v1/nothing", "/errors/not-found", "/errors/no-such",
		"/parlance/healthz", "/v1/realtime", "/v1/realtime/chat/ses_x", "//v1//sessions", "/parlance.v1.ToolService/No",
	} {
		honest(path, env.Do(t, "GET", path, nil, lie))
	}
	honest("no key", env.Do(t, "GET", "/v1/workspaces", nil, lie, harness.Key("")).Must(t, 401))
}

func headerText(header http.Header) string {
	var text bytes.Buffer
	_ = header.Write(&text) // a buffer takes everything
	return text.String()
}

// TestTrustedProxies: without a public URL, a believed proxy says how we are called, and nobody
// else.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	forwarded := func(r *http.Request) {
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "talk.example")
	}
	for trusted, want := range map[string]string{"127.0.0.0/8, ::1": "https://talk.example", "10.0.0.0/8": "", "": ""} {
		env := harness.Start(t, harness.Options{
			WithoutWorker: true,
			Settings:      map[string]string{"PARLANCE_PUBLIC_URL": "", "PARLANCE_TRUSTED_PROXIES": trusted},
		})
		if want == "" {
			want = env.URL
		}
		agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`, forwarded).Must(t, 201)
		if got := agent.Header.Get("Location"); !strings.HasPrefix(got, want+"/v1/") {
			t.Errorf("believing %q: Location %s, want %s/v1/…", trusted, got, want)
		}
		session := env.Do(t, "POST", "/v1/sessions",
			`{"agent_id":"`+agent.Text("id")+`","user_id":"u","modality":"text"}`, forwarded).Must(t, 201)
		if got, want := session.Text("chat_url"), "ws"+strings.TrimPrefix(want, "http"); !strings.HasPrefix(got, want+"/v1/realtime/") {
			t.Errorf("believing %q: chat_url %s, want %s/v1/realtime/…", trusted, got, want)
		}
	}
}

// TestCORS asks as browsers do, in every protocol.
func TestCORS(t *testing.T) {
	t.Parallel()
	const app = "https://app.example"
	named := harness.Start(t, harness.Options{
		WithoutWorker: true,
		Settings:      map[string]string{"PARLANCE_CORS_ORIGINS": app + ",http://localhost:3000"},
	})
	anyone := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{"PARLANCE_CORS_ORIGINS": "*"}})
	nobody := harness.Start(t, harness.Options{WithoutWorker: true})
	rows := []struct{ method, path, headers string }{
		{"PATCH", "/v1/workspaces/ws_x/agents/agt_x", "authorization,content-type,idempotency-key,x-request-id"},
		{"DELETE", "/v1/workspaces/ws_x/agents/agt_x", "authorization"},
		{"PUT", "/v1/workspaces/ws_x/agents/agt_x/tools-config", "authorization,content-type"},
		{"POST", "/parlance.v1.ToolService/ListTools", "authorization,connect-protocol-version,connect-timeout-ms,content-type"},
		{"POST", "/parlance.v1.ToolService/ListTools", "authorization,content-type,grpc-timeout,x-grpc-web,x-user-agent"},
		{"GET", "/v1/workspaces", "authorization,traceparent,tracestate"},
	}
	for _, row := range rows {
		preflight := func(env *harness.Env, origin string) harness.Response {
			return env.Do(t, "OPTIONS", row.path, nil, harness.Key(""), harness.Header("Origin", origin),
				harness.Header("Access-Control-Request-Method", row.method), harness.Header("Access-Control-Request-Headers", row.headers))
		}
		if got := preflight(named, app); got.Status != 204 || got.Header.Get("Access-Control-Allow-Origin") != app ||
			!strings.Contains(got.Header.Get("Access-Control-Allow-Methods"), row.method) || got.Header.Get("Access-Control-Allow-Headers") == "" {
			t.Errorf("%s %s from a named origin: %d %v", row.method, row.path, got.Status, got.Header)
		}
		if got := preflight(anyone, "https://anyone.example"); got.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: * does not let anyone in: %v", row.method, row.path, got.Header)
		}
		for _, origin := range []string{
			"https://app.example.evil.example", "http://app.example",
			"https://sub.app.example", "null", "https://app.example:8443",
		} {
			if got := preflight(named, origin); got.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s lets %s in", row.method, row.path, origin)
			}
		}
		if got := preflight(nobody, app); got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s lets somebody in by default", row.method, row.path)
		}
	}
	for _, key := range []string{named.Tenant.Admin, "wrong"} { // errors can be read too
		got := named.Do(t, "GET", "/v1/workspaces", nil, harness.Key(key), harness.Header("Origin", app))
		exposed := strings.ToLower(got.Header.Get("Access-Control-Expose-Headers"))
		for _, name := range []string{
			"location", "retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-request-id", "idempotency-replayed",
			"grpc-status", "grpc-message", "grpc-status-details-bin", "content-disposition",
		} {
			if !strings.Contains(exposed, name) {
				t.Errorf("%d: browsers may not read %s", got.Status, name)
			}
		}
		if got.Header.Get("Access-Control-Allow-Origin") != app || !strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Origin") {
			t.Errorf("%d: %v", got.Status, got.Header)
		}
	}
	if got := named.Do(t, "GET", "/v1/workspaces", nil,
		harness.Header("Origin", app)).Header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Error("cookies are allowed, and there are none")
	}
}
