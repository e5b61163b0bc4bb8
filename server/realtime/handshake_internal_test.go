package realtime

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/server/interceptor"
)

// TestOwnPages: pages of this server may talk with every agent. A foreign name that leads here does
// not make its pages ours.
func TestOwnPages(t *testing.T) {
	t.Parallel()
	widget := agents.Widget{AllowedOrigins: []string{"https://www.example.org"}}
	rows := []struct {
		public, host string
		origins      []string
		allowed      bool
	}{
		{"", "127.0.0.1:8080", []string{"http://127.0.0.1:8080"}, true},
		{"", "[::1]:8080", []string{"http://[::1]:8080"}, true},
		{"", "localhost:8080", []string{"http://localhost:8080"}, true},
		{"", "evil.example", []string{"http://evil.example"}, false},
		{"https://talk.example", "evil.example", []string{"http://evil.example"}, false},
		{"https://talk.example", "10.0.0.1", []string{"https://talk.example"}, true},
		{"https://talk.example", "10.0.0.1", []string{"http://10.0.0.1"}, false},
		{"", "10.0.0.1", []string{"https://www.example.org"}, true},
		{"", "10.0.0.1", []string{"https://www.example.org", "https://evil.example"}, false},
		{"", "10.0.0.1", nil, true},
	}
	for _, row := range rows {
		var refused error
		handler := interceptor.WithCaller(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			refused = checkOrigin(r, widget)
		}), interceptor.CallerConfig{PublicURL: row.public})
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = row.host
		r.Header["Origin"] = row.origins
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if (refused == nil) != row.allowed {
			t.Errorf("%+v: %v", row, refused)
		}
	}
}
