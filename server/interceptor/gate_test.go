package interceptor_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	signins "parlance.dev/parlance/people"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

func stringReader(s string) io.Reader { return strings.NewReader(s) }

// principals knows one token.
type principals map[string]workspaces.Principal

func (p principals) Authenticate(_ context.Context, token string) (workspaces.Principal, error) {
	principal, ok := p[token]
	if !ok {
		return workspaces.Principal{}, fault.New(fault.AuthInvalidKey, "no such key")
	}
	return principal, nil
}

func TestGate(t *testing.T) {
	t.Parallel()
	policies, err := interceptor.NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	gate := &interceptor.Gate{
		Policies: policies,
		Keys: principals{"reader": {KeyID: "key_r", Scope: workspaces.ScopeRead}, "operator": {
			KeyID: "key_o",
			Scope: workspaces.ScopeOperator,
		}},
		Sessions: principals{"a.b.c": {Scope: workspaces.ScopeRuntime, SessionID: "ses_1"}},
		Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
			Plan: func(string) workspaces.Plan { return workspaces.Plan{} }, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
		}),
	}
	const (
		get, create, turn = "/parlance.v1.AgentService/GetAgent", "/parlance.v1.AgentService/CreateAgent",
			"/parlance.v1.SessionService/CreateTurn"
		keys = "/parlance.v1.ApiKeyService/ListApiKeys"
	)
	rows := []struct {
		name, procedure, header string
		want                    fault.Reason
	}{
		{"no header", get, "", fault.AuthMissing},
		{"another scheme", get, "Basic cmVhZGVy", fault.AuthMissing},
		{"a bearer without a token", get, "Bearer ", fault.AuthInvalidKey},
		{"an unknown key", get, "Bearer nobody", fault.AuthInvalidKey},
		{"read may read", get, "Bearer reader", ""},
		{"the scheme in any case", get, "bearer reader", ""},
		{"read may not write", create, "Bearer reader", fault.AuthScope},
		{"operator may write", create, "Bearer operator", ""},
		{"operator may not list keys", keys, "Bearer operator", fault.AuthScope},
		{"a session's token may take a turn", turn, "Bearer a.b.c", ""},
		{"a session's token may not read agents", get, "Bearer a.b.c", fault.AuthInvalidKey},
	}
	for _, row := range rows {
		ctx, err := gate.Admit(t.Context(), row.procedure, http.Header{"Authorization": {row.header}}, http.Header{})
		if got := fault.ReasonOf(err); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if p := workspaces.PrincipalFrom(ctx); (row.want == "") != (p.Scope != workspaces.ScopeNone) {
			t.Errorf("%s: the principal is %+v", row.name, p)
		}
	}
}

// TestGateWithoutDatabase: a caller whose key cannot be looked up is told so.
func TestGateWithoutDatabase(t *testing.T) {
	t.Parallel()
	policies, err := interceptor.NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	away := false
	gate := &interceptor.Gate{
		Policies: policies, Keys: principals{"runtime": {Scope: workspaces.ScopeRuntime}},
		Sessions: principals{"a.b.c": {Scope: workspaces.ScopeRuntime, SessionID: "ses_1"}},
		Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
			Plan: func(string) workspaces.Plan { return workspaces.Plan{} }, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
		}),
		ReachFunc: func(ctx context.Context, work func(ctx context.Context) error) error {
			if away {
				return fault.New(fault.ServiceUnavailable, "Not now.")
			}
			return work(ctx)
		},
	}
	for _, token := range []string{"runtime", "a.b.c"} {
		for _, want := range []fault.Reason{"", fault.ServiceUnavailable} {
			away = want != ""
			procedure := "/parlance.v1.SessionService/CreateTurn"
			_, err := gate.Admit(t.Context(), procedure, http.Header{"Authorization": {"Bearer " + token}}, http.Header{})
			if got := fault.ReasonOf(err); got != want {
				t.Errorf("%s: got %q, want %q", token, got, want)
			}
		}
	}
}

// TestStanding: who answers for long can ask whether the caller is still who it was.
func TestStanding(t *testing.T) {
	t.Parallel()
	policies, err := interceptor.NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	keys := principals{"reader": {KeyID: "key_r", Scope: workspaces.ScopeRead}}
	gate := &interceptor.Gate{Policies: policies, Keys: keys, Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
		Plan: func(string) workspaces.Plan { return workspaces.Plan{} }, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
	})}
	ctx, err := gate.Admit(t.Context(), "/parlance.v1.WebhookService/WatchEvents",
		http.Header{"Authorization": {"Bearer reader"}}, http.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := workspaces.Standing(ctx); err != nil {
		t.Errorf("a key that is there: %v", err)
	}
	keys["reader"] = workspaces.Principal{KeyID: "key_r"}
	if got := fault.ReasonOf(workspaces.Standing(ctx)); got != fault.AuthScope {
		t.Errorf("a key that lost its scope: %q", got)
	}
	delete(keys, "reader")
	if got := fault.ReasonOf(workspaces.Standing(ctx)); got != fault.AuthInvalidKey {
		t.Errorf("a key that is gone: %q", got)
	}
}

// TestStandingOfRole: a person with another role is not who they were, though both roles may call.
func TestStandingOfRole(t *testing.T) {
	t.Parallel()
	policies, err := interceptor.NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	person := workspaces.Principal{PersonID: "per_1", Role: workspaces.RoleOperator, Scope: workspaces.ScopeOperator}
	people := principals{}
	gate := &interceptor.Gate{Policies: policies, People: people, Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
		Plan: func(string) workspaces.Plan { return workspaces.Plan{} }, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
	})}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/parlance.v1.WebhookService/WatchEvents", nil)
	const token = "dG9rZW4"
	people[token] = person
	request.Header.Set("Content-Type", "application/connect+json")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set(interceptor.CSRFHeader, signins.CSRFToken(token))
	request.AddCookie(&http.Cookie{Name: interceptor.CookieName, Value: token})
	interceptor.WithCookie(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := gate.Admit(r.Context(), r.URL.Path, r.Header, w.Header())
		if err != nil {
			t.Fatal(err)
		}
		if err := workspaces.Standing(ctx); err != nil {
			t.Errorf("the same role: %v", err)
		}
		person.Role, person.Scope = workspaces.RoleAnalyst, workspaces.ScopeRead
		people[token] = person
		if got := fault.ReasonOf(workspaces.Standing(ctx)); got != fault.ServiceUnavailable {
			t.Errorf("an operator who is an analyst now: %q", got)
		}
	})).ServeHTTP(httptest.NewRecorder(), request)
}

// TestPolicies: every method of the contract states a scope, and none is open.
func TestPolicies(t *testing.T) {
	t.Parallel()
	policies, err := interceptor.NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	for procedure, policy := range policies {
		_, method, _ := strings.Cut(strings.TrimPrefix(procedure, "/"), "/")
		begins := func(verb string) bool { return strings.HasPrefix(method, verb) }
		reads := slices.ContainsFunc([]string{"Get", "List", "Watch", "Follow", "Download", "Export"}, begins)
		if reads && policy.Rate != "read" {
			t.Errorf("%s reads but is counted as %s", procedure, policy.Rate)
		}
		if !reads && policy.Scope == workspaces.ScopeRead && !begins("Compare") {
			t.Errorf("%s writes but needs the scope read only", procedure)
		}
	}
}
