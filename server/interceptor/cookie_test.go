package interceptor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/people"
	"parlance.dev/parlance/server/interceptor"
)

// TestConsoleToken checks which requests the cookie counts for. Each row changes one thing of a
// call that a page of the console makes.
func TestConsoleToken(t *testing.T) {
	t.Parallel()
	const token = "a-token-of-a-cookie"
	set := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	older := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", origin)
		}
	}
	csrf := http.CanonicalHeaderKey(interceptor.CSRFHeader)
	rows := map[string]struct {
		change func(*http.Request)
		counts bool
	}{
		"the console's":                {func(*http.Request) {}, true},
		"an older browser's":           {older("https://app.example"), true},
		"without Sec-Fetch and Origin": {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, false},
		"of another site":              {set("Sec-Fetch-Site", "cross-site"), false},
		"of another host of the site":  {set("Sec-Fetch-Site", "same-site"), false},
		"typed in":                     {set("Sec-Fetch-Site", "none"), false},
		"with two answers":             {set("Sec-Fetch-Site", "same-origin", "cross-site"), false},
		"another Origin":               {older("https://evil.example"), false},
		"Origin with another port": {func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "https://app.example:8443")
		}, false},
		"Origin with another scheme":     {older("http://app.example"), false},
		"Origin null":                    {older("null"), false},
		"without a CSRF token":           {func(r *http.Request) { r.Header.Del(interceptor.CSRFHeader) }, false},
		"with the CSRF token of another": {set(csrf, people.CSRFToken("another")), false},
		"with two CSRF tokens":           {set(csrf, people.CSRFToken(token), people.CSRFToken(token)), false},
		"with a key":                     {set("Authorization", "Bearer prl_x"), false},
		"with an empty Authorization":    {set("Authorization", ""), false},
		"by GET":                         {func(r *http.Request) { r.Method = http.MethodGet }, false},
		"without the cookie":             {func(r *http.Request) { r.Header.Del("Cookie") }, false},
		"with the cookie twice":          {func(r *http.Request) { r.Header.Add("Cookie", "__Host-parlance_console=another") }, false},
		"with the cookie of http":        {set("Cookie", "parlance_console="+token), false},
	}
	for name, row := range rows {
		r := httptest.NewRequest(http.MethodPost, "/parlance.v1.AgentService/ListAgents", strings.NewReader("{}"))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set(interceptor.CSRFHeader, people.CSRFToken(token))
		r.Header.Set("Cookie", "__Host-parlance_console="+token)
		row.change(r)
		got := ""
		handler := interceptor.WithCaller(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = interceptor.ConsoleToken(r)
		}), interceptor.CallerConfig{PublicURL: "https://app.example/talk"})
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if (got == token) != row.counts {
			t.Errorf("%s: got %q, counts %t", name, got, row.counts)
		}
	}
}
