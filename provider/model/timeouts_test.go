package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/provider/model"
)

// waits are short for the sake of reading: the clock of these tests is synctest's.
var waits = model.Timeouts{FirstToken: 40 * time.Second, BetweenTokens: 10 * time.Second, Whole: 2 * time.Minute}

func TestWatch(t *testing.T) {
	t.Parallel()
	piece := func(w *model.Watch, work time.Duration) {
		w.Pause()
		time.Sleep(work)
		w.Token()
	}
	rows := []struct {
		name  string
		serve func(*model.Watch)
		// ends is when the watch ends the answer, why what its cause says.
		ends time.Duration
		why  string
	}{
		{"no first token", func(*model.Watch) {}, 40 * time.Second, "no first token"},
		{"silence after the first", func(w *model.Watch) {
			time.Sleep(time.Second)
			piece(w, 0)
		}, 11 * time.Second, "no further token"},
		{"silence is counted from the newest", func(w *model.Watch) {
			for range 7 {
				time.Sleep(4 * time.Second)
				piece(w, 0)
			}
		}, 38 * time.Second, "no further token"},
		{"a slow listener is no silent server", func(w *model.Watch) {
			time.Sleep(39 * time.Second)
			piece(w, 30*time.Second)
			time.Sleep(9 * time.Second)
			piece(w, 11*time.Second)
		}, 99 * time.Second, "no further token"},
		{"all in all too long", func(w *model.Watch) {
			for range 30 {
				time.Sleep(5 * time.Second)
				piece(w, 0)
			}
		}, 120 * time.Second, "no end of the answer"},
		{"behind its end", func(w *model.Watch) {
			time.Sleep(time.Second)
			piece(w, 0)
			for range 5 {
				w.Ended()
				time.Sleep(time.Second)
			}
		}, 3 * time.Second, "no end of the answer"},
		{"while a listener works", func(w *model.Watch) { piece(w, 5*time.Minute) }, 120 * time.Second, "no end of the answer"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, watch := waits.Watch(t.Context())
				defer watch.Stop()
				ended := make(chan time.Duration, 1)
				context.AfterFunc(ctx, func() { ended <- time.Since(begun) })
				row.serve(watch)
				if got := <-ended; got != row.ends || !strings.Contains(context.Cause(ctx).Error(), row.why) {
					t.Errorf("ended after %s by %v, want %s and %s", got, context.Cause(ctx), row.ends, row.why)
				}
			})
		})
	}
}

// TestWatchStopped: a watch that was stopped keeps no timer and gives no cause of its own.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, watch := waits.Watch(t.Context())
		watch.Pause()
		watch.Token()
		watch.Stop()
		if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
			t.Errorf("ended by %v", cause)
		}
	})
}

func BenchmarkWatch(b *testing.B) {
	_, watch := waits.Watch(b.Context())
	defer watch.Stop()
	b.ReportAllocs()
	for b.Loop() {
		watch.Pause()
		watch.Token()
	}
}
