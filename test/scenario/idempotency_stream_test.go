package scenario

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/port"
)

// TestIdempotencyUpload repeats uploads: files are compared by content, not by the boundary of the
// form. No file is in memory as a whole, so the answer to a refused one is not stored.
func TestIdempotencyUpload(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	path := e.Tenant.In("/knowledge-base/sources/upload")
	send := func(key string, parts ...part) harness.Response {
		body, contentType := form(t, parts...)
		return e.Do(t, "POST", path, body, withKey(key), harness.Header("Content-Type", contentType))
	}
	file := func(content string) part {
		return part{name: "file", filename: "a.txt", mediaType: "text/plain", content: content}
	}
	first := send("k", file("Something to read."))
	first.Must(t, 202)
	same(t, first, send("k", file("Something to read.")))
	for name, parts := range map[string][]part{
		"content":  {file("Something to rEad.")},
		"shorter":  {file("Something")},
		"longer":   {file("Something to read." + strings.Repeat(" And more.", 100000))},
		"filename": {{name: "file", filename: "b.txt", mediaType: "text/plain", content: "Something to read."}},
		"type":     {{name: "file", filename: "a.txt", mediaType: "text/markdown", content: "Something to read."}},
		"name":     {file("Something to read."), {name: "name", content: "n"}},
	} {
		if got := send("k", parts...); got.Status != 409 || got.Code() != "idempotency-key-reused" {
			t.Errorf("another %s: %d %s", name, got.Status, got.Body)
		}
	}
	if n := e.Counts(t)["sources"]; n != 1 {
		t.Errorf("%d sources", n)
	}
	checkProblem(t, send("mended", part{
		name: "file", filename: "a.exe", mediaType: "application/x-msdownload",
		content: "MZ",
	}), 415, "kb-unsupported-media-type")
	send("mended", file("Mended.")).Must(t, 202)
	checkProblem(t, send("a\tb", file("x")), 400, "invalid-request")
	checkProblem(t, send("k", part{name: "other", content: "x"}), 400, "invalid-request")

	var made, repeats atomic.Int32
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			body, contentType := form(t, file("At once."))
			got, err := e.Send(t, "POST", path, body, withKey("once"), harness.Header("Content-Type", contentType))
			switch {
			case err == nil && got.Status == 202 && got.Header.Get(replayed) == "":
				made.Add(1)
			case err == nil && (got.Code() == "idempotency-key-in-flight" || got.Status == 202):
				repeats.Add(1)
			default:
				t.Errorf("%d %s, %v", got.Status, got.Body, err)
			}
		})
	}
	running.Wait()
	if made.Load() != 1 || repeats.Load() != 7 {
		t.Errorf("%d made it, %d were replayed", made.Load(), repeats.Load())
	}
}

// TestIdempotencyEvents repeats a turn whose answer is a stream: the turn is taken once, and the
// repetition gets the whole stream, also after the first caller hung up. Asking for another form
// of the answer is refused.
func TestIdempotencyEvents(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	session := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	path, accept := "/v1/sessions/"+session+"/turns", harness.Header("Accept", "text/event-stream")
	events := func(r harness.Response) []byte { return bytes.ReplaceAll(r.Body, []byte(": keep-alive\n\n"), nil) }
	first := e.Do(t, "POST", path, `{"text":"Hello?"}`, withKey("k"), accept).Must(t, 200)
	again := e.Do(t, "POST", path, `{"text":"Hello?"}`, withKey("k"), accept).Must(t, 200)
	if again.Header.Get(replayed) != "true" || first.Header.Get(replayed) != "" ||
		!bytes.Equal(events(first), again.Body) || !bytes.Contains(again.Body, []byte("event: turn.done")) {
		t.Errorf("first %s\nthen %s", first.Body, again.Body)
	}
	if kind := again.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type %q", kind)
	}
	checkProblem(t, e.Do(t, "POST", path, `{"text":"Hello?"}`, withKey("k")), 409, "idempotency-key-reused")
	checkProblem(t, e.Do(t, "POST", path, `{"text":"Other"}`, withKey("k"), accept), 409, "idempotency-key-reused")
	checkProblem(t, e.Do(t, "POST", path, `{"text":" "}`, withKey("mended"), accept), 400, "invalid-request")
	e.Do(t, "POST", path, `{"text":"Mended."}`, withKey("mended"), accept).Must(t, 200)

	ctx, hangUp := context.WithCancel(t.Context())
	request, err := e.NewRequest(t, "POST", path, `{"text":"And then?"}`, withKey("gone"), accept)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	hangUp()
	_ = answer.Body.Close()
	var second harness.Response
	harness.Await(t, harness.Patience, "the turn has ended", func() bool {
		second = e.Do(t, "POST", path, `{"text":"And then?"}`, withKey("gone"), accept)
		return second.Status != 409
	})
	if second.Must(t, 200); second.Header.Get(replayed) != "true" || !bytes.Contains(second.Body, []byte("event: turn.done")) {
		t.Errorf("got %v %s", second.Header, second.Body)
	}
	if turns := e.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil); turns.Status == 200 && len(turns.List("turns")) != 3 {
		t.Errorf("%d turns: %s", len(turns.List("turns")), turns.Body)
	}
}

