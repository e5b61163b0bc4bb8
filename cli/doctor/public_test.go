package doctor_test

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/redistest"
)

// deployed is a running server and the environment it runs with.
func deployed(t *testing.T, settings map[string]string) (*harness.Env, installation) {
	t.Helper()
	env := harness.Start(t, harness.Options{Settings: settings, WithoutWorker: true})
	return env, installation{"DATABASE_URL": env.DatabaseURL, "REDIS_URL": env.RedisURL, "PARLANCE_BLOB_URL": "file://" + env.BlobDir}
}

// proxy is a TLS proxy before the server; wrap changes what it does. It returns its URL and the
// file of its authority.
func proxy(t *testing.T, target string, wrap func(http.Handler) http.Handler) (address, caFile string) {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.SetXForwarded()
			r.Out.Host = r.In.Host
		},
	}
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return server.URL, caFile
}

// look examines the way from address to the server.
func look(t *testing.T, in installation, address, caFile string) []doctor.Finding {
	t.Helper()
	return in.with("PARLANCE_PUBLIC_URL", address).examine(t, "public-url", func(d *doctor.Deps) { d.CAFile = caFile })
}

func TestPublicURLDirect(t *testing.T) {
	t.Parallel()
	env, in := deployed(t, nil)
	found := look(t, in, env.URL, "")
	for _, check := range []string{"reach", "ours", "forwarded", "websocket", "grpc"} {
		wants(t, found, check, doctor.OK, "")
	}
	// The check measures time between two parts. On a busy machine it may need a second attempt.
	for _, check := range []string{"stream", "upload"} {
		harness.Await(t, harness.Patience, check+" is OK", func() bool {
			return slices.ContainsFunc(look(t, in, env.URL, ""), func(f doctor.Finding) bool { return f.Check == check && f.Status == doctor.OK })
		})
	}
	wants(t, found, "set", doctor.Warning, "this machine only")
	wants(t, found, "metrics", doctor.Warning, "everybody")
	wants(t, in.examine(t, "public-url", nil), "set", doctor.Warning, "is not set")
	// Another Redis is another installation.
	wants(t, look(t, in.with("REDIS_URL", redistest.New(t)), env.URL, ""), "ours", doctor.Failed, "not of this installation")
}

// TestProbeIsClosed: to a caller who does not belong to the installation the path does not exist.
func TestProbeIsClosed(t *testing.T) {
	t.Parallel()
	env, _ := deployed(t, nil)
	for _, nonce := range []string{"", "guessed"} {
		got := env.Do(t, http.MethodGet, "/healthz/probe", nil, harness.Header("X-Parlance-Probe", nonce))
		if got.Status != http.StatusNotFound || got.Code() != "route-not-found" {
			t.Errorf("nonce %q: got %d %s", nonce, got.Status, got.Body)
		}
	}
}

func TestPublicURLThroughProxies(t *testing.T) {
	t.Parallel()
	env, in := deployed(t, map[string]string{"PARLANCE_PUBLIC_URL": "", "PARLANCE_TRUSTED_PROXIES": "loopback"})
	for name, row := range map[string]struct {
		wrap   func(http.Handler) http.Handler
		check  string
		status doctor.Status
		text   string
	}{
		"good":              {nil, "websocket", doctor.OK, ""},
		"believed":          {nil, "forwarded", doctor.OK, "is believed"},
		"without Upgrade":   {without("Upgrade"), "websocket", doctor.Failed, "could not be opened"},
		"buffered answers":  {bufferAnswers, "stream", doctor.Warning, "together"},
		"buffered uploads":  {bufferUploads, "upload", doctor.Warning, "keeps whole uploads"},
		"small bodies":      {smallBodies, "upload", doctor.Failed, "12 MiB"},
		"HTTP/1.1 upstream": {nil, "grpc", doctor.Warning, ""},
		"another server": {func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "It works!") })
		}, "reach", doctor.Failed, "not as Parlance does"},
		"redirect": {func(http.Handler) http.Handler {
			return http.RedirectHandler("https://elsewhere.example/", http.StatusFound)
		}, "reach", doctor.Failed, "elsewhere.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, caFile := proxy(t, env.URL, row.wrap)
			wants(t, look(t, in, address, caFile), row.check, row.status, row.text)
		})
	}
}

func TestPublicURLOutOfReach(t *testing.T) {
	t.Parallel()
	env, in := deployed(t, nil)
	address, caFile := proxy(t, env.URL, nil)
	wants(t, look(t, in, address, ""), "reach", doctor.Failed, "certificate")
	wants(t, look(t, in, address, caFile), "base", doctor.Failed, env.URL)
	wants(t, look(t, in, address, caFile), "forwarded", doctor.Warning, "is not believed")
	dead, deadCA := proxy(t, "http://127.0.0.1:1", nil)
	wants(t, look(t, in, dead, deadCA), "reach", doctor.Failed, "reaches no server")
	wants(t, look(t, in, "https://127.0.0.1:1", ""), "reach", doctor.Failed, "refused")
	wants(t, look(t, in, "https://no-such-host.invalid", ""), "name", doctor.Failed, "no-such-host.invalid")
	// A certificate that runs out.
	found := in.with("PARLANCE_PUBLIC_URL", address).examine(t, "public-url", func(d *doctor.Deps) {
		d.CAFile = caFile
		d.Now = func() time.Time { return time.Date(2084, 1, 28, 0, 0, 0, 0, time.UTC) } // a day before httptest's does
	})
	wants(t, found, "certificate", doctor.Failed, "runs out in")
}

func without(header string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del(header)
			next.ServeHTTP(w, r)
		})
	}
}

// bufferAnswers keeps an answer until it is whole, as proxy_buffering does.
func bufferAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	})
}

// bufferUploads keeps a body until it is whole, as proxy_request_buffering does.
func bufferUploads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		next.ServeHTTP(w, r)
	})
}

// smallBodies refuses what nginx refuses by default.
func smallBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if read, _ := io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20+1)); read > 1<<20 {
				http.Error(w, "413 Request Entity Too Large", http.StatusRequestEntityTooLarge)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
