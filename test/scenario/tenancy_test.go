package scenario

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/test/harness"
)

// TestEveryRouteRefusesStrangers walks the route table: whoever has no business with the
// tenant's things gets the same answer on every route, and nothing is stored.
func TestEveryRouteRefusesStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := w.NewTenant(t, "enterprise")
	lesser := map[parlancev1.Scope]string{
		parlancev1.Scope_SCOPE_RUNTIME: w.owner.Read, parlancev1.Scope_SCOPE_OPERATOR: w.owner.Runtime,
		parlancev1.Scope_SCOPE_ADMIN: w.owner.Operator,
	}
	w.Do(t, "DELETE", "/v1/workspaces/"+w.values["DeleteWorkspace.workspace_id"].(string), nil).Must(t, 204)
	delete(w.values, "DeleteWorkspace.workspace_id")
	counts := func() map[string]int {
		all := w.Counts(t)
		// A stranger that exports its own audit log is in it.
		all["audit_entries"] = harness.Rows[int](t, w.Env,
			"SELECT count(*)::int FROM audit_entries WHERE tenant_id = $1 AND outcome <> 'auth-scope'", w.owner.ID)[0]
		return all
	}
	before := counts()
	t.Run("routes", func(t *testing.T) {
		for _, r := range parlancev1rest.Routes {
			t.Run(r.Method+strings.ReplaceAll(r.Pattern, "/", " "), func(t *testing.T) {
				t.Parallel()
				path, body, with := w.rest(t, r)
				refusedBeforeBody(t, w.Env, r.Method, path)
				if key := lesser[policyOf(methodNamed(t, r.Procedure)).GetScope()]; key != "" {
					checkProblem(t, w.Do(t, r.Method, path, body, append(with, harness.Key(key))...), 403, "auth-scope")
				}
				if r.Method == http.MethodPost && r.Pattern != "/v1/sessions" && len(variables(r.Pattern)) == 0 {
					return // makes something of the caller's own
				}
				got := w.Do(t, r.Method, path, body, append(with, harness.Key(stranger.Admin))...)
				if len(variables(r.Pattern)) > 0 || r.Pattern == "/v1/sessions" && r.Method == http.MethodPost {
					checkProblem(t, got, 404, "not-found")
					return
				}
				for name, value := range w.values {
					if id, _ := value.(string); strings.HasSuffix(name, "_id") && strings.Contains(id, "_") &&
						bytes.Contains(got.Must(t, 200).Body, []byte(id)) {
						t.Errorf("the list shows a stranger the %s: %s", name, got.Body)
					}
				}
			})
		}
	})
	if diff := cmp.Diff(before, counts()); diff != "" {
		t.Errorf("refused requests have stored something:\n%s", diff)
	}
}

// refusedBeforeBody sends a body that never comes: a server that waits for it waits for ever.
func refusedBeforeBody(t *testing.T, env *harness.Env, method, path string) {
	t.Helper()
	var body any
	with := []harness.With{harness.Key("")}
	if method != http.MethodGet && method != http.MethodDelete {
		reader, writer := io.Pipe()
		defer func() { _ = writer.Close() }()
		body = reader
		// net/http itself reads on for a while when little or nothing is said to come.
		with = append(with, func(r *http.Request) { r.ContentLength = 1 << 20 })
	}
	checkProblem(t, env.Do(t, method, path, body, with...), 401, "auth-missing")
	if body == nil {
		checkProblem(t, env.Do(t, method, path, nil, harness.Key("prl_nobody")), 401, "auth-invalid-key")
		checkProblem(t, env.Do(t, method, path, nil, harness.Header("Authorization", "Basic cHJs")), 401, "auth-missing")
	}
}

// TestEveryRouteKeepsWorkspacesApart walks the route table with the ids of one workspace under
// the path of another of the same tenant, and with a key that is restricted to the other.
func TestEveryRouteKeepsWorkspacesApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.Do(t, "POST", "/v1/workspaces", `{"name":"other"}`).Must(t, 201).Text("id")
	restricted := map[parlancev1.Scope]string{}
	for scope, name := range map[parlancev1.Scope]string{
		parlancev1.Scope_SCOPE_READ: "read", parlancev1.Scope_SCOPE_RUNTIME: "runtime", parlancev1.Scope_SCOPE_OPERATOR: "operator",
	} {
		restricted[scope] = w.NewKey(t, w.owner, name, other)
	}
	before := w.Counts(t)
	t.Run("routes", func(t *testing.T) {
		for _, r := range parlancev1rest.Routes {
			needed := restricted[policyOf(methodNamed(t, r.Procedure)).GetScope()]
			if needed == "" || len(variables(r.Pattern)) == 0 {
				continue // keys and workspaces themselves, and lists: see TestRestrictedKey
			}
			t.Run(r.Method+strings.ReplaceAll(r.Pattern, "/", " "), func(t *testing.T) {
				t.Parallel()
				path, body, with := w.rest(t, r)
				checkProblem(t, w.Do(t, r.Method, path, body, append(with, harness.Key(needed))...), 404, "not-found")
				// A user's id is the caller's own: both workspaces may have such a user (TestMemoryOfOthers).
				if names := variables(r.Pattern); names[0] == "workspace_id" && names[len(names)-1] != "user_id" &&
					(len(names) > 1 || strings.HasSuffix(r.Pattern, "/query")) {
					path, body, with = w.with(map[string]any{"workspace_id": other}).rest(t, r)
					checkProblem(t, w.Do(t, r.Method, path, body, with...), 404, "not-found")
				}
			})
		}
	})
	if diff := cmp.Diff(before, w.Counts(t)); diff != "" {
		t.Errorf("refused requests have stored something:\n%s", diff)
	}
}

func TestRestrictedKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.Do(t, "POST", "/v1/workspaces", `{"name":"other"}`).Must(t, 201).Text("id")
	key := harness.Key(w.NewKey(t, w.owner, "operator", other))
	if got := w.Do(t, "GET", "/v1/workspaces", nil, key).Must(t, 200); len(got.List("workspaces")) != 1 ||
		got.Text("workspaces", 0, "id") != other {
		t.Errorf("workspaces: %s", got.Body)
	}
	if got := w.Do(t, "GET", "/v1/sessions", nil, key).Must(t, 200); len(got.List("sessions")) != 0 {
		t.Errorf("sessions: %s", got.Body)
	}
	outside := map[string]any{"agent_id": w.values["agent_id"], "user_id": "u"}
	checkProblem(t, w.Do(t, "POST", "/v1/sessions", outside, key), 404, "not-found")
	if got := w.Do(t, "GET", "/v1/sessions?workspace_id="+w.owner.WorkspaceID, nil, key).Must(t, 200); len(got.List("sessions")) != 0 {
		t.Errorf("sessions of another workspace: %s", got.Body)
	}

	// Things of the first workspace cannot be joined to those of the restricted one.
	agent := w.Do(t, "POST", "/v1/workspaces/"+other+"/agents", `{"name":"B"}`, key).Must(t, 201).Text("id")
	in := "/v1/workspaces/" + other + "/agents/" + agent
	checkProblem(t, w.Do(t, "POST", in+"/tools/attach", map[string]any{"tool_id": w.values["tool_id"]}, key), 404, "not-found")
	checkProblem(t, w.Do(t, "POST", in+"/knowledge-base/attach", map[string]any{"source_ids": w.values["source_ids"]}, key), 404, "not-found")
	checkProblem(t, w.Do(t, "DELETE", in+"/knowledge-base/"+w.values["source_id"].(string), nil, key), 404, "not-found")
	w.Do(t, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": "u"}, key).Must(t, 201)
}

func TestKeysLifeAndScopes(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	checkProblem(t, env.Do(t, "POST", "/v1/api-keys", `{"name":"k"}`, harness.Key(env.Tenant.Operator)), 403, "auth-scope")
	made := env.Do(t, "POST", "/v1/api-keys", `{"name":"k","scope":"read"}`).Must(t, 201)
	list := func(secret string) harness.Response {
		return env.Do(t, "GET", env.Tenant.In("/agents"), nil, harness.Key(secret))
	}
	first := made.Text("secret")
	list(first).Must(t, 200)
	if got := env.Do(t, "GET", "/v1/api-keys/"+made.Text("id"), nil).Must(t, 200); got.Text("secret") != "" ||
		got.Text("secret_hint") != first[len(first)-4:] {
		t.Errorf("the key seen again: %s", got.Body)
	}
	hashes := harness.Rows[[]byte](t, env, "SELECT secret_hash FROM api_keys")
	if slices.ContainsFunc(hashes, func(h []byte) bool { return bytes.Contains(h, []byte("prl_")) }) {
		t.Error("a key is stored as it is")
	}
	second := env.Do(t, "POST", "/v1/api-keys/"+made.Text("id")+"/rotate", `{}`).Must(t, 200).Text("secret")
	checkProblem(t, list(first), 401, "auth-invalid-key")
	list(second).Must(t, 200)
	env.Exec(t, "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1", made.Text("id"))
	checkProblem(t, list(second), 401, "auth-invalid-key")
	third := env.Do(t, "POST", "/v1/api-keys", `{"name":"k3","scope":"read"}`).Must(t, 201)
	list(third.Text("secret")).Must(t, 200)
	env.Do(t, "DELETE", "/v1/api-keys/"+third.Text("id"), nil).Must(t, 204)
	env.Do(t, "DELETE", "/v1/api-keys/"+third.Text("id"), nil).Must(t, 204)
	checkProblem(t, list(third.Text("secret")), 401, "auth-invalid-key")
	checkProblem(t, env.Do(t, "POST", "/v1/api-keys",
		`{"name":"x","scope":"admin","workspace_id":"`+env.Tenant.WorkspaceID+`"}`), 400, "invalid-request")
}

