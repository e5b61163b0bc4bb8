// Command hearing prints how well voice/hearing finds speech and turns over the recordings of
// test/voicecorpus:
//
//	go run ./test/eval/hearing            # 300 recordings, with the gate alone and the network
//	go run ./test/eval/hearing -wrong     # also what went wrong, recording by recording
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"parlance.dev/parlance/test/voicecorpus"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

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

func main() {
	seed := flag.Uint64("seed", 1, "seed of the recordings")
	scale := flag.Int("scale", 1, "make one of so many recordings")
	wrong := flag.Bool("wrong", false, "print what went wrong")
	flag.Parse()
	if err := evaluate(*seed, *scale, *wrong); err != nil {
		fmt.Fprintln(os.Stderr, "hearing:", err)
		os.Exit(1)
	}
}

func evaluate(seed uint64, scale int, wrong bool) error {
	began := time.Now()
	recordings, err := voicecorpus.Corpus(seed, scale)
	if err != nil {
		return err
	}
	var samples int
	for _, r := range recordings {
		samples += len(r.Samples)
	}
	fmt.Printf("%d recordings of %d s, made in %.0f s\n\n", len(recordings), samples/hearing.SampleRate, time.Since(began).Seconds())
	scores := make([]voicecorpus.Score, len(ways))
	for i, way := range ways {
		settings := hearing.Defaults()
		settings.Streaming, settings.Punctuated = way.stream, way.stream
		began, steps := time.Now(), 0
		for _, r := range recordings {
			detector := way.detector()
			scores[i].Add(r, voicecorpus.Run(r, settings, detector), settings.MinSpeechMS)
			if network, ok := detector.(*vad.Detector); ok {
				steps += network.Steps()
			}
		}
		frames := samples / vad.FrameSamples
		fmt.Printf("%-15s %5.1f s; the network ran on %.0f %% of the frames\n",
			way.name, time.Since(began).Seconds(), 100*float64(steps)/float64(frames))
	}
	printTable(scores)
	fmt.Println()
	for i, way := range ways {
		for _, broken := range scores[i].Violations() {
			fmt.Printf("%s breaks a bound: %s\n", way.name, broken)
		}
	}
	if wrong {
		for i, way := range ways {
			fmt.Printf("\n%s:\n", way.name)
			for _, line := range scores[i].Wrong {
				fmt.Println("  " + line)
			}
		}
	}
	return nil
}

func printTable(scores []voicecorpus.Score) {
	fmt.Printf("\n%-34s %-9s", "", "bound")
	for _, way := range ways {
		fmt.Printf(" %15s", way.name)
	}
	fmt.Println()
	shares := []struct {
		name, bound string
		of          func(s *voicecorpus.Score) voicecorpus.Share
	}{
		{"missed starts", "≤ 1 %", func(s *voicecorpus.Score) voicecorpus.Share { return s.Missed }},
		{"false starts", "≤ 2 %", func(s *voicecorpus.Score) voicecorpus.Share { return s.FalseStarts }},
		{"false turns", "", func(s *voicecorpus.Score) voicecorpus.Share { return s.FalseTurns }},
		{"cut off in a pause", "≤ 10 %", func(s *voicecorpus.Score) voicecorpus.Share { return s.CutOffs }},
		{"cut off elsewhere", "", func(s *voicecorpus.Score) voicecorpus.Share { return s.CutShort }},
		{"acknowledgements that interrupt", "≤ 10 %", func(s *voicecorpus.Score) voicecorpus.Share { return s.AcknowledgedInterrupts }},
		{"missed interruptions", "", func(s *voicecorpus.Score) voicecorpus.Share { return s.MissedInterrupts }},
		{"paused for no speech", "", func(s *voicecorpus.Score) voicecorpus.Share { return s.FalsePauses }},
	}
	for _, row := range shares {
		fmt.Printf("%-34s %-9s", row.name, row.bound)
		for i := range scores {
			share := row.of(&scores[i])
			fmt.Printf(" %15s", fmt.Sprintf("%.1f %% (%d/%d)", share.Percent(), share.Count, share.Of))
		}
		fmt.Println()
	}
	times := []struct {
		name, bound string
		of          func(s *voicecorpus.Score) []int
	}{
		{"true end to commit, p50/p95 ms", "", func(s *voicecorpus.Score) []int { return s.LatencyMS }},
		{"true start to report", "", func(s *voicecorpus.Score) []int { return s.StartMS }},
		{"true barge-in to pause", "", func(s *voicecorpus.Score) []int { return s.PauseMS }},
		{"200 ms of speech to pause", "≤ 100", func(s *voicecorpus.Score) []int { return s.DetectedMS }},
		{"true barge-in to interrupt", "p95 ≤ 700", func(s *voicecorpus.Score) []int { return s.ToldMS }},
		{"length of a false pause", "", func(s *voicecorpus.Score) []int { return s.PausedMS }},
	}
	for _, row := range times {
		fmt.Printf("%-34s %-9s", row.name, row.bound)
		for i := range scores {
			values := row.of(&scores[i])
			fmt.Printf(" %15s", fmt.Sprintf("%d / %d", voicecorpus.Percentile(values, 50), voicecorpus.Percentile(values, 95)))
		}
		fmt.Println()
	}
}
