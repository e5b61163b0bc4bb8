package scenario

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/audit"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
)

var stormEvents = flag.Int("chaos.events", 0,
	"how many events TestWebhookChaos publishes, with breaking as long as they are on their way; 0: a few, and each fault once")

const (
	// stormFew is how many events are published when not asked for more.
	stormFew = 120
	// stormLine is how often an event is one of those for the endpoint that is ordered, in a small
	// and in a large run.
	stormLine, stormLineLarge = 5, 100
	// stormPublishers append side by side, and do it again when that failed.
	stormPublishers = 4
	// stormRest bounds coming to rest after the last fault: leases of 30 s, of an heir that was
	// killed as well.
	stormRest = 4 * time.Minute
)

// stormy is the type of what all endpoints but the ordered one get, lined of what that one gets.
const stormy, lined = events.FatigueAlert, events.DSARReady

// letter is an event to publish.
type letter struct {
	id   string
	kind events.Type
}

// letters are n events, of which each step-th is for the ordered endpoint.
func letters(n, step int) []letter {
	all := make([]letter, n)
	for i := range all {
		all[i] = letter{idgen.New(idgen.Event), stormy}
		if i%step == 0 {
			all[i].kind = lined
		}
	}
	return all
}

// storm is an installation that delivers events while everything it stands on breaks.
type storm struct {
	*harness.Env
	t        *testing.T
	postgres *pgtest.Server
	redis    *redistest.Server
	db       *postgres.DB
	hooks    []*receiver.Receiver
	// line is one of hooks: its endpoint is ordered.
	line    *receiver.Receiver
	ids     []string
	workers []*harness.Process
	faults  map[string]int
	journal audit.Journal
}

// TestWebhookChaos publishes events while workers are killed, Redis is emptied and killed and
// Postgres killed, to endpoints that fail, and holds what was received against what was recorded.
func TestWebhookChaos(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	n, step := stormFew, stormLine
	if *stormEvents > 0 {
		n, step = max(*stormEvents, stormFew), stormLineLarge
	}
	all := letters(n, step)
	began := time.Now()
	published := make(chan struct{})
	go func() {
		defer close(published)
		s.publish(all)
	}()
	s.breakThings(published)
	<-published
	calm := time.Now()
	for _, hook := range s.hooks {
		hook.Always(receiver.Answer{})
	}
	harness.Await(t, stormRest, "every event is delivered", func() bool {
		s.supervise()
		left, err := audit.Unsettled(t.Context(), s.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		return len(left) == 0
	})
	t.Logf("%d events to %d endpoints; broken for %s, at rest %s later", n, len(s.hooks),
		calm.Sub(began).Round(time.Second), time.Since(calm).Round(time.Second))
	s.audit(all)
	s.auditLine()
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	s := &storm{t: t, postgres: pgtest.NewServer(t), redis: redistest.NewServer(t), faults: map[string]int{}}
	for range 4 {
		s.hooks = append(s.hooks, receiver.New(t))
	}
	s.line = s.hooks[3]
	s.Env = harness.Start(t, harness.Options{
		DatabaseURL: s.postgres.URL, RedisURL: s.redis.URL, WithoutWorker: true,
		Settings: map[string]string{
			"DATABASE_URL": s.postgres.URL, "PARLANCE_EGRESS_CA_FILE": s.hooks[0].CAFile(t),
			"PARLANCE_LOG_LEVEL": "error",
		},
	})
	for _, hook := range s.hooks {
		made := s.Do(t, "POST", s.Tenant.In("/webhooks"), map[string]any{
			"url": hook.URL, "events": []events.Type{s.kindOf(hook)}, "description": hook.URL, "ordered": hook == s.line,
		}, harness.Key(s.Tenant.Admin)).Must(t, 201)
		hook.Expect(made.Text("secret"))
		hook.Each(s.mood())
		s.ids = append(s.ids, made.Text("id"))
		s.journal.Note(audit.Entry{
			Noun: audit.Endpoint, Verb: audit.Create, ID: made.Text("id"), Mark: hook.URL,
			Status: made.Status, Requests: 1,
		})
	}
	for _, name := range []string{"first key", "operator", "runtime", "read"} { // what the harness makes for a tenant
		s.journal.Note(audit.Entry{Noun: audit.Key, Verb: audit.Create, Mark: name, Status: http.StatusCreated, Requests: 1})
	}
	var err error
	if s.db, err = postgres.Open(t.Context(), postgres.Config{URL: s.postgres.URL, MaxConns: stormPublishers}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	for range 2 {
		s.workers = append(s.workers, s.StartProcess(t, "worker"))
	}
	return s
}

// kindOf is the type of the events that an endpoint gets.
func (s *storm) kindOf(hook *receiver.Receiver) events.Type {
	if hook == s.line {
		return lined
	}
	return stormy
}

// mood is moody's; a few events leave no request until its time-out, for which a test would wait.
func (s *storm) mood() func() receiver.Answer {
	if *stormEvents > 0 {
		return moody
	}
	return func() receiver.Answer {
		if answer := moody(); answer.Status != 0 || answer.Reset {
			return answer
		}
		return receiver.Answer{}
	}
}

// publish appends the events, each until it is known to be stored.
func (s *storm) publish(all []letter) {
	next := make(chan letter)
	var publishers sync.WaitGroup
	for range stormPublishers {
		publishers.Go(func() {
			for one := range next {
				for s.append(one) != nil && s.t.Context().Err() == nil {
					s.pause(50 * time.Millisecond)
				}
			}
		})
	}
	for _, one := range all {
		next <- one
		s.pause(rand.N(20 * time.Millisecond))
	}
	close(next)
	publishers.Wait()
}

func (s *storm) append(one letter) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	_, err := events.Append(ctx, s.db, events.Event{
		ID: one.id, TenantID: s.Tenant.ID, WorkspaceID: s.Tenant.WorkspaceID, Type: one.kind,
		Payload: events.Example(one.kind), CreatedAt: time.Now().UTC().Truncate(time.Microsecond),
	})
	return err
}

// pause lets time pass: what is tested is what happens at random moments.
func (s *storm) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.t.Context().Done():
	}
}

