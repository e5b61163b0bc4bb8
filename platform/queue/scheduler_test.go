package queue_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/test/redistest"
)

// schedule runs a scheduler until the test ends.
func schedule(t *testing.T, conn goredis.UniversalClient, every time.Duration, types ...string) {
	t.Helper()
	cfg := queue.SchedulerConfig{Redis: conn, Logger: slog.New(slog.DiscardHandler)}
	for _, one := range types {
		cfg.Tasks = append(cfg.Tasks, queue.PeriodicTask{Type: one, Queue: queue.Default, Every: every, Timeout: time.Minute})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := queue.RunScheduler(ctx, cfg); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); group.Wait() })
}

// TestSchedulerRepeats shows that a periodic task runs at once and again after its interval.
func TestSchedulerRepeats(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	began := make(chan struct{}, 100)
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{
		"sweep": func(context.Context, []byte) error { began <- struct{}{}; return nil },
	}})
	schedule(t, conn, time.Second, "sweep")
	receive(t, began, "the first run")
	receive(t, began, "the second run")
}

// TestSchedulersShareTasks shows that a scheduler does not make a task that is running.
func TestSchedulersShareTasks(t *testing.T) {
	t.Parallel()
	conn := connect(t, redistest.New(t))
	began, hold, last := make(chan struct{}, 100), make(chan struct{}), make(chan struct{}, 100)
	start(t, queue.ServerConfig{Redis: conn, Handlers: map[string]queue.HandlerFunc{
		"sweep": func(context.Context, []byte) error { began <- struct{}{}; <-hold; return nil },
		"last":  func(context.Context, []byte) error { last <- struct{}{}; return nil },
	}})
	defer close(hold)
	schedule(t, conn, time.Hour, "sweep")
	receive(t, began, "the first run")
	schedule(t, conn, time.Hour, "sweep", "last")
	receive(t, last, "the task behind the second scheduler's sweep")
	if pending, err := queue.Pending(conn, queue.Default); err != nil || pending != 0 || len(began) != 0 {
		t.Errorf("%d sweeps pending and %d run beside the first, %v", pending, len(began), err)
	}
}
