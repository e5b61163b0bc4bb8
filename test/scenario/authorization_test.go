package scenario

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// matrix has two tenants with one of everything, and the callers that may or may not use what the
// first one has.
type matrix struct {
	*dialer
	victim, stranger *world
	// apart is another workspace of the victim's tenant, apartKey an operator's key for it alone.
	apart    *world
	apartKey string
	// dead are keys that are always refused, with the reason of the refusal.
	dead map[string]deadKey
	// foreignToken is the token of another session, keys the victim's by scope.
	foreignToken string
	keys         map[parlancev1.Scope]string
}

type deadKey struct{ key, reason string }

// TestAuthorization calls every RPC that the running service lists by reflection, as every kind of
// caller, over every protocol. A new RPC is covered without being named; a new kind of id needs a
// value in settle.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	before := m.fingerprint(t)
	t.Run("refused", func(t *testing.T) {
		for _, method := range m.methods {
			t.Run(string(method.Name()), func(t *testing.T) {
				t.Parallel()
				for _, p := range rpcs() {
					m.wrongKeys(t, p, method)
					m.otherTenant(t, p, method)
					m.otherWorkspace(t, p, method)
				}
			})
		}
	})
	m.calledAll(t)
	t.Run("page tokens", m.foreignTokens)
	if diff := cmp.Diff(before, m.fingerprint(t)); diff != "" {
		t.Errorf("refused calls have changed the tenant's rows (-before +after):\n%s", diff)
	}
	refused := m.calls
	t.Run("allowed", m.allowed)
	t.Logf("authorization: %d RPCs × %d protocols × scopes and tenants = %d calls (%d by callers who may not, %d by "+
		"callers who may); %d statements behind the wall",
		len(m.methods), len(rpcs()), m.calls, refused, m.calls-refused, m.Wall.Seen())
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	hook := receiver.New(t)
	env := harness.Start(t, harness.Options{Settings: worldSettings(t, hook)})
	m := &matrix{
		dialer: &dialer{
			Env: env, methods: reflected(t, env), clients: map[string]*http.Client{},
			called: map[protoreflect.FullName]int{}, test: t,
		},
		victim: settle(t, env, env.Tenant, hook), stranger: settle(t, env, env.NewTenant(t, ""), hook),
	}
	owner := m.victim.owner
	m.keys = map[parlancev1.Scope]string{
		parlancev1.Scope_SCOPE_READ: owner.Read, parlancev1.Scope_SCOPE_RUNTIME: owner.Runtime,
		parlancev1.Scope_SCOPE_OPERATOR: owner.Operator, parlancev1.Scope_SCOPE_ADMIN: owner.Admin,
	}
	place := owner
	place.WorkspaceID = m.victim.do(t, "POST", "/v1/workspaces", `{"name":"apart"}`).Must(t, 201).Text("id")
	m.apartKey = env.NewKey(t, owner, "operator", place.WorkspaceID)
	m.apart = m.victim.with(map[string]any{"workspace_id": place.WorkspaceID})
	m.apart.owner = place
	revoked, expired := env.NewKey(t, owner, "admin", ""), env.NewKey(t, owner, "admin", "")
	last := `SELECT id FROM api_keys ORDER BY created_at DESC, id DESC LIMIT 2`
	ids := harness.Rows[string](t, env, last)
	env.Exec(t, "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1", ids[0])
	m.victim.do(t, "DELETE", "/v1/api-keys/"+ids[1], nil).Must(t, 204)
	m.dead = map[string]deadKey{
		"none": {"", "auth-missing"}, "malformed": {"prl_wrong", "auth-invalid-key"},
		"revoked": {revoked, "auth-invalid-key"}, "expired": {expired, "auth-invalid-key"},
	}
	body := map[string]any{"agent_id": m.stranger.values["agent_id"], "user_id": "u", "modality": "text"}
	m.foreignToken = m.stranger.do(t, "POST", "/v1/sessions", body).Must(t, 201).Text("token")
	return m
}

// calledAll fails for each RPC of the contract that no caller was refused: reflection must list the
// service, and the server must serve it.
func (m *matrix) calledAll(t *testing.T) {
	t.Helper()
	for _, method := range methods() {
		if m.called[method.FullName()] == 0 {
			t.Errorf("%s was never called: is its service registered?", method.FullName())
		}
	}
}