// TestRotateWithOverlap rotates a key whose old secret works for a while more, and no longer than
// the answer says.
func TestRotateWithOverlap(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	made := env.Do(t, "POST", "/v1/api-keys", `{"name":"k","scope":"read"}`).Must(t, 201)
	path := "/v1/api-keys/" + made.Text("id")
	works := func(secret string, status int) {
		t.Helper()
		if got := env.Do(t, "GET", env.Tenant.In("/agents"), nil, harness.Key(secret)); got.Status != status {
			t.Errorf("got %d, want %d", got.Status, status)
		}
	}
	rotate := func(body string) harness.Response { return env.Do(t, "POST", path+"/rotate", body).Must(t, 200) }
	until := func(at harness.Response) time.Time {
		t.Helper()
		parsed, err := time.Parse(time.RFC3339Nano, at.Text("old_secret_expires_at"))
		if err != nil {
			t.Error(err)
		}
		return parsed
	}
	first := made.Text("secret")
	before := time.Now()
	rotated := rotate(`{"overlap_seconds":3600}`)
	second := rotated.Text("secret")
	if over := until(rotated).Sub(before); over < time.Hour || over > time.Hour+time.Minute {
		t.Errorf("the old secret works for %s more", over)
	}
	if got := until(env.Do(t, "GET", path, nil).Must(t, 200)); !got.Equal(until(rotated)) {
		t.Errorf("it works until %s, later %s", until(rotated), got)
	}
	works(first, 200)
	works(second, 200)
	checkProblem(t, env.Do(t, "POST", path+"/rotate", `{"overlap_seconds":1}`), 409, "api-key-overlap")
	env.Exec(t, "UPDATE api_keys SET old_secret_expires_at = now() WHERE id = $1", made.Text("id"))
	works(first, 401)
	works(second, 200)
	if got := env.Do(t, "GET", path, nil).Must(t, 200); got.At("old_secret_expires_at") != nil {
		t.Errorf("it does not work any more: %s", got.Body)
	}
	third := rotate(`{"overlap_seconds":604800}`).Text("secret")
	works(second, 200)
	checkProblem(t, env.Do(t, "POST", path+"/rotate", `{"overlap_seconds":604801}`), 400, "invalid-request")
	fourth := rotate(`{}`)
	if fourth.At("old_secret_expires_at") != nil {
		t.Errorf("rotated without an overlap: %s", fourth.Body)
	}
	works(second, 401)
	works(third, 401)
	fifth := rotate(`{"overlap_seconds":60}`).Text("secret")
	works(fourth.Text("secret"), 200)
	env.Do(t, "DELETE", path, nil).Must(t, 204)
	works(fourth.Text("secret"), 401)
	works(fifth, 401)
}

// TestSessionToken shows what the token of a session opens: its own turns, and nothing else.
func TestSessionToken(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	make := func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions", map[string]string{"agent_id": agent, "user_id": "u", "modality": "text"}).Must(t, 201)
	}
	mine, other := make(), make()
	token := mine.Text("token")
	own := "/v1/sessions/" + mine.Text("id")
	turn := func(path, token string) harness.Response {
		return env.Do(t, "POST", path+"/turns", `{"text":"Hi?"}`, harness.Key(token))
	}
	turn(own, token).Must(t, 200)
	checkProblem(t, turn("/v1/sessions/"+other.Text("id"), token), 401, "session-token-invalid")
	checkProblem(t, turn(own, token[:len(token)-4]+"AAAA"), 401, "session-token-invalid")
	checkProblem(t, turn(own, "a.b.c"), 401, "session-token-invalid")
	for _, path := range []string{own, own + "/transcript", "/v1/sessions", env.Tenant.In("/agents")} {
		checkProblem(t, env.Do(t, "GET", path, nil, harness.Key(token)), 401, "auth-invalid-key")
	}
	if got := env.Do(t, "GET", own, nil).Must(t, 200); bytes.Contains(got.Body, []byte(token)) || got.At("chat_url") != nil {
		t.Errorf("the view holds token or URLs: %s", got.Body)
	}
	env.Do(t, "POST", own+"/end", `{"status":"completed"}`).Must(t, 200)
	checkProblem(t, turn(own, token), 409, "session-closed")
}
