package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/rest"
)

// TestOnce: which requests pass Config.Once, with what body, and that they are answered as ever.
func TestOnce(t *testing.T) {
	t.Parallel()
	const unseen = ""
	var seen atomic.Pointer[string]
	server, _ := serve(t, rest.Config{
		Admit: func(ctx context.Context, _ string, request, _ http.Header) (context.Context, error) {
			if request.Get("Authorization") == "no" {
				return ctx, fault.New(fault.AuthMissing, "No.")
			}
			return ctx, nil
		},
		Once: func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
			seen.Store(new(fmt.Sprintf("%s %s", r.Method, body)))
			next.ServeHTTP(w, r)
		},
		Manual: map[string]http.Handler{},
	})
	rows := []struct {
		name, request, body, header string
		status                      int
		want                        string
	}{
		{"POST", "POST /v1/shelves/s/things", `{"weight_grams":5}`, "", 201, `POST {"weight_grams":5}`},
		{"POST without a body", "POST /v1/shelves/s/things", "", "", 201, "POST "},
		{"PATCH", "PATCH /v1/shelves/s/things/t", `{}`, "", 200, "PATCH {}"},
		{"PUT", "PUT /v1/settings", `{}`, "", 200, "PUT {}"},
		{"DELETE", "DELETE /v1/shelves/s/things/t", "", "", 204, "DELETE "},
		{"what cannot be decoded", "POST /v1/shelves/s/things", `{`, "", 400, "POST {"},
		{"GET", "GET /v1/versions/3", "", "", 200, unseen},
		{"HEAD", "HEAD /v1/versions/3", "", "", 200, unseen},
		{"without the header", "POST /v1/shelves/s/things", "", "Idempotency-Key: ", 201, unseen},
		{"an event stream", "POST /v1/turns/t", `{"text":"a"}`, "Accept: text/event-stream", 200, unseen},
		{"no route", "POST /v1/nothing", "", "", 404, unseen},
		{"not admitted", "POST /v1/shelves/s/things", "", "Authorization: no", 401, unseen},
		{"another type", "POST /v1/shelves/s/things", "a=b", "Content-Type: text/plain", 415, unseen},
		{"too large", "POST /v1/shelves/s/things", strings.Repeat(" ", 1<<20+1), "", 413, unseen},
	}
	for _, row := range rows {
		seen.Store(new(unseen))
		method, path, _ := strings.Cut(row.request, " ")
		response, body := ask(t, server, method, path, row.body, "Idempotency-Key: k", row.header)
		if got := *seen.Load(); response.StatusCode != row.status || got != row.want {
			t.Errorf("%s: got %d %s and %q, want %d and %q", row.name, response.StatusCode, body, got, row.status, row.want)
		}
	}
}