// expect makes a call and checks that it is refused for the reason.
func (m *matrix) expect(
	t *testing.T, p rpc, method protoreflect.MethodDescriptor, who string, w *world,
	change map[string]any, key, reason string,
) {
	t.Helper()
	got, ok := m.call(t, p, method, w.message(t, method, change), key)
	want := map[string]int{
		"auth-missing": 401, "auth-invalid-key": 401, "session-token-invalid": 401, "auth-scope": 403, "not-found": 404,
	}[reason]
	if ok && (got.Reason != reason || got.Status != want) {
		t.Errorf("%s, %s: got %d %s, want %d %s\n%s", p.name, who, got.Status, got.Reason, want, reason, got.Body)
	}
	m.showsNothing(t, p.name+", "+who, got, change)
}

// showsNothing fails if an answer to another caller contains anything of the victim but the ids
// that the request had.
func (m *matrix) showsNothing(t *testing.T, who string, got reply, asked map[string]any) {
	t.Helper()
	for _, secret := range m.victim.secrets() {
		known := got.Reason != "" && slices.ContainsFunc(askedFor(asked), func(id string) bool { return id == secret })
		if !known && bytes.Contains(got.Body, []byte(secret)) {
			t.Errorf("%s: the answer holds %s: %s", who, secret, got.Body)
		}
	}
}

// askedFor returns the ids of a request.
func askedFor(change map[string]any) []string {
	var ids []string
	for _, value := range change {
		switch value := value.(type) {
		case string:
			ids = append(ids, value)
		case []string:
			ids = append(ids, value...)
		}
	}
	return ids
}

// wrongKeys calls without a key, with a dead one, with too small a scope, and with the token of
// another session.
func (m *matrix) wrongKeys(t *testing.T, p rpc, method protoreflect.MethodDescriptor) {
	t.Helper()
	own := m.victim.ids(method)
	for who, dead := range m.dead {
		m.expect(t, p, method, who+" key", m.victim, own, dead.key, dead.reason)
	}
	policy := policyOf(method)
	if policy.GetScope() == parlancev1.Scope_SCOPE_UNSPECIFIED {
		t.Errorf("%s has no policy", method.FullName())
	}
	for scope, key := range m.keys {
		if scope < policy.GetScope() {
			m.expect(t, p, method, scope.String(), m.victim, own, key, "auth-scope")
		}
	}
	reason := "auth-invalid-key"
	if policy.GetSessionToken() {
		reason = "session-token-invalid"
	}
	m.expect(t, p, method, "the token of another's session", m.victim, own, m.foreignToken, reason)
}

// otherTenant calls as another tenant's admin with the victim's ids, all at once and one by one
// among its own. Where an id only narrows a list, the list may be empty instead.
func (m *matrix) otherTenant(t *testing.T, p rpc, method protoreflect.MethodDescriptor) {
	t.Helper()
	key := m.stranger.owner.Admin
	names := idFields(method)
	if m.narrows(method) {
		got, ok := m.call(t, p, method, m.stranger.message(t, method, m.victim.ids(method)), key)
		if ok && got.Reason != "" && got.Reason != "not-found" {
			t.Errorf("%s: got %d %s", p.name, got.Status, got.Body)
		}
		m.showsNothing(t, p.name+", another tenant's", got, m.victim.ids(method))
		names = nil
	}
	if len(names) > 0 {
		m.expect(t, p, method, "another tenant's", m.stranger, m.victim.ids(method), key, "not-found")
	}
	for _, name := range names {
		foreign := m.victim.idOf(method, name)
		if m.filters(method, name) {
			got, ok := m.call(t, p, method, m.stranger.message(t, method, map[string]any{name: foreign}), key)
			if ok && got.Reason != "" && got.Reason != "not-found" {
				t.Errorf("%s, another tenant's %s: got %d %s", p.name, name, got.Status, got.Body)
			}
			m.showsNothing(t, p.name+", another tenant's "+name, got, map[string]any{name: foreign})
			continue
		}
		m.expect(t, p, method, "another tenant's "+name, m.stranger, map[string]any{name: foreign}, key, "not-found")
		if list, ok := foreign.([]string); ok {
			own, _ := m.stranger.idOf(method, name).([]string)
			m.expect(t, p, method, "another tenant's among "+name, m.stranger,
				map[string]any{name: append(slices.Clone(own), list...)}, key, "not-found")
		}
	}
}

// narrows reports whether the request has no id, or ids that narrow a list of the caller's own.
func (m *matrix) narrows(method protoreflect.MethodDescriptor) bool {
	names := idFields(method)
	verb, pattern, _ := m.route(method)
	return len(names) == 0 || verb == http.MethodGet && len(variables(pattern)) == 0
}

