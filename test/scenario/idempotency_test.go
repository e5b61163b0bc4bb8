package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

const replayed = "Idempotency-Replayed"

// idem is an installation for requests that are sent twice.
type idem struct {
	*harness.Env
	agent string
}

func newIdem(t *testing.T, o harness.Options) *idem {
	t.Helper()
	e := &idem{Env: harness.Start(t, o)}
	e.agent = e.Do(t, "POST", e.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	return e
}

func withKey(key string) harness.With { return harness.Header("Idempotency-Key", key) }

// keyRows returns how many keys are stored.
func (e *idem) keyRows(t *testing.T) int {
	t.Helper()
	return harness.Rows[int](t, e.Env, "SELECT count(*) FROM idempotency_keys")[0]
}

// same fails the test unless the second answer replays the first, byte for byte. A problem names
// the request that it answers.
func same(t *testing.T, first, second harness.Response) {
	t.Helper()
	if first.Header.Get(replayed) != "" || second.Header.Get(replayed) != "true" {
		t.Errorf("replayed is %q, then %q", first.Header.Get(replayed), second.Header.Get(replayed))
	}
	want := bytes.ReplaceAll(first.Body, []byte(first.Header.Get("X-Request-Id")), []byte(second.Header.Get("X-Request-Id")))
	if second.Status != first.Status || !bytes.Equal(second.Body, want) {
		t.Errorf("first %d %s\nthen %d %s", first.Status, first.Body, second.Status, second.Body)
	}
	for _, name := range []string{"Content-Type", "Location"} {
		if got, want := second.Header.Get(name), first.Header.Get(name); got != want {
			t.Errorf("%s: %q, first %q", name, got, want)
		}
	}
	if id := second.Header.Get("X-Request-Id"); id == "" || id == first.Header.Get("X-Request-Id") {
		t.Errorf("X-Request-Id of the replay is %q", id)
	}
}

// TestIdempotencyReplay repeats a request: it gets the first answer, one-time secrets included,
// and changes nothing. The secrets cannot be read in the table.
func TestIdempotencyReplay(t *testing.T) {
	t.Parallel()
	hook := receiver.New(t)
	e := newIdem(t, harness.Options{Settings: map[string]string{"PARLANCE_EGRESS_CA_FILE": hook.CAFile(t)}})
	in := e.Tenant.In
	tool := `{"slug":"shop","description":"d","kind":"http","webhook_url":"http://127.0.0.1:1/x"}`
	rows := []struct {
		name, method, path, body, secret string
		status                           int
	}{
		{"session", "POST", "/v1/sessions", `{"agent_id":"` + e.agent + `","user_id":"u","modality":"text"}`, "token", 201},
		{"tool", "POST", in("/tools"), tool, "", 201},
		{"webhook", "POST", in("/webhooks"), `{"url":"` + hook.URL + `","events":["kb.source_ingested"]}`, "secret", 201},
		{"api key", "POST", "/v1/api-keys", `{"name":"spare","scope":"read"}`, "secret", 201},
		{"source", "POST", in("/knowledge-base/sources/inline"), `{"name":"n","content":"Something."}`, "", 202},
		{"version", "PATCH", in("/agents/" + e.agent), `{"name":"Grace"}`, "", 200},
		{"delete", "DELETE", in("/agents/" + e.agent), "", "", 204},
		{"unknown", "DELETE", in("/tools/nobody"), "", "", 404},
		{"a reason of its own", "POST", in("/webhooks"), `{"url":"http://example.com","events":[]}`, "", 400},
	}
	tables := []string{"sessions", "tools", "webhook_endpoints", "api_keys", "sources", "agent_versions", "agents"}
	for i, row := range rows {
		var body any
		if row.body != "" {
			body = row.body
		}
		key := withKey(fmt.Sprintf("replay-%d", i))
		first := e.Do(t, row.method, row.path, body, key).Must(t, row.status)
		before := e.Counts(t)
		same(t, first, e.Do(t, row.method, row.path, body, key))
		after := e.Counts(t)
		for _, table := range tables {
			if before[table] != after[table] {
				t.Errorf("%s: %d rows in %s, then %d", row.name, before[table], table, after[table])
			}
		}
		if row.secret == "" {
			continue
		}
		secret := first.Text(row.secret)
		if secret == "" {
			t.Fatalf("%s: no %s in %s", row.name, row.secret, first.Body)
		}
		for _, stored := range harness.Rows[string](t, e.Env, "SELECT i::text || encode(answer, 'escape') FROM idempotency_keys AS i") {
			if strings.Contains(stored, secret) || strings.Contains(stored, "replay-") {
				t.Errorf("%s: the table holds the secret or the key: %s", row.name, stored)
			}
		}
	}
}

func TestIdempotencyRefusals(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{})
	agents := e.Tenant.In("/agents")
	made := e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k")).Must(t, 201)

	if got := e.Do(t, "POST", agents, `{"name":"two"}`, withKey("k")); got.Status != 409 || got.Code() != "idempotency-key-reused" {
		t.Errorf("another body: %d %s", got.Status, got.Body)
	}
	// A key is part of a route: on another route the same key is another one.
	e.Do(t, "POST", "/v1/workspaces", `{"name":"one"}`, withKey("k")).Must(t, 201)
	for name, key := range map[string]string{"long": strings.Repeat("x", 256), "tab": "a\tb", "not ASCII": "é"} {
		got := e.Do(t, "POST", agents, `{"name":"one"}`, withKey(key))
		if got.Status != 400 || got.Code() != "invalid-request" || len(got.Problem.Fields()) != 1 ||
			got.Problem.Fields()[0] != "Idempotency-Key" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		e.Do(t, "GET", agents, nil, withKey(key)).Must(t, 200)
	}
	empty := func(r *http.Request) { r.Header["Idempotency-Key"] = []string{""} }
	twice := func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }
	e.Do(t, "POST", agents, `{"name":"one"}`, empty).Must(t, 400)
	e.Do(t, "POST", agents, `{"name":"one"}`, twice).Must(t, 400)

	// A caller that lost its permission gets no replay, and another caller has its own keys.
	e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k"), harness.Key(e.Tenant.Read)).Must(t, 403)
	colleague := e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k"), harness.Key(e.Tenant.Operator)).Must(t, 201)
	if colleague.Header.Get(replayed) != "" || colleague.Text("id") == made.Text("id") {
		t.Errorf("another API key got %s", colleague.Body)
	}
	if list := e.Do(t, "GET", agents, nil, withKey("k")).Must(t, 200); list.Header.Get(replayed) != "" || len(list.List("agents")) != 3 {
		t.Errorf("the list is %s", list.Body)
	}

	// A request that never began can be corrected under the same key.
	e.Do(t, "POST", agents, `{"nam":"one"}`, withKey("mended")).Must(t, 400)
	e.Do(t, "POST", agents, `{"name":""}`, withKey("mended")).Must(t, 400)
	e.Do(t, "POST", agents, `{"name":"one"}`, withKey("mended")).Must(t, 201)

	// Nor is the name that was taken replayed once it is free.
	tools, tool := e.Tenant.In("/tools"), `{"slug":"shop","description":"d","kind":"http","webhook_url":"http://127.0.0.1:1/x"}`
	other := e.Do(t, "POST", tools, tool).Must(t, 201).Text("id")
	checkProblem(t, e.Do(t, "POST", tools, tool, withKey("taken")), 409, "tool-slug-taken")
	e.Do(t, "DELETE", tools+"/"+other, nil).Must(t, 204)
	e.Do(t, "POST", tools, tool, withKey("taken")).Must(t, 201)

	// Another If-Match is another request.
	path := agents + "/" + made.Text("id")
	e.Do(t, "PATCH", path, `{"name":"mine"}`, withKey("p"), harness.Header("If-Match", `"1"`)).Must(t, 200)
	e.Do(t, "PATCH", path, `{"name":"theirs"}`).Must(t, 200)
	checkProblem(t, e.Do(t, "PATCH", path, `{"name":"mine"}`, withKey("p"), harness.Header("If-Match", `"3"`)), 409, "idempotency-key-reused")
	e.Do(t, "PATCH", path, `{"name":"mine"}`, withKey("p"), harness.Header("If-Match", `"1"`)).Must(t, 200)
}

