package memory_test

import (
	"context"
	"testing"
	"time"

	"parlance.dev/parlance/memory"
)

// TestRecallIsCached asks again for memories that are away.
func TestRecallIsCached(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.state(t, "u", "My name is Ada.")
	node := f.node(memory.Deps{})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- node.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ran })
	away := func(from, to string) {
		t.Helper()
		if _, err := f.db.ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for known := false; !known; {
		if _, err := node.Recall(t.Context(), f.ref, "u", 0); err != nil { // not cached before the node listens
			t.Fatal(err)
		}
		away("memories", "memories_away")
		recalled, err := node.Recall(t.Context(), f.ref, "u", 0)
		away("memories_away", "memories")
		known = err == nil && len(recalled.Items) == 1
		if time.Now().After(deadline) {
			t.Fatalf("asked for again: %v, %v", recalled.Items, err)
		}
	}
}