// TestIdempotencyFollows repeats a streamed turn while it runs, as a client does that lost its
// connection before the first event: it gets the events as they come, on any node, and the turn is
// taken once.
func TestIdempotencyFollows(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two."}, Gate: gate})
	first := newIdem(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	elsewhere := port.Reserve(t)
	first.With(map[string]string{"PARLANCE_LISTEN": elsewhere}).StartProcess(t, "server")
	second := *first.Env
	second.URL = "http://" + elsewhere
	harness.Await(t, harness.Patience, "a second node", func() bool {
		got, err := second.Send(t, "GET", "/readyz", nil)
		return err == nil && got.Status == 200
	})
	session := first.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+first.agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	path := "/v1/sessions/" + session + "/turns"
	open := func(env *harness.Env) *eventStream {
		return openStream(t, env, path, `{"text":"Count."}`, withKey("k"))
	}
	lost := open(first.Env)
	lost.until("turn.started")
	_ = lost.body.Body.Close()
	followers := []*eventStream{open(first.Env), open(&second)}
	for _, follower := range followers {
		if answer := follower.body; answer.StatusCode != 200 || answer.Header.Get(replayed) != "true" {
			t.Fatalf("%s %v", answer.Status, answer.Header)
		}
		follower.until("turn.started") // the model has said nothing yet
	}
	gate <- struct{}{}
	followers[0].until("turn.delta")
	gate <- struct{}{}
	for _, follower := range followers {
		follower.until("turn.done")
		if body := follower.read.String(); strings.Count(body, "event: turn.started") != 1 || !strings.Contains(body, "One two.") {
			t.Errorf("a follower got %s", body)
		}
	}
	turns := first.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	if len(turns.List("turns")) != 1 || len(llm.Requests()) != 1 || turns.Text("turns", 0, "agent_text") != "One two." {
		t.Errorf("%d requests of the model, %s", len(llm.Requests()), turns.Body)
	}
}

// TestIdempotencyOutlivesRedis empties Redis: answers are stored in Postgres.
func TestIdempotencyOutlivesRedis(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	requests := map[string]string{
		"/v1/sessions":           `{"agent_id":"` + e.agent + `","user_id":"u","modality":"text"}`,
		e.Tenant.In("/tools"):    `{"slug":"shop","description":"d","kind":"http","webhook_url":"https://shop.example/"}`,
		e.Tenant.In("/webhooks"): `{"url":"https://127.0.0.1:1/","events":[]}`,
	}
	first := map[string]harness.Response{}
	for path, body := range requests {
		first[path] = e.Do(t, "POST", path, body, withKey("k")).Must(t, 201)
	}
	options, err := goredis.ParseURL(e.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	defer func() { _ = client.Close() }()
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for path, body := range requests {
		same(t, first[path], e.Do(t, "POST", path, body, withKey("k")))
	}
}
