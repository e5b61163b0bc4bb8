package harness

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/port"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/test/tenantwall"
)

// Patience bounds what a test waits for. It is reached only when something is broken.
const Patience = 3 * time.Minute

// Options say how an installation differs from the usual one of tests.
type Options struct {
	// Plan of Env.Tenant; empty: enterprise, which has no rate limits.
	Plan string
	// Settings are environment variables that override those of the harness, e.g.
	// "PARLANCE_MODEL_NAME".
	Settings map[string]string
	// RedisURL is used in place of a logical database of the shared Redis, DatabaseURL in place of
	// a database of the shared Postgres; it has the migrations.
	RedisURL, DatabaseURL string
	// Guarded keeps tools and webhooks off loopback, as in production.
	Guarded bool
	// WithoutServer and WithoutWorker leave that part out of the test's process.
	WithoutServer, WithoutWorker bool
	// ClockAhead is how far the machine's clock is ahead, as the parts in this process see it.
	ClockAhead time.Duration
	// Log gets everything that the parts in this process log, as JSON from level debug on, and the
	// output of processes. It must be safe for concurrent use.
	Log io.Writer
}

// Env is a running installation.
type Env struct {
	// URL is http on loopback, without a slash at the end.
	URL string
	App *app.App
	// Tenant is a tenant with a workspace and keys of every scope.
	Tenant Tenant
	// DatabaseURL is for pgx, RedisURL for redis.ParseURL, BlobDir the bucket's directory.
	DatabaseURL, RedisURL, BlobDir string
	// Wall checks every statement of the parts in this process.
	Wall *tenantwall.Wall

	settings map[string]string
	within   []string
	log      io.Writer
	ahead    time.Duration
	stop     func()
}

// Start runs an installation until the test ends.
func Start(t testing.TB, o Options) *Env {
	t.Helper()
	e := &Env{DatabaseURL: o.DatabaseURL, RedisURL: o.RedisURL, BlobDir: filepath.Join(t.TempDir(), "blobs"), log: o.Log, ahead: o.ClockAhead}
	if e.DatabaseURL == "" {
		made := pgtest.New(t)
		e.DatabaseURL, e.Wall = made.URL, made.Wall
	} else {
		e.Wall = pgtest.NewWall(t, e.DatabaseURL)
	}
	if e.RedisURL == "" {
		e.RedisURL = redistest.New(t)
	}
	address := port.Reserve(t) // also for a process that takes it, or a server after the first
	e.URL = "http://" + address
	e.settings = e.settingsOf(t, o)
	e.open(t)
	e.Tenant = e.NewTenant(t, o.Plan)
	var listener net.Listener
	if !o.WithoutServer {
		var err error
		if listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", address); err != nil {
			t.Fatal(err)
		}
	}
	e.run(t, listener, !o.WithoutWorker)
	t.Cleanup(func() { e.explain(t) })
	return e
}

// settingsOf returns the installation's environment variables.
func (e *Env) settingsOf(t testing.TB, o Options) map[string]string {
	t.Helper()
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "master.key")
	if err := errors.Join(seal.NewMasterKeyFile(keyFile), os.MkdirAll(e.BlobDir, 0o700)); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{
		"DATABASE_URL": throughPooler(t, e.DatabaseURL), "PARLANCE_DATABASE_DIRECT_URL": e.DatabaseURL, "REDIS_URL": e.RedisURL,
		"PARLANCE_DATABASE_MAX_CONNS": "8",
		"PARLANCE_BLOB_URL":           "file://" + e.BlobDir,
		"PARLANCE_MASTER_KEY_FILE":    keyFile,
		"PARLANCE_LISTEN":             strings.TrimPrefix(e.URL, "http://"),
		"PARLANCE_PUBLIC_URL":         e.URL,
		"PARLANCE_METRICS_LISTEN":     app.MetricsPublic,
		"PARLANCE_SHUTDOWN_TIMEOUT":   "10s",
		"PARLANCE_LOG_LEVEL":          "warn",
		"PARLANCE_LOG_FORMAT":         "text",
		"PARLANCE_WEBHOOK_SCHEDULE":   "0s,100ms,200ms,500ms,1s,1s,1s,1s,1s,1s,1s",
	}
	if !o.Guarded {
		settings["PARLANCE_EGRESS_ALLOW_CIDRS"] = "127.0.0.0/8,::1/128"
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	return settings
}

// open joins the parts in the test's process.
func (e *Env) open(t testing.TB) {
	t.Helper()
	config, err := app.Load(app.Source{ReadFile: os.ReadFile, LookupEnv: func(name string) (string, bool) {
		value, ok := e.settings[name]
		return value, ok
	}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := e.logger(t)
	if err != nil {
		t.Fatal(err)
	}
	e.App, err = app.Open(t.Context(), config, app.Params{
		Version: "test", Component: "test", Log: log, Statements: e.Wall,
		Now: func() time.Time { return time.Now().Add(e.ahead) }, LookUpTimeout: Patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.App.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// logger writes warnings to the test's log, or everything to Options.Log.
func (e *Env) logger(t testing.TB) (*slog.Logger, error) {
	t.Helper()
	if e.log != nil {
		return telemetry.NewLogger(e.log, telemetry.LogConfig{Format: telemetry.LogJSON, Level: slog.LevelDebug})
	}
	return telemetry.NewLogger(t.Output(), telemetry.LogConfig{Format: telemetry.LogText, Level: slog.LevelWarn})
}

// run serves on the listener, unless it is nil, and works until Stop or the end of the test.
func (e *Env) run(t testing.TB, listener net.Listener, work bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	if listener != nil {
		running.Go(func() {
			if err := e.App.Serve(ctx, listener); err != nil {
				t.Errorf("serve: %v", err)
			}
		})
	}
	if work {
		running.Go(func() {
			if err := e.App.Work(ctx); err != nil {
				t.Errorf("work: %v", err)
			}
		})
	}
	e.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(e.stop)
}

// Stop ends server and worker in order, as a signal would, and waits for both.
func (e *Env) Stop() { e.stop() }

// Await polls until ok returns true, and fails the test after within.
func Await(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-t.Context().Done():
			t.Fatalf("the test ended before: %s", what)
		case <-deadline.C:
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}
