package speech_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// TestTranscriberChain: wherever a transcriber fails, the next one hears the whole utterance.
func TestTranscriberChain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		first []script
		want  string // who heard
		opens int    // streams of the first
	}{
		"fine":                          {nil, "one", 1},
		"does not open":                 {[]script{{open: down("one")}}, "two", 0},
		"fails at the first write":      {[]script{{writeAt: 1, write: down("one")}}, "two", 1},
		"fails in mid-utterance":        {[]script{{writeAt: 4, write: broken("one")}}, "two", 1},
		"fails at the end":              {[]script{{finish: limited("one")}}, "two", 1},
		"refuses the request":           {[]script{{finish: fault.New(fault.UpstreamFailed, "one did not accept the request.")}}, "two", 1},
		"another one is never repeated": {[]script{{finish: broken("one")}, {}}, "two", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := &hearer{name: "one", opens: row.first}, &hearer{name: "two"}
			chain := speech.TranscriberChain{Transcribers: []speech.StreamTranscriber{one, two}}
			stream, err := chain.Open(t.Context(), speech.StreamOptions{Options: speech.Options{Language: "de", Hints: []string{"a"}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := writeInTens(stream, 65); err != nil {
				t.Fatal(err)
			}
			got, err := stream.Finish(t.Context())
			if err != nil || got.Provider != row.want || chain.Name() != "one" {
				t.Fatalf("heard by %q, %v", got.Provider, err)
			}
			stream.Close()
			if len(one.streams) != row.opens {
				t.Errorf("%d streams of the first", len(one.streams))
			}
			for _, s := range one.streams {
				if !s.closed || !s.options.Standby {
					t.Errorf("a stream of the first: closed %t, standby %t", s.closed, s.options.Standby)
				}
			}
			if row.want == "two" {
				last := two.streams[0]
				if diff := cmp.Diff(last.samples, all(65)); diff != "" || last.options.Standby || last.options.Language != "de" {
					t.Errorf("options %+v, samples %s", last.options, diff)
				}
			}
		})
	}
}

// TestLastTranscriberIsAskedAgain: once, and only when its connection was lost.
func TestLastTranscriberIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		scripts []script
		heard   bool
		opens   int
	}{
		"lost in mid-utterance": {[]script{{writeAt: 3, write: broken("one")}}, true, 2},
		"lost at the end":       {[]script{{finish: broken("one")}}, true, 2},
		"lost twice":            {[]script{{writeAt: 3, write: broken("one")}, {finish: broken("one")}, {}}, false, 2},
		"too slow":              {[]script{{finish: down("one")}, {}}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := &hearer{name: "one", opens: row.scripts}
			stream, err := speech.TranscriberChain{Transcribers: []speech.StreamTranscriber{one}}.Open(t.Context(), speech.StreamOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			if err := writeInTens(stream, 40); err != nil {
				t.Fatal(err)
			}
			_, err = stream.Finish(t.Context())
			if (err == nil) != row.heard || len(one.streams) != row.opens {
				t.Fatalf("%v after %d streams", err, len(one.streams))
			}
			if last := one.streams[len(one.streams)-1]; row.heard && len(last.samples) != 40 {
				t.Errorf("%d samples were heard", len(last.samples))
			}
		})
	}
}

// TestChainsSayWhoFailed: one fault names all, with the shortest wait; each fail-over is logged and
// counted.
func TestChainsSayWhoFailed(t *testing.T) {
	t.Parallel()
	soon, late := limited("one"), limited("two")
	soon.RetryAfter, late.RetryAfter = 3*time.Second, 30*time.Second
	registry := prometheus.NewRegistry()
	metrics := speech.NewMetrics(registry)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))

	check := func(what string, err error) {
		t.Helper()
		f := fault.From(err)
		if f.Reason != fault.ServiceUnavailable || f.RetryAfter != 3*time.Second ||
			!strings.HasSuffix(f.Message, "one is limiting our rate. two is limiting our rate.") {
			t.Errorf("%s: %v, retry after %s", what, err, f.RetryAfter)
		}
	}
	_, err := speech.Transcribe(t.Context(), speech.TranscriberChain{
		Transcribers: []speech.StreamTranscriber{
			&hearer{name: "one", opens: []script{{open: soon}}}, &hearer{name: "two", opens: []script{{finish: late}}},
		},
		Metrics: metrics, Log: logger,
	}, speech.Utterance{Samples: all(10)})
	check("transcribers", err)
	err = speech.SynthesizerChain{
		Synthesizers: []speech.Synthesizer{&speaker{name: "one", err: soon}, &speaker{name: "two", err: late}},
		Metrics:      metrics, Log: logger,
	}.Speak(t.Context(), speech.Speech{Text: "Hello."}, func(speech.Piece) error { return nil })
	check("synthesizers", err)
	if got := testutil.ToFloat64(counter(t, registry, "parlance_speech_failovers_total")); got != 2 {
		t.Errorf("%v fail-overs were counted", got)
	}
	if got := strings.Count(log.String(), "provider=one reason=unavailable"); got != 2 {
		t.Errorf("%d fail-overs were logged:\n%s", got, &log)
	}
}