// breakThings does each fault once, and goes on until everything is published.
func (s *storm) breakThings(published <-chan struct{}) {
	for {
		for _, i := range rand.Perm(5) {
			s.pause(200*time.Millisecond + rand.N(800*time.Millisecond))
			s.breakOne(i)
			s.supervise()
		}
		select {
		case <-published:
			return
		case <-s.t.Context().Done():
			return
		default:
		}
		if *stormEvents == 0 {
			return
		}
	}
}

func (s *storm) breakOne(i int) {
	switch i {
	case 0, 1:
		s.faults["worker killed"]++
		s.workers[i].Kill()
		s.workers[i] = s.StartProcess(s.t, "worker")
	case 2:
		s.faults["Redis emptied"]++
		s.flush()
	case 3:
		s.faults["Redis killed"]++
		s.redis.Kill()
		s.pause(rand.N(time.Second))
		s.redis.Start()
	case 4:
		s.faults["Postgres killed"]++
		s.postgres.Kill()
		s.pause(rand.N(time.Second))
		s.postgres.Start()
	}
}

func (s *storm) flush() {
	options, err := goredis.ParseURL(s.redis.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }() // nothing is in flight
	if err := client.FlushAll(s.t.Context()).Err(); err != nil {
		s.t.Error(err)
	}
}

// supervise starts workers that gave up, as systemd does.
func (s *storm) supervise() {
	for i, worker := range s.workers {
		if worker.Ended() {
			s.faults["worker started again that had given up"]++
			s.workers[i] = s.StartProcess(s.t, "worker")
		}
	}
}

// audit fails the test for every violation, and counts what receivers got twice.
func (s *storm) audit(all []letter) {
	s.t.Helper()
	evidence := audit.Evidence{DatabaseURL: s.DatabaseURL, BlobDir: s.BlobDir, Journal: &s.journal, Faithful: s.ids}
	twice, requests := 0, 0
	for _, hook := range s.hooks {
		accepted := map[string]int{}
		for _, r := range hook.Requests() {
			requests++
			evidence.Received = append(evidence.Received, audit.Received{
				URL: hook.URL, EventID: r.EventID, Body: r.Body,
				Status: r.Status, At: r.At, Err: r.Err,
			})
			if r.Status == http.StatusOK {
				accepted[r.EventID]++
			}
		}
		for _, one := range all {
			if one.kind == s.kindOf(hook) && accepted[one.id] == 0 {
				s.t.Errorf("%s never accepted %s", hook.URL, one.id)
			}
			twice += max(0, accepted[one.id]-1)
		}
	}
	report, err := audit.Check(s.t.Context(), evidence)
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{"requests": requests, "accepted twice by a receiver": twice}
	for _, status := range harness.Rows[string](s.t, s.Env, "SELECT status FROM webhook_attempts") {
		counts["attempts "+status]++
	}
	s.t.Logf("faults:\n%s", tally(s.faults))
	s.t.Logf("deliveries: %s", fmt.Sprint(counts))
	s.t.Logf("audit:\n%s", report)
	for _, finding := range report.Findings {
		s.t.Error(finding)
	}
}

// auditLine requires that the ordered endpoint never got an event behind one that came after it.
func (s *storm) auditLine() {
	s.t.Helper()
	place := map[string]int{}
	for i, id := range harness.Rows[string](s.t, s.Env, "SELECT event_id FROM events WHERE type = 'dsar.ready' ORDER BY position") {
		place[id] = i
	}
	furthest, requests := 0, s.line.Requests()
	for _, r := range requests {
		if place[r.EventID] < furthest {
			s.t.Errorf("%s, number %d of the line, came after number %d", r.EventID, place[r.EventID], furthest)
		}
		furthest = max(furthest, place[r.EventID])
	}
	s.t.Logf("the line: %d events in %d requests", len(place), len(requests))
}
