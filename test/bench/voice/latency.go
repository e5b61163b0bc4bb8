package main

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/test/figures"
)

const (
	// finishedSilence is the silence after which a finished sentence has ended, by the settings as
	// shipped. Source: package hearing.
	finishedSilence = 300 * time.Millisecond
	// talkers are how many calls converse at once while latencies are measured.
	talkers = 20
)

// fixedDelays are those of the whole turn. Source: voice design, budget of a spoken turn.
var fixedDelays = delays{transcript: 150 * time.Millisecond, token: 200 * time.Millisecond, sound: 80 * time.Millisecond}

// ownTime measures what we add, with providers that answer at once.
func ownTime(ctx context.Context, w *world) ([]figures.Row, error) {
	w.providers.set(delays{}, shortAnswer)
	each := 12
	if w.options.short {
		each = 5
	}
	turns, err := w.talk(ctx, talkers, each)
	if err != nil {
		return nil, err
	}
	ms, cut := latencies(turns)
	var own, behind []float64
	for _, t := range turns {
		if !t.isCut() {
			own = append(own, millis(t.latency()-finishedSilence))
			behind = append(behind, float64(t.FirstAudioMS-t.EndpointMS))
		}
	}
	const name = "Own time, from the end of speech to the first sound less the silence that is configured"
	return []figures.Row{
		row(name+": p50", percentile(own, 50), "ms", fmt.Sprintf("%d turns of %d calls at once; providers answer at once; "+
			"the whole is %.0f ms, of which %.0f are silence; %s", len(own), talkers, percentile(ms, 50), millis(finishedSilence),
			stages(turns))).To(60),
		row(name+": p99", percentile(own, 99), "ms", "the same turns").To(150),
		row("Of it from the end believed to the first sound sent: p50", percentile(behind, 50), "ms",
			fmt.Sprintf("as the server measures it; p99 %.0f ms", percentile(behind, 99))),
		row("Questions answered before their end", float64(cut), "", fmt.Sprintf("of %d", len(turns))).To(0),
	}, nil
}

// wholeTurn measures what a caller waits for, with providers that take their usual time.
func wholeTurn(ctx context.Context, w *world) ([]figures.Row, error) {
	w.providers.set(fixedDelays, shortAnswer)
	each := 6
	if w.options.short {
		each = 2
	}
	turns, err := w.talk(ctx, talkers, each)
	if err != nil {
		return nil, err
	}
	streamed, _ := latencies(turns)
	if err := w.serve(ctx, wholes); err != nil {
		return nil, err
	}
	others, err := w.talk(ctx, talkers, each)
	if err != nil {
		return nil, err
	}
	if err := w.serve(ctx, streaming); err != nil {
		return nil, err
	}
	whole, cut := latencies(others)
	when := fmt.Sprintf("transcript after %.0f ms, first token after %.0f, first sound after %.0f, settings as shipped",
		millis(fixedDelays.transcript), millis(fixedDelays.token), millis(fixedDelays.sound))
	const name = "Spoken turn, from the true end of speech to the first sound"
	return []figures.Row{
		row(name+": p50", percentile(streamed, 50), "ms", fmt.Sprintf("%d turns; %s; the transcriber streams and takes as long after "+
			"the end of the utterance was told; %s", len(streamed), when, stages(turns))).To(800),
		row(name+": p95", percentile(streamed, 95), "ms", "the same turns").To(1200),
		row(name+", transcriber of whole utterances: p50", percentile(whole, 50), "ms",
			fmt.Sprintf("%d turns, %d more were cut off; the same delays; %s", len(whole), cut, stages(others))),
		row(name+", transcriber of whole utterances: p95", percentile(whole, 95), "ms", "the same turns"),
	}, nil
}
