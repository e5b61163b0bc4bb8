package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

const (
	// longAnswer is half a minute long, and has no word of heardText.
	longAnswer = "The first thing is that we open at nine. The second thing is that we close at six. The third thing is that we sell bread, " +
		"cheese and wine. The fourth thing is that our rooms have a view of the sea. The fifth thing is that breakfast is served from " +
		"seven until ten. The sixth thing is that dogs are welcome in the garden. The seventh thing is that the pool is heated in winter."
	// minSpeech is how long speech lasts before it counts as begun. Source: package hearing.
	minSpeech = 200 * time.Millisecond
)

// bargeIn is one interruption: from its true beginning to the last sound before the pause, and to
// speech_started.
type bargeIn struct{ lastSound, told time.Duration }

// interruptions measures callers who speak while the agent does.
func interruptions(ctx context.Context, w *world) ([]figures.Row, error) {
	w.providers.set(fixedDelays, longAnswer)
	defer w.providers.set(delays{}, shortAnswer)
	each := 6
	if w.options.short {
		each = 2
	}
	callers, err := w.callAll(ctx, talkers)
	if err != nil {
		return nil, err
	}
	defer hangUpAll(callers)
	var mu sync.Mutex
	var all []bargeIn
	group, talking := errgroup.WithContext(ctx)
	for i, c := range callers {
		group.Go(func() error {
			those, err := w.interrupt(talking, c, i, each)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, those...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var paused, told []float64
	for _, b := range all {
		paused, told = append(paused, millis(b.lastSound)), append(told, millis(b.told))
	}
	note := fmt.Sprintf("%d interruptions in %d calls by whole sentences; the transcriber is %.0f ms behind; p50 %%.0f ms", len(all), talkers,
		millis(fixedDelays.transcript))
	return []figures.Row{
		row("Interruption, from its true beginning to the last sound sent: p50", percentile(paused, 50), "ms",
			fmt.Sprintf("p95 %.0f ms; what was sent before is up to %.0f ms ahead of being played", percentile(paused, 95), millis(lead))),
		row("Interruption, from "+minSpeech.String()+" of speech to the last sound sent: p95", percentile(paused, 95)-millis(minSpeech), "ms",
			fmt.Sprintf(note, percentile(paused, 50)-millis(minSpeech))).To(100),
		row("Interruption, from its true beginning until the client is told: p95", percentile(told, 95), "ms",
			fmt.Sprintf(note, percentile(told, 50))).To(700),
	}, nil
}

// interrupt has a caller ask, and interrupt each answer with the next question.
func (w *world) interrupt(ctx context.Context, c *caller, number, each int) (all []bargeIn, err error) {
	chance := rand.New(rand.NewPCG(uint64(number), 2))
	for n := range each + 1 {
		c.forget()
		said, err := c.mic.say(ctx, w.sounds.questions[(number+n*5)%len(w.sounds.questions)])
		if err != nil {
			return all, err
		}
		started, err := c.await(ctx, c.starts, "speech_started")
		if err != nil {
			return all, err
		}
		if n > 0 {
			c.mu.Lock()
			all = append(all, bargeIn{lastSound: c.soundBefore.Sub(said.began), told: started.Sub(said.began)})
			c.mu.Unlock()
		}
		if _, err := c.await(ctx, c.firsts, "sound"); err != nil {
			return all, err
		}
		if err := pause(ctx, time.Duration(1000+chance.IntN(3000))*time.Millisecond); err != nil {
			return all, err
		}
	}
	return all, nil
}
