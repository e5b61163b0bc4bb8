package worker_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/redistest"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/worker"
)

func TestDelivers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	metrics := telemetry.NewMetrics("test")
	f.start(func(d *worker.Deps) { d.Metrics = metrics })
	r := receiver.New(t)
	endpoint := f.endpoint(r, "fatigue.alert")
	r.Script(receiver.Answer{Status: 500}, receiver.Answer{Status: 503}, receiver.Answer{Reset: true})
	id := f.append(1)[0]
	requests := r.Await(patient(t), t, 4)
	f.awaitSettled(1)
	for _, request := range requests {
		if request.EventID != id || request.Err != nil {
			t.Errorf("request: %s, %v", request.EventID, request.Err)
		}
	}
	attempts, _, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint, webhooks.AttemptFilter{}, postgres.PageParams{})
	if err != nil || len(attempts) != 4 || attempts[0].Number != 4 || attempts[0].Status != webhooks.AttemptSucceeded {
		t.Errorf("attempts: %+v, %v", attempts, err)
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]float64{}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			counted[family.GetName()] += series.GetCounter().GetValue()
		}
	}
	if counted["parlance_webhook_attempts_total"] != 4 || counted["parlance_events_relayed_total"] != 1 {
		t.Errorf("counted %v attempts of %v events, want 4 of 1", counted["parlance_webhook_attempts_total"],
			counted["parlance_events_relayed_total"])
	}
}

// TestRedisFlushed empties Redis: everything that was queued is sent once.
func TestRedisFlushed(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	p := policy()
	p.Timeout = 15 * time.Second // a delivery whose task is lost waits for its lease
	f := newFixture(t, server.URL, p)
	first, second := receiver.New(t), receiver.New(t)
	f.endpoint(first, "fatigue.alert")
	f.endpoint(second, "fatigue.alert")
	hold := make(chan struct{})
	first.Always(receiver.Answer{Hold: hold})
	f.start()
	ids := f.append(200)
	first.Await(patient(t), t, 1)
	flushAll(t, server.URL)
	close(hold)
	first.Await(patient(t), t, len(ids))
	second.Await(patient(t), t, len(ids))
	f.awaitSettled(2 * len(ids))
	wantOnce(t, first, ids)
	wantOnce(t, second, ids)
}

// TestRedisAway shows that public events become deliveries without Redis, and that deliveries and
// internal events wait for it.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	p := policy()
	p.Timeout = 15 * time.Second // a delivery whose task is lost waits for its lease
	f := newFixture(t, server.URL, p)
	r := receiver.New(t)
	f.endpoint(r, "fatigue.alert")
	library := newNoun()
	f.start(func(d *worker.Deps) { d.Ingester, d.ReleaseBlobFunc = library, library.ReleaseBlob })
	ids := f.append(1)
	r.Await(patient(t), t, 1)
	server.Kill()
	ids = append(ids, f.append(3)...)
	f.appendEvent(events.Event{Type: events.BlobOrphaned, Subject: "blob/1"})
	f.await("deliveries", 4, "SELECT count(*) FROM webhook_deliveries")
	f.await("events that wait", 1, "SELECT count(*) FROM events WHERE relayed_at IS NULL AND subject = 'blob/1'")
	f.await("deliveries that wait", 3, "SELECT count(*) FROM webhook_deliveries WHERE status = 'pending'")
	server.Start()
	f.awaitSettled(4)
	if got := library.next(patient(t), t); got != "blob/1" {
		t.Errorf("released %q", got)
	}
	wantOnce(t, r, ids)
}

// TestKilled kills a worker between the request and its record: the attempt becomes unknown, and
// the event is sent again with the next number and the same id.
func TestKilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	r := receiver.New(t)
	endpoint := f.endpoint(r, "fatigue.alert")
	r.Script(receiver.Answer{Hold: make(chan struct{})})
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{f.database, f.redisURL, f.caFile}, " "))
	child.Stderr = t.Output()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	id := f.append(1)[0]
	r.Await(patient(t), t, 1)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // says that it was killed
	f.start()
	requests := r.Await(patient(t), t, 2)
	f.awaitSettled(1)
	for _, request := range requests {
		if request.EventID != id || request.Err != nil {
			t.Errorf("request: %s, %v; want %s", request.EventID, request.Err, id)
		}
	}
	attempts, _, err := f.hooks.Deliveries(t.Context(), f.ref, endpoint, webhooks.AttemptFilter{}, postgres.PageParams{})
	if err != nil || len(attempts) != 2 {
		t.Fatalf("attempts: %+v, %v", attempts, err)
	}
	if attempts[1].Status != webhooks.AttemptUnknown || attempts[1].Number != 1 ||
		attempts[0].Status != webhooks.AttemptSucceeded || attempts[0].Number != 2 {
		t.Errorf("attempts: %s %d, %s %d", attempts[1].Status, attempts[1].Number, attempts[0].Status, attempts[0].Number)
	}
}

func TestTwoWorkers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	r := receiver.New(t)
	f.endpoint(r, "fatigue.alert")
	f.start()
	second, err := newHooks(f.db, f.caFile, policy())
	if err != nil {
		t.Fatal(err)
	}
	f.start(func(d *worker.Deps) { d.Webhooks = second })
	ids := f.append(150)
	r.Await(patient(t), t, len(ids))
	f.awaitSettled(len(ids))
	wantOnce(t, r, ids)
}

