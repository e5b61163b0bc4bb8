package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/test/redistest"
)

// attend makes a server that runs tasks here, two at once, and has no Redis.
func attend(t *testing.T, shutdown time.Duration, handler queue.HandlerFunc) (server *queue.Server, stop func() error) {
	t.Helper()
	nobody := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { _ = nobody.Close() })
	server, err := queue.NewServer(queue.ServerConfig{
		Redis: nobody, Handlers: map[string]queue.HandlerFunc{"work": handler}, Local: 2, ShutdownTimeout: shutdown, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Attend(ctx) }()
	await(t, "attending", func() bool { return server.Room() == 2 })
	return server, func() error { cancel(); return <-ended }
}

func TestTryRun(t *testing.T) {
	t.Parallel()
	began, hold := make(chan string, 10), make(chan struct{})
	server, stop := attend(t, time.Minute, func(_ context.Context, payload []byte) error {
		began <- string(payload)
		<-hold
		return errors.New("is not tried again")
	})
	work := func(n int) queue.Task { return queue.Task{Type: "work", ID: "any", Payload: n} }
	for i := range 3 {
		if ran, err := server.TryRun(t.Context(), work(i)); err != nil || ran != (i < 2) {
			t.Fatalf("task %d: %v, %v", i, ran, err)
		}
	}
	receive(t, began, "a task")
	receive(t, began, "another task")
	if room := server.Room(); room != 0 {
		t.Errorf("room for %d beside two", room)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	await(t, "closed", func() bool {
		ran, err := server.TryRun(t.Context(), work(9))
		return !ran && err == nil && server.Room() == 0
	})
	close(hold) // it waits for those that run
	if err := receive(t, stopped, "the end"); err != nil {
		t.Error(err)
	}
	if len(began) != 0 {
		t.Errorf("%d tasks ran again", len(began))
	}
}

// TestTryRunCancelled: what does not end in time is cancelled.
func TestTryRunCancelled(t *testing.T) {
	t.Parallel()
	began, cause := make(chan bool, 1), make(chan error, 1)
	server, stop := attend(t, time.Millisecond, func(ctx context.Context, _ []byte) error {
		began <- true
		<-ctx.Done()
		cause <- ctx.Err()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	if ran, err := server.TryRun(ctx, queue.Task{Type: "work", ID: "any"}); err != nil || !ran {
		t.Fatal(ran, err)
	}
	cancel() // whoever found the work may go
	receive(t, began, "the task")
	select {
	case err := <-cause:
		t.Errorf("ended with its finder: %v", err)
	default:
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := receive(t, cause, "its end"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFreed: a word comes when a task has ended, and its place is free by then.
func TestFreed(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	server, stop := attend(t, time.Minute, func(context.Context, []byte) error { <-hold; return nil })
	for range 2 {
		if ran, err := server.TryRun(t.Context(), queue.Task{Type: "work", ID: "any"}); err != nil || !ran {
			t.Fatalf("%v, %v", ran, err)
		}
	}
	select {
	case <-server.Freed():
		t.Error("a word although both run")
	default:
	}
	hold <- struct{}{}
	receive(t, server.Freed(), "a word")
	if room := server.Room(); room != 1 {
		t.Errorf("room for %d, want 1", room)
	}
	close(hold)
	receive(t, server.Freed(), "another word")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestRunLeavesLocal: the end of what Redis gave does not depend on what runs here, which has a time of its own.
func TestRunLeavesLocal(t *testing.T) {
	t.Parallel()
	hold, began := make(chan struct{}), make(chan bool, 1)
	server, err := queue.NewServer(queue.ServerConfig{
		Redis: connect(t, redistest.New(t)), Local: 1, Logger: slog.New(slog.DiscardHandler),
		Pools: []queue.Pool{{Concurrency: 1, Weights: map[queue.Name]int{queue.Default: 1}}},
		Handlers: map[string]queue.HandlerFunc{"work": func(context.Context, []byte) error {
			began <- true
			<-hold
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran, attended := make(chan error, 1), make(chan error, 1)
	go func() { ran <- server.Run(ctx) }()
	go func() { attended <- server.Attend(ctx) }()
	await(t, "attending", func() bool { return server.Room() == 1 })
	if ok, err := server.TryRun(t.Context(), queue.Task{Type: "work", ID: "any"}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	receive(t, began, "the task")
	cancel()
	if err := receive(t, ran, "the end of Run"); err != nil {
		t.Error(err)
	}
	close(hold)
	if err := receive(t, attended, "the end of Attend"); err != nil {
		t.Error(err)
	}
}