// TestIdempotencyAtOnce sends many equal requests at the same time: one of them makes the agent.
func TestIdempotencyAtOnce(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{})
	before := e.Counts(t)["agents"]
	var made, repeats atomic.Int32
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			got, err := e.Send(t, "POST", e.Tenant.In("/agents"), `{"name":"one"}`, withKey("k"))
			switch {
			case err == nil && got.Status == 201 && got.Header.Get(replayed) == "":
				made.Add(1)
			case err == nil && (got.Code() == "idempotency-key-in-flight" && got.Header.Get("Retry-After") == "1" || got.Status == 201):
				repeats.Add(1)
			default:
				t.Errorf("%d %s, %v", got.Status, got.Body, err)
			}
		})
	}
	running.Wait()
	if made.Load() != 1 || repeats.Load() != 49 || e.Counts(t)["agents"] != before+1 {
		t.Errorf("%d made it, %d were replayed, %d agents before, %d after", made.Load(), repeats.Load(), before, e.Counts(t)["agents"])
	}
}

// slowTool is a tool whose calls wait for a signal of the test.
type slowTool struct {
	run     string // the path to run it
	arrived chan struct{}
	answer  chan string
}

func (e *idem) newSlowTool(t *testing.T) *slowTool {
	t.Helper()
	s := &slowTool{arrived: make(chan struct{}, 1), answer: make(chan string)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		select {
		case word := <-s.answer:
			_, _ = io.WriteString(w, `{"word":"`+word+`"}`)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	id := e.Do(t, "POST", e.Tenant.In("/tools"),
		`{"slug":"slow","description":"d","kind":"http","webhook_url":"`+server.URL+`"}`).Must(t, 201).Text("id")
	s.run = e.Tenant.In("/tools/" + id + "/run")
	return s
}

// inBackground sends a request and returns a channel with its answer.
func (e *idem) inBackground(t *testing.T, path string, with ...harness.With) <-chan harness.Response {
	got := make(chan harness.Response, 1)
	go func() {
		response, _ := e.Send(t, "POST", path, `{"args":{}}`, with...) // no answer is the zero Response
		got <- response
	}()
	return got
}

func TestIdempotencyInFlight(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{})
	tool := e.newSlowTool(t)
	first := e.inBackground(t, tool.run, withKey("k"))
	<-tool.arrived
	if got := e.Do(t, "POST", tool.run, `{"args":{}}`, withKey("k")); got.Status != 409 || got.Code() != "idempotency-key-in-flight" {
		t.Errorf("while the first runs: %d %s", got.Status, got.Body)
	}
	tool.answer <- "one"
	same(t, (<-first).Must(t, 200), e.Do(t, "POST", tool.run, `{"args":{}}`, withKey("k")))
}

// TestIdempotencyHangUp gives up waiting for an answer: the work goes on, and repeating the
// request gets its answer.
func TestIdempotencyHangUp(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{})
	tool := e.newSlowTool(t)
	ctx, hangUp := context.WithCancel(t.Context())
	first := e.inBackground(t, tool.run, withKey("k"), func(r *http.Request) { *r = *r.WithContext(ctx) })
	<-tool.arrived
	hangUp()
	<-first
	tool.answer <- "one" // nobody would take it, had the call been cancelled
	var second harness.Response
	harness.Await(t, harness.Patience, "the first has ended", func() bool {
		second = e.Do(t, "POST", tool.run, `{"args":{}}`, withKey("k"))
		return second.Status != 409
	})
	if second.Must(t, 200); second.Header.Get(replayed) != "true" || !bytes.Contains(second.Body, []byte("one")) {
		t.Errorf("got %v %s", second.Header, second.Body)
	}
}

