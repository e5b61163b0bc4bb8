package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/fake/openaiembed"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/redistest"
)

const (
	// crashSources and crashEvents are what is on its way when something dies.
	crashSources = 20
	crashEvents  = 100
	// crashPatience covers the 60 s after which a silent worker's source may be taken over, and a
	// busy machine.
	crashPatience = 4 * time.Minute
	// outage is how long Redis stays away.
	outage = 4 * time.Second
)

// crash is an installation whose worker is a process of its own.
type crash struct {
	*harness.Env
	t     *testing.T
	redis *redistest.Server
	hooks []*receiver.Receiver
	agent string
	// embedding counts the calls that wait for the gate.
	embedding atomic.Int32
	gate      chan struct{}
}

func newCrash(t *testing.T) *crash {
	t.Helper()
	c := &crash{t: t, redis: redistest.NewServer(t), hooks: []*receiver.Receiver{receiver.New(t), receiver.New(t)}, gate: make(chan struct{})}
	c.Env = harness.Start(t, harness.Options{RedisURL: c.redis.URL, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_EGRESS_CA_FILE":     c.hooks[0].CAFile(t),
		"PARLANCE_EMBEDDING_BASE_URL": c.embedder(), "PARLANCE_EMBEDDING_API_KEY": openaiembed.APIKey,
		"PARLANCE_EMBEDDING_NAME": openaiembed.Model,
	}})
	for _, hook := range c.hooks {
		made := c.Do(t, "POST", c.Tenant.In("/webhooks"), map[string]any{
			"url":    hook.URL,
			"events": []string{"post_call_transcription", "kb.source_ingested"},
		}).Must(t, 201)
		hook.Expect(made.Text("secret"))
	}
	c.agent = c.Do(t, "POST", c.Tenant.In("/agents"), `{"name":"Ada","model":{"provider":"extractive"}}`).Must(t, 201).Text("id")
	return c
}