// filters reports whether an id of the request only narrows the list of something in the path.
func (m *matrix) filters(method protoreflect.MethodDescriptor, name string) bool {
	_, pattern, _ := m.route(method)
	return strings.HasPrefix(string(method.Name()), "List") && !slices.Contains(variables(pattern), name)
}

// otherWorkspace calls with a key for another workspace of the tenant, and as the tenant's admin
// under the path of the other workspace.
func (m *matrix) otherWorkspace(t *testing.T, p rpc, method protoreflect.MethodDescriptor) {
	t.Helper()
	own := m.victim.ids(method)
	reason := "not-found"
	switch {
	case policyOf(method).GetScope() > parlancev1.Scope_SCOPE_OPERATOR: // which a key of one workspace never has
		reason = "auth-scope"
	case m.narrows(method):
		got, ok := m.call(t, p, method, m.apart.message(t, method, own), m.apartKey)
		ofTenant := got.Reason == "auth-scope" && len(idFields(method)) == 0 // it is about the whole tenant
		if ok && got.Reason != "" && got.Reason != "not-found" && !ofTenant {
			t.Errorf("%s, a key of another workspace: got %d %s", p.name, got.Status, got.Body)
		}
		m.showsNothing(t, p.name+", a key of another workspace", got, own)
		return
	}
	m.expect(t, p, method, "a key of another workspace", m.victim, own, m.apartKey, reason)
	names := slices.DeleteFunc(idFields(method), func(name string) bool { return m.filters(method, name) })
	if slices.Contains(names, "workspace_id") && len(names) > 1 {
		own["workspace_id"] = m.apart.owner.WorkspaceID
		m.expect(t, p, method, "under another workspace", m.victim, own, m.victim.owner.Admin, "not-found")
		m.expect(t, p, method, "under another workspace, with its key", m.victim, own, m.apartKey, reason)
	}
}

// allowed calls as everybody who may: the refusals prove nothing if nobody is let through.
func (m *matrix) allowed(t *testing.T) {
	order := methods() // those that destroy last
	slices.SortStableFunc(m.methods, func(a, b protoreflect.MethodDescriptor) int {
		return rankIn(order, a) - rankIn(order, b)
	})
	for _, method := range m.methods {
		worked := 0
		for _, p := range rpcs() {
			for scope, key := range m.keys {
				if scope < policyOf(method).GetScope() {
					continue
				}
				got, ok := m.call(t, p, method, m.victim.message(t, method, nil), key)
				switch {
				case !ok:
				case got.Reason == "":
					worked++
				case got.Status >= 500 || strings.HasPrefix(got.Reason, "auth-") || got.Reason == "not-found" || got.Reason == "session-token-invalid":
					t.Errorf("%s, %s, %s: got %d %s %s", method.Name(), p.name, scope, got.Status, got.Reason, got.Body)
				}
			}
		}
		if worked == 0 {
			t.Errorf("%s never worked", method.Name())
		}
	}
}

func rankIn(order []protoreflect.MethodDescriptor, method protoreflect.MethodDescriptor) int {
	return slices.IndexFunc(order, func(m protoreflect.MethodDescriptor) bool { return m.FullName() == method.FullName() })
}

// fingerprint returns a hash of the rows by table: those of the victim, and those without a
// tenant.
func (m *matrix) fingerprint(t *testing.T) map[string]string {
	t.Helper()
	prints := map[string]string{}
	for table := range m.Counts(t) {
		tenant := "'" + m.victim.owner.ID + "'"
		of := "true"
		switch columns := harness.Rows[string](t, m.Env,
			"SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1", table); {
		case slices.Contains(columns, "tenant_id"):
			of = "tenant_id = " + tenant
			if table == "audit_entries" { // each call that lacks the scope leaves one
				of += " AND outcome <> 'auth-scope'"
			}
		case table == "tenants":
			of = "id = " + tenant
		}
		// The time of the last use of a key changes with every call.
		prints[table] = harness.Rows[string](t, m.Env, `
			SELECT count(*) || ' rows ' || md5(coalesce(string_agg(line, '|' ORDER BY line), ''))
			FROM (SELECT (to_jsonb(x) - 'last_used_at')::text AS line FROM `+table+` AS x WHERE `+of+`) AS lines`)[0]
	}
	return prints
}