// TestIdempotencyTakeover lets the lease of a claim expire: the next request does the work, and
// its answer is the one that is stored.
func TestIdempotencyTakeover(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{})
	tool := e.newSlowTool(t)
	silent := e.inBackground(t, tool.run, withKey("k"))
	<-tool.arrived
	e.Exec(t, "UPDATE idempotency_keys SET lease_until = now()")
	heir := e.inBackground(t, tool.run, withKey("k"))
	<-tool.arrived
	tool.answer <- "one"
	tool.answer <- "one"
	if got := (<-silent).Must(t, 200); got.Header.Get(replayed) != "" {
		t.Errorf("the silent run got %v", got.Header)
	}
	same(t, (<-heir).Must(t, 200), e.Do(t, "POST", tool.run, `{"args":{}}`, withKey("k")))
}

// TestIdempotencyOfMany: one request makes several sources. Done again because the server died
// before it could answer, it answers with those that it made.
func TestIdempotencyOfMany(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "<urlset><url><loc>http://%[1]s/a</loc></url><url><loc>http://%[1]s/b</loc></url></urlset>", r.Host)
	}))
	defer site.Close()
	path, body := e.Tenant.In("/knowledge-base/sources/sitemap"), `{"url":"`+site.URL+`/sitemap.xml"}`
	first := e.Do(t, "POST", path, body, withKey("k")).Must(t, 202)
	if len(first.List("sources")) != 2 {
		t.Fatalf("made %s", first.Body)
	}
	e.Exec(t, "UPDATE idempotency_keys SET answer = NULL, lease_until = now()")
	again := e.Do(t, "POST", path, body, withKey("k")).Must(t, 202)
	for i := range 2 {
		if got, want := again.Text("sources", i, "id"), first.Text("sources", i, "id"); got != want {
			t.Errorf("the source %d is %q, and was %q", i, got, want)
		}
	}
	if made := harness.Rows[int](t, e.Env, "SELECT count(*)::int FROM sources")[0]; made != 2 {
		t.Errorf("there are %d sources", made)
	}
}

