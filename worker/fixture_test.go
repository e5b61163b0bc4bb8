package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker"
	"parlance.dev/parlance/workspaces"
)

// childVariable, when set, makes the test binary a worker that runs until it is killed; its
// value is a database, a Redis and a CA file, separated by spaces.
const childVariable = "PARLANCE_TEST_WORKER"

func TestMain(m *testing.M) {
	if what := os.Getenv(childVariable); what != "" {
		if err := runChild(what); err != nil {
			fmt.Fprintln(os.Stderr, "worker child:", err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m,
		// Looks for a Redis that went away, once a second until it sees that the client is closed.
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func runChild(what string) error {
	var database, redisURL, caFile string
	if _, err := fmt.Sscan(what, &database, &redisURL, &caFile); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := postgres.Open(ctx, postgres.Config{URL: database})
	if err != nil {
		return err
	}
	p := policy()
	p.Timeout, p.LeaseMargin = 5*time.Second, time.Second // it will be killed: others wait for its lease to pass
	hooks, err := newHooks(db, caFile, p)
	if err != nil {
		return err
	}
	client, err := redis.Open(redis.Config{URL: redisURL})
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Deps{DB: db, Redis: client, Webhooks: hooks, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// policy retries soon, but has long time-outs: some receivers answer only at the test's end, and a
// busy machine must not let leases expire, because their events would be sent twice.
func policy() webhooks.Policy {
	return webhooks.Policy{
		Schedule: []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, time.Second, time.Second, time.Second},
		Timeout:  5 * time.Minute, Requeue: time.Second, LeaseMargin: 15 * time.Second,
	}
}

// retention is how long the fixtures' events are kept.
const retention = 30 * 24 * time.Hour

func newHooks(db *postgres.DB, caFile string, p webhooks.Policy) (*webhooks.Service, error) {
	keyring, err := sealtest.Open(db)
	if err != nil {
		return nil, err
	}
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: receiver.CIDRs(), CAFile: caFile})
	if err != nil {
		return nil, err
	}
	return webhooks.New(webhooks.Deps{
		DB: db, Workspaces: workspaces.New(workspaces.Deps{DB: db}), Keyring: keyring,
		Guard: guard, Policy: p, Retention: retention,
	}), nil
}

type fixture struct {
	t        *testing.T
	db       *postgres.DB
	database string
	redisURL string
	caFile   string
	hooks    *webhooks.Service
	ref      workspaces.Ref
	log      *slog.Logger
}

func newFixture(t *testing.T, redisURL string, p webhooks.Policy) *fixture {
	t.Helper()
	database := pgtest.New(t)
	f := &fixture{
		t: t, database: database.URL, redisURL: redisURL, caFile: receiver.New(t).CAFile(t),
		log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.database, Logger: f.log, Tracer: database.Wall})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f.db = db
	if f.hooks, err = newHooks(db, f.caFile, p); err != nil {
		t.Fatal(err)
	}
	made, err := workspaces.New(workspaces.Deps{DB: db}).CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	f.ref = workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
	return f
}

// start runs a worker until stop is called or the test ends; stop waits for it.
func (f *fixture) start(change ...func(*worker.Deps)) (stop func()) {
	f.t.Helper()
	client, err := redis.Open(redis.Config{URL: f.redisURL})
	if err != nil {
		f.t.Fatal(err)
	}
	deps := worker.Deps{DB: f.db, Redis: client, Webhooks: f.hooks, Log: f.log}
	for _, one := range change {
		one(&deps)
	}
	w, err := worker.New(deps)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := w.Run(ctx); err != nil {
			f.t.Errorf("run: %v", err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		group.Wait()
		_ = client.Close()
	})
	f.t.Cleanup(stop)
	return stop
}

func (f *fixture) endpoint(r *receiver.Receiver, names ...string) webhooks.EndpointID {
	f.t.Helper()
	minted, err := f.hooks.Create(f.t.Context(), f.ref, webhooks.CreateParams{URL: r.URL, Events: names})
	if err != nil {
		f.t.Fatal(err)
	}
	r.Expect(minted.Secret.Reveal())
	return minted.ID
}

// append writes n events and returns their ids.
func (f *fixture) append(n int) []string {
	f.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = f.appendEvent(events.Event{Type: events.FatigueAlert, Payload: events.Example(events.FatigueAlert)})
	}
	return ids
}

func (f *fixture) appendEvent(e events.Event) string {
	f.t.Helper()
	e.TenantID, e.WorkspaceID, e.CreatedAt = string(f.ref.TenantID), string(f.ref.ID), time.Now().UTC()
	id, err := events.Append(f.t.Context(), f.db, e)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// await waits until the count of a query is as wanted.
func (f *fixture) await(what string, want int, query string, args ...any) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var got int
		if err := f.db.NewRaw(query, args...).Scan(ctx, &got); err != nil {
			f.t.Fatalf("%s: %v", what, err)
		}
		if got == want {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			f.t.Fatalf("%s: got %d, want %d", what, got, want)
		}
	}
}

// awaitSettled waits until n deliveries have succeeded and none is pending.
func (f *fixture) awaitSettled(n int) {
	f.t.Helper()
	f.await("deliveries that succeeded", n, "SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'")
	f.await("pending deliveries", 0, "SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'")
}

const patience = 2 * time.Minute

// patient is a context for waiting.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// wantOnce fails the test unless each event came exactly once and in order.
func wantOnce(t *testing.T, r *receiver.Receiver, ids []string) {
	t.Helper()
	seen := map[string]int{}
	for _, request := range r.Requests() {
		if request.Err != nil {
			t.Errorf("request for %s: %v", request.EventID, request.Err)
		}
		seen[request.EventID]++
	}
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("event %s came %d times, want once", id, seen[id])
		}
	}
	if len(seen) != len(ids) {
		t.Errorf("%d events came, want %d", len(seen), len(ids))
	}
}

// flushAll empties a Redis.
func flushAll(t *testing.T, redisURL string) {
	t.Helper()
	options, err := goredis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}
