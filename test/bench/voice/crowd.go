package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

const (
	// speaking is the share of the time in which each caller of the crowd speaks.
	speaking = 0.4
	// crowdAnswer takes about as long as the questions.
	crowdAnswer = "We open at nine, and the pool is open until ten."
	// frameDelay bounds the delay of the paced sound.
	frameDelay = 40
)

// heard is what the callers of a crowd have seen.
type heard struct {
	turns            []turn
	delays, lateness []float64
	late, dropped    int
}

// crowd has many calls at once, each of which sends and gets sound.
func crowd(ctx context.Context, w *world) ([]figures.Row, error) {
	w.providers.set(fixedDelays, crowdAnswer)
	defer w.providers.set(delays{}, shortAnswer)
	if err := w.serve(ctx, streaming); err != nil { // what others left in memory is not these calls'
		return nil, err
	}
	if _, err := w.talk(ctx, talkers, 1); err != nil { // to warm up
		return nil, err
	}
	empty, err := w.server.ResidentMiB()
	if err != nil {
		return nil, err
	}
	callers, err := w.callAll(ctx, w.options.calls)
	if err != nil {
		return nil, err
	}
	defer hangUpAll(callers)
	length := time.Minute
	if w.options.short {
		length = 20 * time.Second
	}
	if _, err := w.chatter(ctx, callers, 10*time.Second); err != nil { // until all have begun
		return nil, err
	}
	before, began := w.readCPU(), time.Now()
	h, err := w.profiled(ctx, callers, length)
	if err != nil {
		return nil, err
	}
	spent, took := w.readCPU().minus(before), time.Since(began)
	full, err := w.server.ResidentMiB()
	if err != nil {
		return nil, err
	}
	return crowdRows(h, len(callers), spent, took, 1024*(full-empty)/float64(len(callers))), nil
}

func crowdRows(h heard, calls int, spent cpuTimes, took time.Duration, sessionKiB float64) []figures.Row {
	ms, _ := latencies(h.turns)
	when := fmt.Sprintf("%d calls, %.0f %% of them speaking", calls, 100*speaking)
	cores := func(d time.Duration) float64 { return 100 * d.Seconds() / took.Seconds() }
	return []figures.Row{
		row(when+": delay of a paced frame, p99", percentile(h.delays, 99), "ms", fmt.Sprintf("%d frames of %s that the server sent, "+
			"each compared with when its pace allowed it, %s ahead of being played; p50 %.1f ms; callers send frames of %s, p99 %.0f ms late",
			len(h.delays), pieceLength, lead, percentile(h.delays, 50), frameLength, percentile(h.lateness, 99))).To(frameDelay),
		row(when+": frames that came when the client had nothing left to play", float64(h.late), "", "of the same").To(0),
		row(when+": calls dropped, or not answered within "+patience.String(), float64(h.dropped), "", "").To(0),
		row(when+": from the end of speech to the first sound, p50", percentile(ms, 50), "ms", fmt.Sprintf(
			"p95 %.0f ms, p99 %.0f; %d turns; %s", percentile(ms, 95), percentile(ms, 99), len(h.turns), stages(h.turns))),
		row(when+": CPU of the server", cores(spent.server), "%", fmt.Sprintf(
			"of one core, user and system time over %.0f s; of Postgres %.0f %%", took.Seconds(), cores(spent.postgres))),
		row(when+": CPU of callers and providers", cores(spent.callers), "%", "of one core; they share the cores with the server"),
		row(when+": memory of the server a call", sessionKiB, "KiB", "growth of its resident memory since it had none"),
	}
}

// profiled is chatter, with profiles of the server if a directory is set for them.
func (w *world) profiled(ctx context.Context, callers []*caller, length time.Duration) (h heard, err error) {
	group, measuring := errgroup.WithContext(ctx)
	group.Go(func() (err error) { h, err = w.chatter(measuring, callers, length); return err })
	group.Go(func() error {
		return w.profile(measuring, "cpu", "/profile?seconds="+strconv.Itoa(max(1, int(length.Seconds()/2))))
	})
	if err := group.Wait(); err != nil {
		return h, err
	}
	for _, name := range []string{"heap", "allocs", "goroutine"} {
		if err := w.profile(ctx, name, "/"+name); err != nil {
			return h, err
		}
	}
	return h, nil
}

// profile writes one of the server's profiles, when a directory for profiles is set.
func (w *world) profile(ctx context.Context, name, path string) error {
	return w.Profile(ctx, w.options.profiles, name, w.server.Debug+path)
}

// chatter has each caller speak for its share of the time, and returns what came meanwhile. A call
// that ends, or is not answered, is counted, and no error.
func (w *world) chatter(ctx context.Context, callers []*caller, length time.Duration) (h heard, err error) {
	var mu sync.Mutex
	until := time.Now().Add(length)
	group, talking := errgroup.WithContext(ctx)
	for i, c := range callers {
		c.reset()
		question := w.sounds.long[i%len(w.sounds.long)]
		period := time.Duration(float64(question.length()) / speaking)
		group.Go(func() error {
			next := time.Now().Add(period * time.Duration(i) / time.Duration(len(callers)))
			for ; next.Before(until); next = next.Add(period) {
				if err := pause(talking, time.Until(next)); err != nil {
					return err
				}
				t, err := c.ask(talking, question)
				mu.Lock()
				if err == nil {
					h.turns = append(h.turns, t)
				} else if h.dropped++; h.dropped == 1 {
					fmt.Fprintf(os.Stderr, "the first call that was dropped: %v\n", err)
				}
				mu.Unlock()
				if err != nil {
					return talking.Err()
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return h, err
	}
	for _, c := range callers {
		delays, late, lateness := c.reset()
		h.delays, h.lateness, h.late = append(h.delays, allMillis(delays)...), append(h.lateness, allMillis(lateness)...), h.late+late
	}
	return h, nil
}

// reset returns the delays of the sound that came and the lateness of what was sent since the last
// reset.
func (c *caller) reset() (delays []time.Duration, late int, lateness []time.Duration) {
	c.mu.Lock()
	delays, late = c.pace.delays, c.pace.late
	c.pace.delays, c.pace.late = nil, 0
	c.mu.Unlock()
	c.mic.mu.Lock()
	defer c.mic.mu.Unlock()
	lateness, c.mic.lateness = c.mic.lateness, nil
	return delays, late, lateness
}