// TestIdempotencyExpiry: after a day a key is free again, and the worker deletes it.
func TestIdempotencyExpiry(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	agents := e.Tenant.In("/agents")
	e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k")).Must(t, 201)
	if days := harness.Rows[float64](t, e.Env,
		"SELECT extract(epoch FROM expires_at - now())::float8 / 86400 FROM idempotency_keys")[0]; days < 0.99 || days > 1 {
		t.Errorf("it expires in %f days", days)
	}
	e.Exec(t, "UPDATE idempotency_keys SET expires_at = now()")
	e.Do(t, "POST", agents, `{"name":"two"}`, withKey("k")).Must(t, 201)
	e.Do(t, "POST", agents, `{"name":"three"}`, withKey("young")).Must(t, 201)
	e.Exec(t, "UPDATE idempotency_keys SET expires_at = now() WHERE created_at < (SELECT max(created_at) FROM idempotency_keys)")

	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := e.App.Work(ctx); err != nil {
			t.Errorf("work: %v", err)
		}
	})
	harness.Await(t, harness.Patience, "the expired key is swept", func() bool { return e.keyRows(t) == 1 })
	stop()
	working.Wait()
}

// TestIdempotencyAnswerKept makes the database unavailable for a moment after the work: the answer
// is stored all the same.
func TestIdempotencyAnswerKept(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	// A sequence also counts rolled-back inserts.
	e.Exec(t, `
		CREATE SEQUENCE refused;
		CREATE FUNCTION refuse_twice() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
		    IF nextval('refused') <= 2 THEN
		        RAISE EXCEPTION 'starting up' USING ERRCODE = '57P03';
		    END IF;
		    RETURN NEW;
		END $$;
		CREATE TRIGGER refuse_twice BEFORE UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse_twice()`)
	agents := e.Tenant.In("/agents")
	first := e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k")).Must(t, 201)
	same(t, first, e.Do(t, "POST", agents, `{"name":"one"}`, withKey("k")))
	if got := harness.Rows[int](t, e.Env, "SELECT last_value FROM refused")[0]; got != 3 {
		t.Errorf("the answer was stored at try %d, want 3", got)
	}
}
