package voicecorpus

import (
	"fmt"
	"io"
	"time"

	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

// EvaluateParams say over which recordings is evaluated; see Corpus.
type EvaluateParams struct {
	Seed  uint64
	Scale int
	// ListWrong has Evaluate write also what went wrong, recording by recording.
	ListWrong bool
}

// way is a way of hearing: a column of the table.
type way struct {
	name     string
	detector func() hearing.Detector
	stream   bool
}

var ways = []way{
	{"gate", func() hearing.Detector { return new(vad.Gate) }, false},
	{"gate, words", func() hearing.Detector { return new(vad.Gate) }, true},
	{"network", func() hearing.Detector { return vad.New() }, false},
	{"network, words", func() hearing.Detector { return vad.New() }, true},
}

// Evaluate plays a corpus to each way of hearing: with the gate alone and with the network, each
// without words and with those of a streaming transcriber. It writes a table of their scores and
// returns the last one's, which is that of the service as shipped. Errors: the engines of voices
// are missing, see voices.NewMaker.
func Evaluate(to io.Writer, p EvaluateParams) (Score, error) {
	began := time.Now()
	recordings, err := Corpus(p.Seed, p.Scale)
	if err != nil {
		return Score{}, err
	}
	var samples int
	for _, r := range recordings {
		samples += len(r.Samples)
	}
	fmt.Fprintf(to, "%d recordings of %d s, made in %.0f s\n\n", len(recordings), samples/hearing.SampleRate, time.Since(began).Seconds())
	scores := make([]Score, len(ways))
	for i, way := range ways {
		began := time.Now()
		steps := way.play(recordings, &scores[i])
		fmt.Fprintf(to, "%-15s %5.1f s; the network ran on %.0f %% of the frames\n",
			way.name, time.Since(began).Seconds(), 100*float64(steps)/float64(samples/vad.FrameSamples))
	}
	writeTable(to, scores)
	fmt.Fprintln(to)
	for i, way := range ways {
		for _, broken := range scores[i].Violations() {
			fmt.Fprintf(to, "%s breaks a bound: %s\n", way.name, broken)
		}
	}
	for i, way := range ways {
		if p.ListWrong {
			fmt.Fprintf(to, "\n%s:\n", way.name)
			for _, line := range scores[i].Wrong {
				fmt.Fprintln(to, "  "+line)
			}
		}
	}
	return scores[len(scores)-1], nil
}

// play scores the recordings, and returns how many frames the network ran on.
func (w way) play(recordings []*Recording, score *Score) (steps int) {
	settings := hearing.Defaults()
	settings.Streaming, settings.Punctuated = w.stream, w.stream
	for _, r := range recordings {
		detector := w.detector()
		score.Add(r, Run(r, settings, detector), settings.MinSpeechMS)
		if network, ok := detector.(*vad.Detector); ok {
			steps += network.Steps()
		}
	}
	return steps
}

func writeTable(to io.Writer, scores []Score) {
	fmt.Fprintf(to, "\n%-34s %-9s", "", "bound")
	for _, way := range ways {
		fmt.Fprintf(to, " %15s", way.name)
	}
	fmt.Fprintln(to)
	shares := []struct {
		name, bound string
		of          func(s *Score) Share
	}{
		{"missed starts", "≤ 1 %", func(s *Score) Share { return s.Missed }},
		{"false starts", "≤ 2 %", func(s *Score) Share { return s.FalseStarts }},
		{"false turns", "", func(s *Score) Share { return s.FalseTurns }},
		{"cut off in a pause", "≤ 10 %", func(s *Score) Share { return s.CutOffs }},
		{"cut off elsewhere", "", func(s *Score) Share { return s.CutShort }},
		{"acknowledgements that interrupt", "≤ 10 %", func(s *Score) Share { return s.AcknowledgedInterrupts }},
		{"missed interruptions", "", func(s *Score) Share { return s.MissedInterrupts }},
		{"paused for no speech", "", func(s *Score) Share { return s.FalsePauses }},
	}
	for _, row := range shares {
		fmt.Fprintf(to, "%-34s %-9s", row.name, row.bound)
		for i := range scores {
			share := row.of(&scores[i])
			fmt.Fprintf(to, " %15s", fmt.Sprintf("%.1f %% (%d/%d)", share.Percent(), share.Count, share.Of))
		}
		fmt.Fprintln(to)
	}
	times := []struct {
		name, bound string
		of          func(s *Score) []int
	}{
		{"true end to commit, p50/p95 ms", "", func(s *Score) []int { return s.LatencyMS }},
		{"true start to report", "", func(s *Score) []int { return s.StartMS }},
		{"true barge-in to pause", "", func(s *Score) []int { return s.PauseMS }},
		{"200 ms of speech to pause", "≤ 100", func(s *Score) []int { return s.DetectedMS }},
		{"true barge-in to interrupt", "p95 ≤ 700", func(s *Score) []int { return s.ToldMS }},
		{"length of a false pause", "", func(s *Score) []int { return s.PausedMS }},
	}
	for _, row := range times {
		fmt.Fprintf(to, "%-34s %-9s", row.name, row.bound)
		for i := range scores {
			values := row.of(&scores[i])
			fmt.Fprintf(to, " %15s", fmt.Sprintf("%d / %d", Percentile(values, 50), Percentile(values, 95)))
		}
		fmt.Fprintln(to)
	}
}
