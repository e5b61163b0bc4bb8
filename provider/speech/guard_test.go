package speech_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// guardWith is a guard on a clock that the test sets.
func guardWith(now *time.Time, m *speech.Metrics) speech.Guard {
	return speech.Guard{Breaker: speech.Breaker(), Key: "k", Now: func() time.Time { return *now }, Metrics: m}
}

// TestSynthesizerBreaker: five failures in a row open the circuit for 15 s; a trial closes it.
func TestSynthesizerBreaker(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	registry := prometheus.NewRegistry()
	s := &speaker{name: "one", err: down("one")}
	guarded := speech.GuardSynthesizer(s, guardWith(&now, speech.NewMetrics(registry)))
	speak := func() error {
		return guarded.Speak(t.Context(), speech.Speech{Text: "Grüße."}, func(speech.Piece) error { return nil })
	}
	for range 5 {
		if err := speak(); !fault.IsReason(err, fault.UpstreamFailed) {
			t.Fatal(err)
		}
	}
	f := fault.From(speak())
	if f.Reason != fault.ServiceUnavailable || f.RetryAfter != 15*time.Second || len(s.asked) != 5 ||
		!strings.Contains(f.Message, "one has failed several times in a row") {
		t.Fatalf("%v after %d calls, retry after %s", f, len(s.asked), f.RetryAfter)
	}
	now = now.Add(15 * time.Second)
	s.err, s.pieces = nil, 1
	for range 2 {
		if err := speak(); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]float64{
		"parlance_speech_circuits_opened_total": 1, "parlance_speech_syntheses_total": 7,
		"parlance_speech_spoken_characters_total": 7 * 6, "parlance_speech_first_audio_seconds": 2,
	} {
		if got := testutil.ToFloat64(counter(t, registry, name)); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestTranscriberBreaker: what counts as a failure, and that a chain passes over an open circuit.
func TestTranscriberBreaker(t *testing.T) {
	t.Parallel()
	hangUp := script{finish: context.Canceled}
	for name, row := range map[string]struct {
		script script
		opens  bool
	}{
		"does not open":      {script{open: down("one")}, true},
		"fails at a write":   {script{writeAt: 1, write: broken("one")}, true},
		"fails at the end":   {script{finish: down("one")}, true},
		"limits its rate":    {script{finish: limited("one")}, false},
		"the caller hung up": {hangUp, false},
		"fine":               {script{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_700_000_000, 0)
			registry := prometheus.NewRegistry()
			one := &hearer{name: "one"}
			guarded := speech.GuardTranscriber(one, guardWith(&now, speech.NewMetrics(registry)))
			for range 5 {
				one.opens = append(one.opens, row.script)
			}
			for range 5 {
				_, _ = speech.Transcribe(t.Context(), guarded, speech.Utterance{Samples: all(1600)}) // the breaker is looked at
			}
			got, err := speech.Transcribe(t.Context(), speech.TranscriberChain{
				Transcribers: []speech.StreamTranscriber{guarded, &hearer{name: "two"}},
			}, speech.Utterance{Samples: all(1600)})
			if err != nil || (got.Provider == "two") != row.opens {
				t.Errorf("heard by %q, %v", got.Provider, err)
			}
			if seconds := testutil.ToFloat64(counter(t, registry, "parlance_speech_heard_seconds_total")); name == "fine" && seconds != 0.6 {
				t.Errorf("%v s were counted", seconds)
			}
		})
	}
}

// TestGivenUpStream: a trial that is given up does not leave the circuit waiting for its result.
func TestGivenUpStream(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	one := &hearer{name: "one"}
	guarded := speech.GuardTranscriber(one, guardWith(&now, nil))
	early, err := guarded.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := early.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		one.opens = append(one.opens, script{open: down("one")})
	}
	for range 5 {
		_, _ = guarded.Open(t.Context(), speech.StreamOptions{}) // it fails
	}
	now = now.Add(15 * time.Second)
	trial, err := guarded.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	early.Close() // its result was reported, and this says nothing about the trial
	if _, err := guarded.Open(t.Context(), speech.StreamOptions{}); !fault.IsReason(err, fault.ServiceUnavailable) {
		t.Errorf("a second stream beside the trial: %v", err)
	}
	trial.Close()
	trial.Close()
	again, err := guarded.Open(t.Context(), speech.StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
