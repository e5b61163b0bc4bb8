package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/events"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker"
	"parlance.dev/parlance/workspaces"
)

// library is a knowledge base and its ingestion.
type library struct {
	*knowledge.Service
	ingestion *ingestion.Service
}

// paced embeds one text for each token; when tokens is closed it embeds all.
type paced struct {
	embedding.Embedder
	tokens chan struct{}

	mu      sync.Mutex
	running int
	most    int
}

func (p *paced) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	p.note(1)
	defer p.note(-1)
	select {
	case <-p.tokens:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return p.Embedder.Embed(ctx, texts, kind)
}

func (p *paced) note(change int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running += change
	p.most = max(p.most, p.running)
}

func (p *paced) mostAtOnce() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// library is a knowledge base whose embedder is paced.
func (f *fixture) library() (library, *paced) {
	f.t.Helper()
	bucket, err := blob.Open("file://" + f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = bucket.Close() })
	spaces := workspaces.New(workspaces.Deps{DB: f.db})
	pace := &paced{Embedder: hashing.New(), tokens: make(chan struct{})}
	embedders := knowledge.Embedders{pace}
	return library{
		knowledge.New(knowledge.Deps{
			DB: f.db, Workspaces: spaces, Agents: agents.New(agents.Deps{DB: f.db, Workspaces: spaces}), Bucket: bucket,
			Embedders: embedders, Log: f.log,
		}),
		ingestion.New(ingestion.Deps{DB: f.db, Bucket: bucket, Embedders: embedders, Log: f.log, ComputeSlots: 64}),
	}, pace
}

func (f *fixture) tenant(name string) workspaces.Ref {
	f.t.Helper()
	made, err := workspaces.New(workspaces.Deps{DB: f.db}).CreateTenant(f.t.Context(), name, "enterprise")
	if err != nil {
		f.t.Fatal(err)
	}
	return workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
}

// sources queues n sources of a tenant.
func (f *fixture) sources(library library, ref workspaces.Ref, n int) {
	f.t.Helper()
	for i := range n {
		if _, err := library.CreateInline(f.t.Context(), ref, fmt.Sprint("source ", i), fmt.Sprint("This is text number ", i)); err != nil {
			f.t.Fatal(err)
		}
	}
}

const countReady = "SELECT count(*) FROM sources WHERE status = 'ready' AND tenant_id = ?"

func ingestPools(workers int) func(*worker.Deps) {
	return func(d *worker.Deps) {
		d.Pools = []queue.Pool{
			{Concurrency: workers, Weights: map[queue.Name]int{queue.Ingest: 1}},
			{Concurrency: workers, Weights: map[queue.Name]int{queue.Deliver: 1}},
			{Concurrency: 2, Weights: map[queue.Name]int{queue.Default: 1}},
		}
	}
}

// TestGreedySources shows that a source queued after 500 of another tenant is ingested after a few
// of them.
func TestGreedySources(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	library, pace := f.library()
	greedy, small := f.tenant("greedy"), f.tenant("small")
	f.sources(library, greedy, 500)
	f.start(ingestPools(2), func(d *worker.Deps) { d.Ingester = library.ingestion })
	for range 10 {
		pace.tokens <- struct{}{}
	}
	f.await("greedy's first sources", 10, countReady, greedy.TenantID)
	f.sources(library, small, 1)
	ready := 0
	for served := 0; ready == 0 && served < 50; served++ {
		pace.tokens <- struct{}{}
		// What was let go is done before the next is: order, not speed, is what counts.
		f.await("sources that are ready", 11+served, "SELECT count(*) FROM sources WHERE status = 'ready'")
		if err := f.db.NewRaw(countReady, small.TenantID).Scan(t.Context(), &ready); err != nil {
			t.Fatal(err)
		}
		if ready == 1 {
			// Two at work, four in the window and one or two on their way there.
			t.Logf("small was served as number %d", served+1)
			if served+1 > 9 {
				t.Errorf("small was served as number %d", served+1)
			}
		}
	}
	if ready != 1 {
		t.Error("small waits for all of greedy's sources")
	}
	close(pace.tokens)
}

// TestSourcesInTurn shows that tenants which queue one after another get equal parts of the
// workers.
func TestSourcesInTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	library, pace := f.library()
	tenants := make([]workspaces.Ref, 5)
	for i := range tenants {
		tenants[i] = f.tenant(fmt.Sprint("tenant ", i))
		f.sources(library, tenants[i], 30)
	}
	f.start(ingestPools(2), func(d *worker.Deps) { d.Ingester = library.ingestion })
	for range 50 {
		pace.tokens <- struct{}{}
	}
	f.await("sources that are ready", 50, "SELECT count(*) FROM sources WHERE status = 'ready'")
	for i, ref := range tenants {
		var ready int
		if err := f.db.NewRaw(countReady, ref.TenantID).Scan(t.Context(), &ready); err != nil {
			t.Fatal(err)
		}
		// Ten each, but for two that were at work and four in the window when the counting stopped.
		if ready < 4 || ready > 16 {
			t.Errorf("tenant %d has %d of the first 50", i, ready)
		}
	}
	close(pace.tokens)
}

