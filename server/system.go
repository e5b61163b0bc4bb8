package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/grpchealth"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/gen/openapi"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/probe"
	"parlance.dev/parlance/server/problem"
)

// checkTimeout bounds one check of /readyz.
const checkTimeout = 2 * time.Second

// Check reports whether a dependency is available.
type Check func(ctx context.Context) error

// registerSystem adds the paths that are neither API nor WebSocket.
func registerSystem(mux *http.ServeMux, d Deps, problems problem.Writer) {
	only := func(h http.HandlerFunc) http.Handler { return getOnly(h, problems) }
	mux.Handle("/healthz", only(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}))
	if d.Nonce != nil {
		mux.Handle(probe.Path, probe.Handler{Known: d.Nonce, Problem: problems, Proxies: d.Caller.Proxies, Now: d.Now})
	}
	mux.Handle("/readyz", only(func(w http.ResponseWriter, r *http.Request) { writeReady(w, r, d.Ready, d.Degraded) }))
	if d.MetricsPublic {
		mux.Handle("/metrics", only(d.Metrics.Handler().ServeHTTP))
	}
	mux.Handle("/openapi.json", only(writeOpenAPI))
	mux.Handle("/errors/", only(func(w http.ResponseWriter, r *http.Request) { writeErrorPage(w, r, problems) }))
}

// openAPIServer is the part of the document that names the server.
var openAPIServer = []byte(`"url": "/"`)

// writeOpenAPI writes the document with the caller's URL of this server: a client that is made
// from the document must reach the server wherever the document was saved. Caches may keep it and
// ask by its ETag whether it is still the same: another version of the server has another document.
func writeOpenAPI(w http.ResponseWriter, r *http.Request) {
	url, err := json.Marshal(interceptor.BaseURL(r.Context()))
	if err != nil {
		url = []byte(`"/"`)
	}
	document := bytes.Replace(openapi.JSON, openAPIServer, append([]byte(`"url": `), url...), 1)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(document)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}

// getOnly refuses methods other than GET and HEAD.
func getOnly(next http.HandlerFunc, problems problem.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			problems.Write(w, r, fault.New(fault.MethodNotAllowedReason, "%s is not a method of this path; use GET.", r.Method))
			return
		}
		next(w, r)
	})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encoded, '\n')) // the caller has hung up
}

// runChecks runs all checks at once and returns "ok" or what is wrong, by name.
func runChecks(ctx context.Context, checks map[string]Check) (results map[string]string, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	names := slices.Sorted(maps.Keys(checks))
	errs := make([]error, len(names))
	var running sync.WaitGroup
	for i, name := range names {
		running.Go(func() { errs[i] = checks[name](ctx) })
	}
	running.Wait()
	results, ready = map[string]string{}, true
	for i, name := range names {
		results[name] = "ok"
		if errs[i] != nil {
			// The cause may name hosts and users; operators find it in the log.
			results[name], ready = "unavailable", false
		}
	}
	return results, ready
}

func writeReady(w http.ResponseWriter, r *http.Request, checks, optional map[string]Check) {
	results, ready := runChecks(r.Context(), checks)
	degraded, _ := runChecks(r.Context(), optional)
	for name, result := range degraded {
		if result != "ok" {
			result = "degraded"
		}
		results[name] = result
	}
	status, word := http.StatusOK, "ready"
	if !ready {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	writeJSON(w, status, struct {
		Status string            `json:"status"`
		Checks map[string]string `json:"checks"`
	}{word, results})
}

// healthChecker answers grpc.health.v1 from the same checks as /readyz.
type healthChecker struct {
	services []string
	ready    map[string]Check
}

// Check implements grpchealth.Checker.
func (h healthChecker) Check(ctx context.Context, req *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if req.Service != "" && !slices.Contains(h.services, req.Service) {
		return nil, problem.ToConnect(fault.NoSuch("service", req.Service))
	}
	status := grpchealth.StatusServing
	if _, ready := runChecks(ctx, h.ready); !ready {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}

var errorPage = template.Must(template.New("error").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.Reason}} · Parlance</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem;color:#1b1f24}
code{background:#f3f4f6;padding:.1em .3em;border-radius:4px}
</style>
<h1><code>{{.Reason}}</code></h1>
<p><strong>{{.Title}}.</strong></p>
<p>{{.Advice}}</p>
<p>HTTP status {{.Status}}, Connect code <code>{{.Code}}</code>.</p>
</html>
`))

// writeErrorPage explains an error code, to browsers as a page, to others as JSON.
func writeErrorPage(w http.ResponseWriter, r *http.Request, problems problem.Writer) {
	entry, ok := fault.Lookup(fault.Reason(strings.TrimPrefix(r.URL.Path, "/errors/")))
	if !ok {
		problems.Write(w, r, fault.New(fault.ResourceNotFound, "There is no such error code."))
		return
	}
	page := struct {
		Reason string `json:"code"`
		Title  string `json:"title"`
		Advice string `json:"advice"`
		Status int    `json:"status"`
		Code   string `json:"connect_code"`
	}{string(entry.Reason), entry.Title, entry.Advice, entry.Kind.Status(), entry.Kind.Code().String()}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		writeJSON(w, http.StatusOK, page)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = errorPage.Execute(w, page) // the caller has hung up
}