// counter is a metric with all its series added up.
func counter(t *testing.T, registry *prometheus.Registry, name string) prometheus.Collector {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := prometheus.NewCounter(prometheus.CounterOpts{Name: "sum", Help: "of all series"})
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name {
				sum.Add(m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()))
			}
		}
	}
	return sum
}

// TestChainEndsWithItsContext: nobody else is asked when the caller is gone.
func TestChainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	one, two := &hearer{name: "one"}, &hearer{name: "two"}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := speech.TranscriberChain{Transcribers: []speech.StreamTranscriber{one, two}}.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	cancel()
	if _, err := stream.Finish(ctx); !errors.Is(err, context.Canceled) || len(two.streams) != 0 {
		t.Errorf("%v, %d streams of the second", err, len(two.streams))
	}
}

// TestSynthesizerChain: the next one speaks only when nothing of the sentence was heard.
func TestSynthesizerChain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		first  speaker
		want   string // the providers of the pieces
		failed bool
		asked  int // of the second
	}{
		"fine":                    {speaker{pieces: 2}, "one one", false, 0},
		"fails before it speaks":  {speaker{err: down("one")}, "two", false, 1},
		"fails in mid-sentence":   {speaker{pieces: 1, err: broken("one")}, "one", true, 0},
		"speaks no such language": {speaker{err: fault.New(fault.UpstreamFailed, "one has no voice.")}, "two", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := row.first, speaker{name: "two", pieces: 1}
			one.name = "one"
			var got []string
			err := speech.SynthesizerChain{Synthesizers: []speech.Synthesizer{&one, &two}}.Speak(
				t.Context(), speech.Speech{Text: "Hello.", Voice: "nora"}, func(p speech.Piece) error {
					got = append(got, p.Provider)
					return nil
				})
			if strings.Join(got, " ") != row.want || (err != nil) != row.failed || len(two.asked) != row.asked {
				t.Fatalf("spoken by %q, %v, %d calls of the second", got, err, len(two.asked))
			}
			if first := one.asked[0]; first.Voice != "nora" || !first.Standby {
				t.Errorf("the first was asked %+v", first)
			}
			if row.asked == 1 && (two.asked[0].Voice != "" || two.asked[0].Standby) {
				t.Errorf("the second was asked %+v", two.asked[0])
			}
		})
	}
}

// TestLongUtterance: what is kept of an utterance is bounded.
func TestLongUtterance(t *testing.T) {
	t.Parallel()
	minute := make([]int16, 60*speech.HearingRate)
	for name, transcriber := range map[string]speech.StreamTranscriber{
		"whole": speech.Whole(wholeHearer{}),
		"chain": speech.TranscriberChain{Transcribers: []speech.StreamTranscriber{&hearer{name: "one"}}},
	} {
		stream, err := transcriber.Open(t.Context(), speech.StreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		minutes := 0
		for ; err == nil && minutes < 10; minutes++ {
			err = stream.Write(minute)
		}
		stream.Close()
		if !fault.IsReason(err, fault.UpstreamFailed) || minutes != 6 {
			t.Errorf("%s: %v in minute %d", name, err, minutes)
		}
	}
}

type wholeHearer struct{}

func (wholeHearer) Name() string { return "whole" }

func (wholeHearer) Transcribe(context.Context, speech.Utterance) (speech.Transcript, error) {
	return speech.Transcript{}, nil
}
