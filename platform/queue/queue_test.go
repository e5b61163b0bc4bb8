package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/test/capture"
	"parlance.dev/parlance/test/redistest"
)

// patience bounds every wait; asynq looks for retries once a second.
const patience = time.Minute

type payload struct {
	SourceID string `json:"source_id"`
}

func connect(t *testing.T, url string) goredis.UniversalClient {
	t.Helper()
	client, err := redis.Open(redis.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// start runs a server until the returned function is called, which gives back Run's error.
func start(t *testing.T, cfg queue.ServerConfig) (stop func() error) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Pools = []queue.Pool{{Concurrency: 4, Weights: map[queue.Name]int{queue.Default: 2, queue.Ingest: 1}}}
	server, err := queue.NewServer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { stop() })
	return stop
}

func enqueue(t *testing.T, client *queue.Client, task queue.Task) {
	t.Helper()
	if err := client.Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// await waits until ok returns true.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not so", what)
		}
	}
}

func TestRunsOnce(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	client := queue.NewClient(conn)
	task := queue.Task{Type: "ingest_source", ID: "ingest:src_1:1", Queue: queue.Ingest, Payload: payload{"src_1"}}
	for range 3 {
		enqueue(t, client, task) // its id is taken: success, and no second task
	}
	got := make(chan payload, 10)
	observed := make(chan string, 10)
	stop := start(t, queue.ServerConfig{
		Redis: conn,
		Handlers: map[string]queue.HandlerFunc{"ingest_source": func(ctx context.Context, raw []byte) error {
			var p payload
			if err := json.Unmarshal(raw, &p); err != nil {
				return err
			}
			got <- p
			return nil
		}},
		ObserveFunc: func(taskType, result string, _ time.Duration) { observed <- taskType + " " + result },
	})
	if p := receive(t, got, "the task"); p.SourceID != "src_1" {
		t.Errorf("payload %+v", p)
	}
	if seen := receive(t, observed, "the observation"); seen != "ingest_source done" {
		t.Errorf("observed %q", seen)
	}
	// Done, the id is free again.
	await(t, "the task is gone", func() bool {
		_, err := asynq.NewInspectorFromRedisClient(conn).GetTaskInfo("ingest", task.ID)
		return errors.Is(err, asynq.ErrTaskNotFound)
	})
	enqueue(t, client, task)
	receive(t, got, "the second run")
	if err := stop(); err != nil || len(got) != 0 {
		t.Errorf("Run ended with %v; %d runs too many", err, len(got))
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	client, inspector := queue.NewClient(conn), asynq.NewInspectorFromRedisClient(conn)
	runs := map[string]chan struct{}{}
	handlers := map[string]queue.HandlerFunc{}
	// Each handler fails its first run and would pass a second one.
	for name, failFunc := range map[string]func() error{
		"invalid":     func() error { return fault.InvalidField("url", "required", "no hunter2") },
		"unavailable": func() error { e := fault.New(fault.ServiceUnavailable, "no"); e.RetryAfter = time.Second; return e },
		"undecided":   func() error { return errors.New("broken by hunter2") },
		"panics":      func() error { panic("oh hunter2") },
	} {
		ran := make(chan struct{}, 10)
		runs[name] = ran
		first := sync.OnceValue(failFunc)
		failed := false
		handlers[name] = func(context.Context, []byte) error {
			ran <- struct{}{}
			if failed {
				return nil
			}
			failed = true
			return first()
		}
	}
	var logs capture.Buffer
	stop := start(t, queue.ServerConfig{Redis: conn, Handlers: handlers, Logger: slog.New(slog.NewJSONHandler(&logs, nil))})
	for name := range handlers {
		enqueue(t, client, queue.Task{Type: name, ID: name})
	}
	enqueue(t, client, queue.Task{Type: "from_the_future", ID: "from_the_future"})
	for name, ran := range runs {
		receive(t, ran, name)
	}
	for _, name := range []string{"unavailable", "undecided", "panics"} {
		receive(t, runs[name], name+"'s second run")
	}
	await(t, "the invalid task is archived", func() bool {
		info, err := inspector.GetTaskInfo("default", "invalid")
		return err == nil && info.State == asynq.TaskStateArchived && info.LastErr == "invalid-request"
	})
	await(t, "the unknown type waits for another worker", func() bool {
		info, err := inspector.GetTaskInfo("default", "from_the_future")
		return err == nil && info.State == asynq.TaskStateRetry
	})
	if err := stop(); err != nil || len(runs["invalid"]) != 0 {
		t.Errorf("Run ended with %v; the invalid task ran again %d times", err, len(runs["invalid"]))
	}
	for task, want := range map[string]string{
		"invalid": `"level":"WARN","msg":"task failed"`, "undecided": `"level":"WARN","msg":"task will be retried"`,
		"panics": `"level":"ERROR","msg":"task will be retried"`,
	} {
		lines := matching(logs.String(), `"task_id":"`+task+`"`)
		if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], "hunter2") {
			t.Errorf("%s: logged %q, want one line with %s", task, lines, want)
		}
	}
	if lines := matching(logs.String(), `"task_id":"panics"`); len(lines) == 1 && !strings.Contains(lines[0], "queue_test.go") {
		t.Error("the panic was logged without its stack")
	}
}

