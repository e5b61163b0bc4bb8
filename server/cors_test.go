package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestCORS asks as browsers do before a request with headers: with the names in lower case, in
// their order.
func TestCORS(t *testing.T) {
	t.Parallel()
	handler := withCORS(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), []string{"https://app.example"})
	rows := []struct {
		name, origin, headers string
		allowed               bool
	}{
		{"a turn", "https://app.example", "authorization,content-type,idempotency-key", true},
		{"coming back to a stream", "https://app.example", "authorization,content-type,last-event-id", true},
		{"as clients of event streams do", "https://app.example", "authorization,cache-control,content-type,last-event-id", true},
		{"a change of a version", "https://app.example", "authorization,content-type,if-match", true},
		{"a header that nobody needs", "https://app.example", "authorization,x-secret", false},
		{"another origin", "https://other.example", "authorization", false},
	}
	for _, row := range rows {
		r := httptest.NewRequest(http.MethodOptions, "/v1/sessions/ses_1/turns", nil)
		r.Header.Set("Origin", row.origin)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		r.Header.Set("Access-Control-Request-Headers", row.headers)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("Access-Control-Allow-Origin") == row.origin; got != row.allowed {
			t.Errorf("%s: allowed %t, want %t; %v", row.name, got, row.allowed, w.Header())
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/sessions/ses_1/turns", nil)
	r.Header.Set("Origin", "https://app.example")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	exposed := strings.Split(strings.ToLower(w.Header().Get("Access-Control-Expose-Headers")), ", ")
	for _, name := range []string{"idempotency-replayed", "retry-after", "ratelimit-remaining", "x-request-id", "location", "etag"} {
		if !slices.Contains(exposed, name) {
			t.Errorf("a page cannot read %s: %v", name, exposed)
		}
	}
}