// TestSourcesAlone shows that a tenant that is alone gets all workers but one, which the next
// tenant finds free.
func TestSourcesAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	library, pace := f.library()
	alone, late := f.tenant("alone"), f.tenant("late")
	f.sources(library, alone, 40)
	f.start(ingestPools(8), func(d *worker.Deps) { d.Ingester = library.ingestion })
	ctx := patient(t)
	for pace.mostAtOnce() < 7 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%d at work, want 7", pace.mostAtOnce())
		}
	}
	f.sources(library, late, 1)
	f.await("the source of who came late, at work", 1,
		"SELECT count(*) FROM sources WHERE status = 'processing' AND tenant_id = ?", late.TenantID)
	if got := pace.mostAtOnce(); got > 8 {
		t.Errorf("%d at work, want 7 and the one who came late", got)
	}
	close(pace.tokens)
	f.await("sources that are ready", 41, "SELECT count(*) FROM sources WHERE status = 'ready'")
}

// endpoints registers n endpoints of a tenant at one receiver.
func (f *fixture) endpoints(ref workspaces.Ref, r *receiver.Receiver, n int) {
	f.t.Helper()
	for i := range n {
		params := webhooks.CreateParams{URL: fmt.Sprint(r.URL, "/", i), Events: []string{"fatigue.alert"}}
		if _, err := f.hooks.Create(f.t.Context(), ref, params); err != nil {
			f.t.Fatal(err)
		}
	}
}

// publish appends n events of a tenant.
func (f *fixture) publish(ref workspaces.Ref, n int) []string {
	f.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		var err error
		ids[i], err = events.Append(f.t.Context(), f.db, events.Event{
			TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), Type: events.FatigueAlert,
			Payload: events.Example(events.FatigueAlert), CreatedAt: time.Now().UTC(),
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return ids
}

// TestGreedyDeliveries shows that a tenant with many deliveries to endpoints that do not answer
// delays no other tenant.
func TestGreedyDeliveries(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	greedy, small := f.tenant("greedy"), f.tenant("small")
	slow, quick := receiver.New(t), receiver.New(t)
	hold := make(chan struct{})
	slow.Always(receiver.Answer{Hold: hold})
	f.endpoints(greedy, slow, 40)
	f.endpoints(small, quick, 1)
	f.publish(greedy, 30)
	f.start(ingestPools(8))
	f.await("greedy's deliveries", 1200, "SELECT count(*) FROM webhook_deliveries")
	slow.Await(patient(t), t, 6) // its share of the workers is busy
	for i := range 5 {
		f.publish(small, 1)
		quick.Await(patient(t), t, i+1)
	}
	f.await("greedy's attempts that were answered", 0,
		"SELECT count(*) FROM webhook_attempts WHERE tenant_id = ? AND status = 'succeeded'", greedy.TenantID)
	close(hold)
	f.awaitSettled(1205)
}

// TestSlowBacklog shows that the backlog of an endpoint that does not answer delays no other
// endpoint of its tenant.
func TestSlowBacklog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	slow, quick := receiver.New(t), receiver.New(t)
	hold := make(chan struct{})
	slow.Always(receiver.Answer{Hold: hold})
	f.endpoint(slow, "fatigue.alert")
	f.publish(f.ref, 300)
	f.start(ingestPools(4))
	slow.Await(patient(t), t, 32)
	f.await("deliveries of what came before", 300, "SELECT count(*) FROM webhook_deliveries")
	f.endpoint(quick, "fatigue.alert")
	for i := range 5 {
		f.publish(f.ref, 1)
		quick.Await(patient(t), t, i+1)
	}
	close(hold)
	f.awaitSettled(310)
}

// TestDeliveriesInTurn shows that Due returns equal parts of several tenants' backlogs.
func TestDeliveriesInTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	r := receiver.New(t)
	tenants := map[workspaces.TenantID]int{}
	for i := range 5 {
		ref := f.tenant(fmt.Sprint("tenant ", i))
		f.endpoints(ref, r, 1+i%3) // how many endpoints there are must not matter
		f.publish(ref, 400)
		tenants[ref.TenantID] = 0
	}
	f.relayAll()
	var last string
	for range 20 { // a batch at a time, as when each that ends makes room for one
		due, err := f.hooks.Due(t.Context(), time.Now(), fair.Ask{Room: 1, After: last})
		if err != nil || len(due) == 0 {
			t.Fatalf("due: %d, %v", len(due), err)
		}
		last = string(due[0].TenantID)
		tenants[due[0].TenantID]++
	}
	due, err := f.hooks.Due(t.Context(), time.Now(), fair.Ask{Room: 10, After: last, Except: []string{string(f.ref.TenantID)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range webhooks.Batches(due) {
		tenants[batch.TenantID]++
	}
	for id, n := range tenants {
		if n != 6 {
			t.Errorf("%s had %d turns, want 6: %v", id, n, tenants)
		}
	}
}

// relayAll makes the deliveries of all events and leaves them in Postgres.
func (f *fixture) relayAll() {
	f.t.Helper()
	var last string
	for {
		var rows []events.Row
		err := postgres.InTx(f.t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
			var err error
			if err = events.LockRelay(ctx, tx); err != nil {
				return err
			}
			if rows, err = events.UnrelayedPublic(ctx, tx, fair.Ask{Room: 200, After: last}); err != nil || len(rows) == 0 {
				return err
			}
			if _, err = f.hooks.FanOut(ctx, tx, rows, 0); err != nil {
				return err
			}
			return events.MarkRelayed(ctx, tx, rows, time.Now())
		})
		if err != nil {
			f.t.Fatal(err)
		}
		if len(rows) == 0 {
			return
		}
		last = rows[len(rows)-1].TenantID
	}
}
