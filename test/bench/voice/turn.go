package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

// turn is a question of a caller, and its answer.
type turn struct {
	spoken
	// first is when the first sound of the answer came.
	first time.Time
	timing
	// startedMS is where the service heard the beginning, sentMS where it is in what was sent.
	startedMS, sentMS int
}

// isCut reports whether the answer began before the question had ended.
func (t turn) isCut() bool { return t.first.Before(t.ended) }

// latency is from the true end of the question to the first sound.
func (t turn) latency() time.Duration { return t.first.Sub(t.ended) }

// ask says a question, and waits for the end of its answer.
func (c *caller) ask(ctx context.Context, question *sound) (t turn, err error) {
	c.forget()
	if t.spoken, err = c.mic.say(ctx, question); err != nil {
		return t, err
	}
	if t.first, err = c.await(ctx, c.firsts, "sound"); err != nil {
		return t, fmt.Errorf("after %q: %w", question.text, err)
	}
	if _, err = c.await(ctx, c.dones, "response.done"); err != nil {
		return t, fmt.Errorf("after %q: %w", question.text, err)
	}
	c.mic.mu.Lock()
	t.sentMS = c.mic.startedAt * int(frameLength/time.Millisecond)
	c.mic.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.timing, t.startedMS = c.timing, c.startMS
	return t, nil
}

// converse has the callers ask so many questions each, one after the other, with pauses of 0.4 to 1
// s.
func (w *world) converse(ctx context.Context, callers []*caller, each int) ([]turn, error) {
	var mu sync.Mutex
	var all []turn
	group, talking := errgroup.WithContext(ctx)
	for i, c := range callers {
		chance := rand.New(rand.NewPCG(uint64(i), 1))
		group.Go(func() error {
			for n := range each {
				if err := pause(talking, time.Duration(400+chance.IntN(600))*time.Millisecond); err != nil {
					return err
				}
				t, err := c.ask(talking, w.sounds.questions[(i+n*5)%len(w.sounds.questions)])
				if err != nil {
					return err
				}
				mu.Lock()
				all = append(all, t)
				mu.Unlock()
			}
			return nil
		})
	}
	err := group.Wait()
	return all, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// talk opens calls, has each ask one question to warm up and then each so many, and hangs up.
func (w *world) talk(ctx context.Context, count, each int) ([]turn, error) {
	callers, err := w.callAll(ctx, count)
	if err != nil {
		return nil, err
	}
	defer hangUpAll(callers)
	if _, err := w.converse(ctx, callers, 1); err != nil {
		return nil, err
	}
	return w.converse(ctx, callers, each)
}

// latencies are those of the turns that were not cut, in ms, and how many were.
func latencies(turns []turn) (ms []float64, cut int) {
	for _, t := range turns {
		if t.isCut() {
			cut++
			continue
		}
		ms = append(ms, millis(t.latency()))
	}
	return ms, cut
}

// stages describes the medians of the stages of turns.
func stages(turns []turn) string {
	middle := func(of func(timing) int) float64 {
		var values []float64
		for _, t := range turns {
			values = append(values, float64(of(t.timing)))
		}
		return percentile(values, 50)
	}
	return fmt.Sprintf("medians as the server has them, from the end of speech: end believed %.0f ms, transcript %.0f, "+
		"first token %.0f, first sound %.0f",
		middle(func(t timing) int { return t.EndpointMS }), middle(func(t timing) int { return t.TranscriptMS }),
		middle(func(t timing) int { return t.FirstTokenMS }), middle(func(t timing) int { return t.FirstAudioMS }))
}

// percentile is the value at percent of the way from the smallest to the largest; 0 of none.
func percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*percent/100]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func allMillis(ds []time.Duration) []float64 {
	ms := make([]float64, len(ds))
	for i, d := range ds {
		ms[i] = millis(d)
	}
	return ms
}

// row is a figure of which less is better.
func row(name string, value float64, unit, note string) figures.Row {
	return figures.Row{Name: name, Value: figures.Round(value), Unit: unit, Better: "lower", Note: note}
}
