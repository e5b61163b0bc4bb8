package interceptor_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/workspaces"
)

// gateOf is a gate of one method, "/a.B/Get", and one key, "reader".
func gateOf(policy interceptor.Policy) *interceptor.Gate {
	return &interceptor.Gate{
		Policies: interceptor.Policies{"/a.B/Get": policy},
		Keys:     principals{"reader": {KeyID: "key_r", Scope: workspaces.ScopeRead}},
		Limiter: interceptor.NewLimiter(interceptor.LimiterDeps{
			Plan: func(string) workspaces.Plan { return workspaces.Plan{} }, Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
		}),
	}
}

func TestVersionOfTheContract(t *testing.T) {
	t.Parallel()
	const newest = "2026-11-28"
	gate := gateOf(interceptor.Policy{Scope: workspaces.ScopeRead, Rate: "read"})
	rows := []struct {
		name  string
		asked []string
		key   string
		want  fault.Reason
	}{
		{"none", nil, "reader", ""},
		{"the newest", []string{newest}, "reader", ""},
		{"one that was never served", []string{"2026-11-27"}, "reader", fault.InvalidRequest},
		{"no version", []string{""}, "reader", fault.InvalidRequest},
		{"two", []string{newest, newest}, "reader", fault.InvalidRequest},
		{"an unknown one without a key", []string{"1"}, "nobody", fault.AuthInvalidKey},
	}
	for _, row := range rows {
		request, answer := http.Header{"Authorization": {"Bearer " + row.key}, "Parlance-Version": row.asked}, http.Header{}
		_, err := gate.Admit(t.Context(), "/a.B/Get", request, answer)
		if got := fault.ReasonOf(err); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if answer.Get("Deprecation") != "" || answer.Get("Sunset") != "" {
			t.Errorf("%s: a method that stays is announced as deprecated: %v", row.name, answer)
		}
	}
}

func TestDeprecatedMethod(t *testing.T) {
	t.Parallel()
	gate := gateOf(interceptor.Policy{Scope: workspaces.ScopeRead, Rate: "read", Deprecation: &interceptor.Deprecation{
		Since:  time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		Sunset: time.Date(2027, 8, 1, 0, 0, 0, 0, time.UTC),
		Guide:  "https://example.com/guide",
	}})
	for _, key := range []string{"reader", "nobody"} { // whoever reads a refusal should know, too
		answer := http.Header{}
		_, err := gate.Admit(t.Context(), "/a.B/Get", http.Header{"Authorization": {"Bearer " + key}}, answer)
		if key == "reader" && err != nil {
			t.Fatalf("a deprecated method still answers: %v", err)
		}
		want := http.Header{
			"Deprecation": {"@1801353600"}, // 2027-01-31 in Unix time
			"Sunset":      {"Sun, 01 Aug 2027 00:00:00 GMT"},
			"Link":        {`<https://example.com/guide>; rel="deprecation"; type="text/html"`},
		}
		for name, values := range want {
			if got := answer[name]; len(got) != 1 || got[0] != values[0] {
				t.Errorf("%s: %s is %q, want %q", key, name, got, values)
			}
		}
	}
}
