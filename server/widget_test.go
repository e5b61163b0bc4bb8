package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"parlance.dev/parlance/server/problem"
)

// TestWidget loads the widget's files as pages of other origins do.
func TestWidget(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	files := fstest.MapFS{"widget.js": {Data: []byte("'use strict'")}, "player-worklet.js": {Data: []byte("1")}, "secret.txt": {}}
	if err := registerWidget(mux, files, problem.Writer{PublicURL: func(*http.Request) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	handler := withCORS(mux, []string{"https://console.example"})
	get := func(method, path, etag string) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Origin", "https://customer.example")
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Result()
	}
	first := get(http.MethodGet, "/widget/widget.js", "")
	for name, want := range map[string]string{
		"Content-Type": "text/javascript; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache",
		"Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*",
	} {
		if got := first.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, row := range []struct {
		method, path, etag string
		status             int
	}{
		{http.MethodGet, "/widget/widget.js", first.Header.Get("ETag"), http.StatusNotModified},
		{http.MethodGet, "/widget/widget.js", `"another"`, http.StatusOK},
		{http.MethodHead, "/widget/player-worklet.js", "", http.StatusOK},
		{http.MethodGet, "/widget/", "", http.StatusNotFound},
		{http.MethodGet, "/widget/secret.txt", "", http.StatusNotFound},
		{http.MethodGet, "/widget/embed.go", "", http.StatusNotFound},
		{http.MethodPost, "/widget/widget.js", "", http.StatusMethodNotAllowed},
	} {
		got := get(row.method, row.path, row.etag)
		if got.StatusCode != row.status {
			t.Errorf("%s %s with %s: got %d, want %d", row.method, row.path, row.etag, got.StatusCode, row.status)
		}
		if got.StatusCode >= http.StatusBadRequest && !strings.HasPrefix(got.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s %s answers %s", row.method, row.path, got.Header.Get("Content-Type"))
		}
	}
}
