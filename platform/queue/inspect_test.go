package queue_test

import (
	"fmt"
	"testing"

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
