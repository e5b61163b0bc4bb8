package queue_test

import (
	"fmt"
	"testing"

	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/test/redistest"
)

// TestPending: the list that is counted is the one asynq keeps.
func TestPending(t *testing.T) {
	t.Parallel()
	redis := connect(t, redistest.New(t))
	client, depths := queue.NewClient(redis), queue.NewDepths(redis)
	for i := range 3 {
		enqueue(t, client, queue.Task{Type: "count", ID: fmt.Sprint("count:", i), Queue: queue.Ingest})
	}
	for name, want := range map[queue.Name]int{queue.Ingest: 3, queue.Deliver: 0} {
		if got, err := depths.Pending(t.Context(), name); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, want)
		}
	}
}
