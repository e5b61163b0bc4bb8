package main

import (
	"context"
	"os"

	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/test/voicecorpus"
)

// hearingTable prints the table of test/eval/hearing, and returns what it has for the service as
// shipped with a transcriber that streams.
func hearingTable(_ context.Context, w *world) ([]figures.Row, error) {
	p := voicecorpus.EvaluateParams{Seed: 1, Scale: 1}
	if w.options.short {
		p.Scale = 3
	}
	score, err := voicecorpus.Evaluate(os.Stdout, p)
	if err != nil {
		return nil, err
	}
	share := func(name string, s voicecorpus.Share, bound float64, note string) figures.Row {
		return row("Hearing: "+name, s.Percent(), "%", note).To(bound)
	}
	return []figures.Row{
		share("missed starts of speech", score.Missed, 1, "of utterances"),
		share("false starts", score.FalseStarts, 2, "of recordings: noise, music, coughs, echo, people farther away"),
		share("turns cut off in a pause of the speaker", score.CutOffs, 10, "of utterances with pauses of 0.3 to 1.5 s"),
		share("acknowledgements that interrupt", score.AcknowledgedInterrupts, 10, "in seven languages"),
		row("Hearing: true end of speech to commit, p50", float64(voicecorpus.Percentile(score.LatencyMS, 50)), "ms", "in audio time"),
		row("Hearing: 200 ms of heard speech to pause, p95", float64(voicecorpus.Percentile(score.DetectedMS, 95)), "ms", "the same").To(100),
		row("Hearing: true beginning of an interruption to telling it, p95", float64(voicecorpus.Percentile(score.ToldMS, 95)), "ms",
			"the same").To(700),
	}, nil
}
