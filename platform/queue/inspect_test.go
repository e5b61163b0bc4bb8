package queue_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/test/redistest"
)

// TestPending counts the tasks that wait in a queue; a queue without a task is empty.
func TestPending(t *testing.T) {
	t.Parallel()
	redis := connect(t, redistest.New(t))
	client := queue.NewClient(redis)
	for i := range 3 {
		enqueue(t, client, queue.Task{Type: "count", ID: fmt.Sprint("count:", i), Queue: queue.Ingest})
	}
	for name, want := range map[queue.Name]int{queue.Ingest: 3, queue.Deliver: 0} {
		if got, err := queue.Pending(redis, name); err != nil || got != want {
			t.Errorf("%s: %d pending, %v; want %d", name, got, err, want)
		}
	}
}

// TestInfos: a queue is described by what its tasks have come to, and a process by all its pools.
func TestInfos(t *testing.T) {
	t.Parallel()
	redis := connect(t, redistest.New(t))
	client, held, release := queue.NewClient(redis), make(chan struct{}), make(chan struct{})
	stop := start(t, queue.ServerConfig{Redis: redis, Handlers: map[string]queue.HandlerFunc{
		"hold": func(context.Context, []byte) error { close(held); <-release; return nil },
	}})
	enqueue(t, client, queue.Task{Type: "hold", ID: "hold:1"})
	enqueue(t, client, queue.Task{Type: "hold", ID: "hold:2", At: time.Now().Add(time.Hour)})
	<-held
	infos, err := queue.Infos(redis, queue.Ingest, queue.Default)
	want := []queue.Info{{Name: queue.Ingest}, {Name: queue.Default, Active: 1, Scheduled: 1}}
	if diff := cmp.Diff(want, infos); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var processes []queue.Process
	await(t, "the process has one task", func() bool { // a server reports every five seconds
		if processes, err = queue.Processes(redis); err != nil {
			t.Fatal(err)
		}
		return len(processes) == 1 && processes[0].Active == 1
	})
	host, err := os.Hostname()
	one := processes[0]
	if err != nil || one.Host != host || one.PID != os.Getpid() || one.StartedAt.IsZero() || one.Concurrency < 4 ||
		!slices.Equal(one.Queues, []queue.Name{queue.Default, queue.Ingest}) {
		t.Errorf("the process: %+v", one)
	}
	close(release)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if infos, err = queue.Infos(redis, queue.Default); err != nil || infos[0].ProcessedToday != 1 || infos[0].FailedToday != 0 {
		t.Errorf("afterwards: %+v, %v", infos, err)
	}
}