func matching(text, part string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestRetriesEnd has a task fail as often as it may.
func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	results := make(chan string, 10)
	start(t, queue.ServerConfig{
		Redis:       conn,
		Handlers:    map[string]queue.HandlerFunc{"hopeless": func(context.Context, []byte) error { return errors.New("broken") }},
		ObserveFunc: func(_, result string, _ time.Duration) { results <- result },
	})
	enqueue(t, queue.NewClient(conn), queue.Task{Type: "hopeless", ID: "hopeless", MaxRetries: 1})
	enqueue(t, queue.NewClient(conn), queue.Task{Type: "hopeless", ID: "hopeless-once", MaxRetries: -1})
	got := map[string]int{}
	for range 3 {
		got[receive(t, results, "a result")]++
	}
	if got["retry"] != 1 || got["failed"] != 2 {
		t.Errorf("results %v, want one retry and two failures", got)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	ran := make(chan time.Time, 1)
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{"later": func(context.Context, []byte) error {
		ran <- time.Now()
		return nil
	}}})
	at := time.Now().Add(2 * time.Second)
	enqueue(t, queue.NewClient(conn), queue.Task{Type: "later", ID: "later", At: at})
	if got := receive(t, ran, "the task"); got.Before(at.Truncate(time.Second)) {
		t.Errorf("ran %v early", at.Sub(got))
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	ended := make(chan error, 10)
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{"slow": func(ctx context.Context, _ []byte) error {
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}}})
	enqueue(t, queue.NewClient(conn), queue.Task{Type: "slow", ID: "slow", Timeout: time.Second, MaxRetries: -1})
	if err := receive(t, ended, "the deadline"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context ended with %v", err)
	}
}

// TestStop ends a server with two tasks running: one that ends in time and one that does not.
func TestStop(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	started, release, again := make(chan struct{}, 2), make(chan struct{}), make(chan string, 10)
	finished := make(chan struct{}, 1)
	stop := start(t, queue.ServerConfig{Redis: conn, ShutdownTimeout: 5 * time.Second, Handlers: map[string]queue.HandlerFunc{
		"short": func(context.Context, []byte) error {
			started <- struct{}{}
			<-release
			finished <- struct{}{}
			return nil
		},
		"long": func(ctx context.Context, _ []byte) error {
			started <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		},
	}})
	for _, name := range []string{"short", "long"} {
		enqueue(t, queue.NewClient(conn), queue.Task{Type: name, ID: name})
	}
	for range 2 {
		receive(t, started, "a start")
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	close(release)
	if err := receive(t, ended, "the end"); err != nil || len(finished) != 1 {
		t.Errorf("Run ended with %v; the short task finished %d times", err, len(finished))
	}
	note := func(name string) queue.HandlerFunc {
		return func(context.Context, []byte) error { again <- name; return nil }
	}
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{"short": note("short"), "long": note("long")}})
	if got := receive(t, again, "the task that went back"); got != "long" {
		t.Errorf("the %s task ran again, want the long one", got)
	}
}

// TestRedisAway stops Redis under a running server: enqueueing fails at once, and the server
// goes on when Redis is back.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	server := redistest.NewServer(t)
	conn := connect(t, server.URL)
	client := queue.NewClient(conn)
	ran := make(chan struct{}, 10)
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{"note": func(context.Context, []byte) error {
		ran <- struct{}{}
		return nil
	}}})
	enqueue(t, client, queue.Task{Type: "note", ID: "1"})
	receive(t, ran, "the first task")
	server.Stop()
	began := time.Now()
	if err := client.Enqueue(t.Context(), queue.Task{Type: "note", ID: "2"}); err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("without Redis: %v after %v", err, time.Since(began))
	}
	server.Start()
	enqueue(t, client, queue.Task{Type: "note", ID: "3"})
	receive(t, ran, "the task after Redis came back")
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	conn := connect(t, "redis://127.0.0.1:1")
	client := queue.NewClient(conn)
	for _, task := range []queue.Task{{ID: "x"}, {Type: "x"}, {Type: "x", ID: "x", Payload: make(chan int)}} {
		if err := client.Enqueue(t.Context(), task); err == nil {
			t.Errorf("%+v is accepted", task)
		}
	}
	handlers := map[string]queue.HandlerFunc{"x": func(context.Context, []byte) error { return nil }}
	logger := slog.New(slog.DiscardHandler)
	for name, cfg := range map[string]queue.ServerConfig{
		"no handlers":  {Redis: conn, Logger: logger},
		"no logger":    {Redis: conn, Handlers: handlers},
		"no Redis":     {Logger: logger, Handlers: handlers},
		"no workers":   {Redis: conn, Logger: logger, Handlers: handlers, Pools: []queue.Pool{{Weights: map[queue.Name]int{queue.Default: 1}}}},
		"empty queues": {Redis: conn, Logger: logger, Handlers: handlers, Pools: []queue.Pool{{Concurrency: 1}}},
	} {
		if _, err := queue.NewServer(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
