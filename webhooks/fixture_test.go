package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// clock is advanced by tests. It begins at the real time, because receivers compare timestamps.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type fixture struct {
	t          *testing.T
	db         *postgres.DB
	clock      *clock
	workspaces *workspaces.Service
	keyring    *seal.Keyring
	caFile     string
	hooks      *webhooks.Service
	// ref is a workspace of the first tenant.
	ref workspaces.Ref
}

// pauses is a schedule short enough for receivers to accept the timestamps of all attempts.
var pauses = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

func newFixture(t *testing.T, change ...func(*webhooks.Deps)) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	keyring := sealtest.New(t, db)
	f := &fixture{
		t: t, db: db, clock: &clock{at: time.Now().UTC().Truncate(time.Microsecond)}, keyring: keyring,
		caFile: receiver.New(t).CAFile(t),
	}
	f.workspaces = workspaces.New(workspaces.Deps{DB: db, Now: f.clock.now})
	f.hooks = f.service(change...)
	f.ref = f.tenant()
	return f
}

// service makes another service on the same database, like that of another process.
func (f *fixture) service(change ...func(*webhooks.Deps)) *webhooks.Service {
	f.t.Helper()
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: receiver.CIDRs(), CAFile: f.caFile})
	if err != nil {
		f.t.Fatal(err)
	}
	deps := webhooks.Deps{
		DB: f.db, Workspaces: f.workspaces, Keyring: f.keyring, Guard: guard, Now: f.clock.now,
		Policy: webhooks.Policy{Schedule: pauses}, ChanceFunc: func() float64 { return 0.5 },
	}
	for _, one := range change {
		one(&deps)
	}
	return webhooks.New(deps)
}

// tenant makes a tenant and returns its first workspace.
func (f *fixture) tenant() workspaces.Ref {
	f.t.Helper()
	created, err := f.workspaces.CreateTenant(f.t.Context(), "acme", "free")
	if err != nil {
		f.t.Fatal(err)
	}
	return workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
}

// endpoint registers a receiver for the events, which verifies what it gets.
func (f *fixture) endpoint(ref workspaces.Ref, r *receiver.Receiver, names ...string) webhooks.Endpoint {
	f.t.Helper()
	minted, err := f.hooks.Create(f.t.Context(), ref, webhooks.CreateParams{URL: r.URL + "/hook", Events: names})
	if err != nil {
		f.t.Fatal(err)
	}
	r.Expect(minted.Secret.Reveal())
	return minted.Endpoint
}

// append writes an event of the workspace.
func (f *fixture) append(ref workspaces.Ref, eventType events.Type) string {
	f.t.Helper()
	return f.appendEvent(events.Event{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), Type: eventType,
		Payload: events.Example(eventType), CreatedAt: f.clock.now(),
	})
}

func (f *fixture) appendEvent(e events.Event) string {
	f.t.Helper()
	id, err := events.Append(f.t.Context(), f.db, e)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// relay does what the worker's relay does, and returns the deliveries it would make tasks of.
func (f *fixture) relay() []webhooks.Due {
	f.t.Helper()
	var due []webhooks.Due
	err := postgres.InTx(f.t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		var err error
		due, err = f.relayIn(ctx, tx)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return due
}

// relayIn is relay in a transaction that has the relay's lock.
func (f *fixture) relayIn(ctx context.Context, tx bun.Tx) ([]webhooks.Due, error) {
	made, err := f.fanOut(ctx, tx, 1000)
	return made.Queued, err
}

func (f *fixture) fanOut(ctx context.Context, tx bun.IDB, maxBatches int) (webhooks.FannedOut, error) {
	rows, err := events.UnrelayedPublic(ctx, tx, fair.Ask{Room: 200})
	if err != nil {
		return webhooks.FannedOut{}, err
	}
	made, err := f.hooks.FanOut(ctx, tx, rows, maxBatches)
	if err != nil {
		return webhooks.FannedOut{}, err
	}
	return made, events.MarkRelayed(ctx, tx, rows, f.clock.now())
}

// deliver runs the tasks for due deliveries and returns how many attempts were made.
func (f *fixture) deliver(due []webhooks.Due) int {
	f.t.Helper()
	attempts := 0
	for _, batch := range webhooks.Batches(due) {
		tally, err := f.hooks.Deliver(f.t.Context(), batch)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, n := range tally {
			attempts += n
		}
	}
	return attempts
}

// sweep delivers what is due now.
func (f *fixture) sweep() int {
	f.t.Helper()
	due, err := f.hooks.Due(f.t.Context(), f.clock.now(), fair.Ask{Room: 1000})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.deliver(due)
}

// attempts lists an endpoint's attempts, oldest first.
func (f *fixture) attempts(id webhooks.EndpointID) []webhooks.Attempt {
	f.t.Helper()
	return f.attemptsOf(f.ref, id)
}

func (f *fixture) attemptsOf(ref workspaces.Ref, id webhooks.EndpointID) []webhooks.Attempt {
	f.t.Helper()
	list, _, err := f.hooks.Deliveries(f.t.Context(), ref, id, webhooks.AttemptFilter{}, postgres.PageParams{Size: 200})
	if err != nil {
		f.t.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func (f *fixture) get(id webhooks.EndpointID) webhooks.Endpoint {
	f.t.Helper()
	endpoint, err := f.hooks.Get(f.t.Context(), f.ref, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return endpoint
}

// inOrder fails the test when a receiver refused a request.
func inOrder(t *testing.T, requests []receiver.Request) {
	t.Helper()
	for _, request := range requests {
		if request.Err != nil {
			t.Errorf("request for %s: %v", request.EventID, request.Err)
		}
	}
}