// TestSlowEndpoint shows that an endpoint that does not answer does not delay others.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	slow, quick := receiver.New(t), receiver.New(t)
	f.endpoint(slow, "fatigue.alert")
	f.endpoint(quick, "fatigue.alert")
	hold := make(chan struct{})
	slow.Always(receiver.Answer{Hold: hold})
	f.start()
	var ids []string
	for i := range 40 { // one by one, so that each has a task of its own
		ids = append(ids, f.append(1)...)
		quick.Await(patient(t), t, i+1)
	}
	close(hold)
	slow.Await(patient(t), t, len(ids))
	f.awaitSettled(2 * len(ids))
	wantOnce(t, slow, ids)
	wantOnce(t, quick, ids)
}

// TestStops shows that a worker that is stopped lets its attempts end and records them.
func TestStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	r := receiver.New(t)
	f.endpoint(r, "fatigue.alert")
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold})
	stop := f.start()
	f.append(1)
	r.Await(patient(t), t, 1)
	var group sync.WaitGroup
	group.Go(stop)
	close(hold)
	group.Wait()
	f.await("attempts that succeeded", 1, "SELECT count(*) FROM webhook_attempts WHERE status = 'succeeded'")
}

// noun is a fake of ingestion and of package knowledge.
type noun struct {
	ingested chan string

	mu  sync.Mutex
	due []ingestion.DueSource
}

func newNoun() *noun {
	return &noun{ingested: make(chan string, 100)}
}

func (k *noun) Ingest(_ context.Context, id knowledge.SourceID) error {
	k.ingested <- string(id)
	return nil
}

func (k *noun) DueSources(context.Context, time.Time, fair.Ask) ([]ingestion.DueSource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	due := k.due
	k.due = nil
	return due, nil
}

func (k *noun) PutOff(context.Context, ingestion.DueSource) error { return nil }

// wait makes a source due.
func (k *noun) wait(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.due = []ingestion.DueSource{{TenantID: "ten_1", ID: knowledge.SourceID(id)}}
}

func (k *noun) ReleaseBlob(_ context.Context, key string) error {
	k.ingested <- key
	return nil
}

func (k *noun) next(ctx context.Context, t *testing.T) string {
	t.Helper()
	select {
	case id := <-k.ingested:
		return id
	case <-ctx.Done():
		t.Fatal("nothing was ingested")
		return ""
	}
}

func TestInternalEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	library := newNoun()
	f.appendEvent(events.Event{Type: "_of.the_future", Subject: "x"})
	f.start(func(d *worker.Deps) { d.Ingester, d.ReleaseBlobFunc = library, library.ReleaseBlob })
	library.wait("src_1")
	f.appendEvent(events.Event{Type: events.SourceQueued, Subject: "src_1"})
	if got := library.next(patient(t), t); got != "src_1" {
		t.Errorf("ingested %q", got)
	}
	f.appendEvent(events.Event{Type: events.BlobOrphaned, Subject: "blob/1"})
	if got := library.next(patient(t), t); got != "blob/1" {
		t.Errorf("released %q", got)
	}
	f.await("events that no noun takes", 1, "SELECT count(*) FROM events WHERE relayed_at IS NULL")
	library.wait("src_2") // no event and no task, as after Redis was emptied
	if got := library.next(patient(t), t); got != "src_2" {
		t.Errorf("the sweep ingested %q", got)
	}
}

type sweeps chan time.Time

func (s sweeps) Sweep(ctx context.Context, now time.Time) error {
	select {
	case s <- now:
	case <-ctx.Done():
	}
	return nil
}

func (s sweeps) Watch(ctx context.Context) { <-ctx.Done() }

func TestHousekeeping(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	swept, strays, answers, traces, indexes := make(sweeps), make(sweeps), make(sweeps), make(sweeps), make(sweeps)
	f.start(func(d *worker.Deps) {
		d.Sessions, d.Strays, d.Answers, d.Traces, d.Indexes = swept, strays.Sweep, answers.Sweep, traces.Sweep, indexes.Sweep
	})
	<-strays
	<-answers
	<-traces
	<-indexes
	first := <-swept
	if second := <-swept; !second.After(first) {
		t.Errorf("swept at %v and %v", first, second)
	}
}

// TestClockAhead shows that a worker whose clock is a year ahead deletes only what is old.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, redistest.New(t), policy())
	f.endpoint(receiver.New(t), string(events.FatigueAlert))
	old := f.appendEvent(events.Event{Type: events.DSARReady, Payload: events.Example(events.DSARReady)})
	f.append(3)
	stop := f.start()
	f.awaitSettled(3)
	f.await("relayed events", 4, "SELECT count(*) FROM events WHERE relayed_at IS NOT NULL")
	stop()
	if _, err := f.db.ExecContext(t.Context(), "UPDATE events SET created_at = created_at - ?::interval WHERE event_id = ?",
		(retention + time.Hour).String(), old); err != nil {
		t.Fatal(err)
	}
	f.start(func(d *worker.Deps) { d.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) } })
	f.await("old events", 0, "SELECT count(*) FROM events WHERE event_id = ?", old)
	f.await("events that are kept", 3, "SELECT count(*) FROM events")
	f.await("deliveries that are kept", 3, "SELECT count(*) FROM webhook_deliveries")
}