// embedder is an embeddings server which answers nothing until the gate is closed.
func (c *crash) embedder() (base string) {
	behind, err := url.Parse(strings.TrimSuffix(openaiembed.Start(c.t).URL, "/v1"))
	if err != nil {
		c.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.embedding.Add(1)
		select {
		case <-c.gate:
			proxy.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	c.t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// addSources has n sources accepted.
func (c *crash) addSources(n int) {
	c.t.Helper()
	c.each(n, func(i int) {
		text := fmt.Sprintf("# Source %d\n\n%s", i, strings.Repeat("A sentence about nothing in particular. ", 400))
		c.Do(c.t, "POST", c.Tenant.In("/knowledge-base/sources/inline"), map[string]any{"name": fmt.Sprint(i), "content": text}).Must(c.t, 202)
	})
}

// addEvents makes n conversations that end.
func (c *crash) addEvents(n int) {
	c.t.Helper()
	c.each(n, func(int) {
		made := c.Do(c.t, "POST", "/v1/sessions", map[string]string{"agent_id": c.agent, "user_id": "u", "modality": "text"}).Must(c.t, 201)
		path := "/v1/sessions/" + made.Text("id")
		c.Do(c.t, "POST", path+"/turns", `{"text":"Hello?"}`).Must(c.t, 200)
		c.Do(c.t, "POST", path+"/end", `{"status":"completed"}`).Must(c.t, 200)
	})
}

// each calls fn side by side, and ends the test when one has failed it.
func (c *crash) each(n int, fn func(i int)) {
	c.t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error { fn(i); return nil })
	}
	_ = group.Wait() // fn fails the test itself
}

func (c *crash) count(query string) int { return harness.Rows[int](c.t, c.Env, query)[0] }

// awaitSources waits until n sources are ready and looks that nothing was done twice.
func (c *crash) awaitSources(n int) {
	c.t.Helper()
	harness.Await(c.t, crashPatience, "every source is ready",
		func() bool { return c.count("SELECT count(*) FROM sources WHERE status = 'ready'") == n })
	for what, query := range map[string]string{
		"chunks stored twice": "SELECT source_id FROM chunks GROUP BY source_id, index HAVING count(*) > 1",
		"sources with other chunks": "SELECT id FROM sources AS s WHERE chunk_count = 0 OR chunk_count <> (SELECT " +
			"count(*) FROM chunks AS c WHERE c.source_id = s.id)",
		"sources ingested twice": "SELECT subject FROM events WHERE type = 'kb.source_ingested' GROUP BY subject HAVING count(*) > 1",
	} {
		if got := harness.Rows[string](c.t, c.Env, query); len(got) > 0 {
			c.t.Errorf("%s: %v", what, got)
		}
	}
}

// awaitDeliveries waits until n events have reached both endpoints, and counts what was sent.
func (c *crash) awaitDeliveries(n int) {
	c.t.Helper()
	want := n * len(c.hooks)
	harness.Await(c.t, crashPatience, "every event is delivered", func() bool {
		return c.count("SELECT count(*) FROM webhook_deliveries WHERE status = 'succeeded'") == want
	})
	if got := c.count("SELECT count(*) FROM webhook_deliveries"); got != want {
		c.t.Errorf("%d deliveries of %d events", got, n)
	}
	if got := harness.Rows[int64](c.t, c.Env, `SELECT delivery_id FROM webhook_attempts GROUP BY delivery_id
		HAVING min(attempt) <> 1 OR max(attempt) <> count(*) OR count(*) FILTER (WHERE status = 'succeeded') <> 1
		    OR count(*) FILTER (WHERE status NOT IN ('succeeded', 'unknown') AND status_code <> 0) > 0`); len(got) > 0 {
		c.t.Errorf("deliveries with a gap, a double or a refusal among their attempts: %v", got)
	}
	// An attempt without an answer may have arrived: one that its worker did not live to record, and,
	// on a machine that is busy with other tests, one that ran out of time.
	unknown := map[string]int{}
	for _, id := range harness.Rows[string](c.t, c.Env, `SELECT e.url || ' ' || d.event_id FROM webhook_attempts AS a
		JOIN webhook_deliveries AS d ON d.id = a.delivery_id JOIN webhook_endpoints AS e ON e.id = d.endpoint_id WHERE a.status <> 'succeeded'`) {
		unknown[id]++
	}
	for _, hook := range c.hooks {
		c.checkReceived(hook, n, unknown)
	}
}

// checkReceived holds a receiver to one request an event, and one more for each attempt whose
// outcome we do not know.
func (c *crash) checkReceived(hook *receiver.Receiver, n int, unknown map[string]int) {
	c.t.Helper()
	times := map[string]int{}
	for _, request := range hook.Requests() {
		if request.Err != nil {
			c.t.Errorf("refused by the receiver: %v", request.Err)
		}
		times[request.EventID]++
	}
	if len(times) != n {
		c.t.Errorf("%d of %d events came", len(times), n)
	}
	for id, got := range times {
		if got > 1+unknown[hook.URL+" "+id] {
			c.t.Errorf("%s came %d times with %d attempts without an answer", id, got, unknown[hook.URL+" "+id])
		}
	}
}

func TestKillDuringIngestion(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	first := c.StartProcess(t, "worker")
	c.addSources(crashSources)
	harness.Await(t, harness.Patience, "sources are being embedded", func() bool { return c.embedding.Load() >= 2 })
	first.Kill()
	killed := time.Now()
	caught := c.count("SELECT count(*) FROM sources WHERE status = 'processing'")
	if caught == 0 {
		t.Fatal("no source was caught in the middle")
	}
	close(c.gate)
	second := c.StartProcess(t, "worker")
	harness.Await(t, harness.Patience, "what was still queued is ready", func() bool {
		return c.count("SELECT count(*) FROM sources WHERE status = 'ready'") >= crashSources-caught
	})
	t.Logf("the %d queued sources were ready %s after the kill", crashSources-caught, time.Since(killed).Round(time.Millisecond))
	c.awaitSources(crashSources)
	t.Logf("the %d sources caught in the middle were ready %s after the kill", caught, time.Since(killed).Round(time.Millisecond))
	c.awaitDeliveries(crashSources)
	second.Terminate()
}

func TestKillDuringDelivery(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	close(c.gate)
	answer := make(chan struct{})
	c.hooks[0].Always(receiver.Answer{Hold: answer})
	first := c.StartProcess(t, "worker")
	c.addEvents(crashEvents)
	harness.Await(t, harness.Patience, "requests are held", func() bool { return len(c.hooks[0].Requests()) >= 4 })
	first.Kill()
	killed := time.Now()
	close(answer)
	second := c.StartProcess(t, "worker")
	c.awaitDeliveries(crashEvents)
	unknown := c.count("SELECT count(*) FROM webhook_attempts WHERE status = 'unknown'")
	if unknown == 0 {
		t.Error("no attempt was caught in the middle")
	}
	t.Logf("every event was delivered %s after the kill, %d attempts unknown", time.Since(killed).Round(time.Millisecond), unknown)
	second.Terminate()
}

func TestRedisLost(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	close(c.gate)
	options, err := goredis.ParseURL(c.redis.URL)
	if err != nil {
		t.Fatal(err)
	}
	redis := goredis.NewClient(options)
	defer func() { _ = redis.Close() }()
	worker := c.StartProcess(t, "worker")
	flush := func() {
		if err := redis.FlushAll(t.Context()).Err(); err != nil {
			t.Error(err)
		}
	}
	c.addSources(crashSources / 2)
	flush()
	c.addEvents(crashEvents / 2)
	flush()
	c.addSources(crashSources / 4)
	c.redis.Stop()
	stopped := time.Now()
	c.addSources(crashSources / 4)
	c.addEvents(crashEvents / 2)
	relayed := func() int { return c.count("SELECT count(DISTINCT event_id) FROM webhook_deliveries") }
	harness.Await(t, harness.Patience, "deliveries are made while Redis is away", func() bool { return relayed() >= crashEvents })
	harness.Await(t, harness.Patience, "some seconds without Redis", func() bool { return time.Since(stopped) > outage })
	t.Logf("Redis was away for %s", time.Since(stopped).Round(time.Millisecond))
	c.redis.Start()
	back := time.Now()
	c.awaitSources(crashSources)
	t.Logf("every source was ready %s after Redis came back", time.Since(back).Round(time.Millisecond))
	c.awaitDeliveries(crashSources + crashEvents)
	t.Logf("every event was delivered %s after Redis came back", time.Since(back).Round(time.Millisecond))
	if got := c.count("SELECT count(*) FROM webhook_attempts WHERE status = 'unknown'"); got != 0 {
		t.Errorf("%d unknown attempts although nobody died", got)
	}
	worker.Terminate()
}
