package voicecorpus

import (
	"fmt"
	"slices"

	"parlance.dev/parlance/voice/hearing"
)

// Share is how many of how many.
type Share struct{ Count, Of int }

// Percent is the share in per cent.
func (s Share) Percent() float64 { return 100 * float64(s.Count) / float64(max(s.Of, 1)) }

// Score is what the events of recordings are worth.
type Score struct {
	// Missed are utterances of the user whose beginning was not reported; Interrupts of
	// interruptions. Acknowledgements are not expected to be reported.
	Missed, MissedInterrupts Share
	// FalseStarts are recordings in which speech of the user was reported where there was none:
	// noise, echo, somebody else. FalseTurns are those in which it was committed.
	FalseStarts, FalseTurns Share
	// CutOffs are utterances with pauses that were committed in one of them, CutShort those without
	// pauses that were committed before their end.
	CutOffs, CutShort Share
	// AcknowledgedInterrupts are acknowledgements that interrupted the agent.
	AcknowledgedInterrupts Share
	// FalsePauses are recordings in which the agent was paused for no interruption.
	FalsePauses Share
	// LatencyMS is from the true end of an utterance to its commit, StartMS from the true beginning
	// to its report, PauseMS from the true beginning of an interruption to the pause, DetectedMS from
	// the MinSpeechMS of speech that the taker wants to hear to the pause, ToldMS from the true
	// beginning to Interrupt. PausedMS is how long an agent was paused that was not interrupted.
	LatencyMS, StartMS, PauseMS, DetectedMS, ToldMS, PausedMS []int
	// Wrong names the recordings of which something above was counted.
	Wrong []string
}

// Violations says which bounds a score breaks.
func (s *Score) Violations() []string {
	var broken []string
	for _, row := range []struct {
		what  string
		got   float64
		bound float64
	}{
		{"missed starts, %", s.Missed.Percent(), 1},
		{"false starts, %", s.FalseStarts.Percent(), 2},
		{"turns cut off in a pause, %", s.CutOffs.Percent(), 10},
		{"acknowledgements that interrupt, %", s.AcknowledgedInterrupts.Percent(), 10},
		{"detected speech to pause, p95 in ms", float64(Percentile(s.DetectedMS, 95)), 100},
		{"beginning to interrupt, p95 in ms", float64(Percentile(s.ToldMS, 95)), 700},
	} {
		if row.got > row.bound {
			broken = append(broken, fmt.Sprintf("%s: %.1f, at most %.0f", row.what, row.got, row.bound))
		}
	}
	return broken
}

// slackMS is how far a report may be from the truth: a detector hears a sound's edges late.
const slackMS = 250

// Add scores the events of a recording.
func (s *Score) Add(r *Recording, events []hearing.Event, minSpeechMS int) {
	s.spans(r, events, minSpeechMS)
	s.falseOnes(r, events)
}

func (s *Score) wrong(r *Recording, what string) {
	s.Wrong = append(s.Wrong, r.Name+": "+what)
}

func (s *Score) spans(r *Recording, events []hearing.Event, minSpeechMS int) {
	for _, span := range r.Spans {
		switch span.Kind {
		case Turn:
			s.turn(r, span, events)
		case Interruption:
			s.interruption(r, span, events, minSpeechMS)
		case Acknowledgement:
			s.AcknowledgedInterrupts.Of++
			if at := find(events, hearing.Interrupt, span.FromMS, span.ToMS+2000); at >= 0 {
				s.AcknowledgedInterrupts.Count++
				s.wrong(r, fmt.Sprintf("acknowledgement %q at %d-%d interrupts: %s", span.Text, span.FromMS, span.ToMS, events[at]))
			}
		case Background:
		}
	}
}

func (s *Score) turn(r *Recording, span Span, events []hearing.Event) {
	s.Missed.Of++
	if at := find(events, hearing.SpeechStarted, span.FromMS, span.ToMS+slackMS); at >= 0 {
		s.StartMS = append(s.StartMS, events[at].AtMS-span.FromMS)
	} else {
		s.Missed.Count++
		s.wrong(r, "missed "+span.Text)
	}
	cut := &s.CutShort
	if len(span.Pauses) > 0 {
		cut = &s.CutOffs
	}
	at := find(events, hearing.Commit, span.FromMS, span.ToMS)
	cut.Of++
	if cut.add(at >= 0); at >= 0 {
		s.wrong(r, "cut off: "+events[at].String())
	}
	if at := find(events, hearing.Commit, span.ToMS, span.ToMS+3500); at >= 0 {
		s.LatencyMS = append(s.LatencyMS, events[at].AtMS-span.ToMS)
	}
}

func (s *Score) interruption(r *Recording, span Span, events []hearing.Event, minSpeechMS int) {
	s.MissedInterrupts.Of++
	if at := find(events, hearing.Interrupt, span.FromMS, span.ToMS+2000); at >= 0 {
		told := events[at].AtMS - span.FromMS
		if s.ToldMS = append(s.ToldMS, told); told > 700 {
			s.wrong(r, fmt.Sprintf("interruption at %d told late: %s", span.FromMS, events[at]))
		}
	} else {
		s.MissedInterrupts.Count++
		s.wrong(r, "missed interruption "+span.Text)
	}
	if at := find(events, hearing.Pause, span.FromMS, span.ToMS+slackMS); at >= 0 {
		s.PauseMS = append(s.PauseMS, events[at].AtMS-span.FromMS)
		s.DetectedMS = append(s.DetectedMS, events[at].AtMS-events[at].FromMS-minSpeechMS)
	}
}

// falseOnes counts reports where nobody spoke.
func (s *Score) falseOnes(r *Recording, events []hearing.Event) {
	s.FalseStarts.Of++
	s.FalseTurns.Of++
	s.FalsePauses.Of++
	var start, turn, pause bool
	pausedMS := -1
	for _, e := range events {
		switch e.Kind {
		case hearing.SpeechStarted:
			if !spoken(r, e.AtMS-slackMS, e.AtMS) {
				start = true
				s.wrong(r, "false start: "+e.String())
			}
		case hearing.Commit:
			turn = turn || !spoken(r, e.FromMS, e.ToMS)
		case hearing.Pause:
			pause = pause || !spoken(r, e.AtMS-slackMS, e.AtMS)
			pausedMS = e.AtMS
		case hearing.Resume:
			s.PausedMS = append(s.PausedMS, e.AtMS-pausedMS)
		case hearing.EndLikely, hearing.Continued, hearing.SpeechStopped, hearing.FalseStart, hearing.Transcribe,
			hearing.Interrupt, hearing.Idle:
		}
	}
	s.FalseStarts.add(start)
	s.FalseTurns.add(turn)
	s.FalsePauses.add(pause)
}

func (s *Share) add(is bool) {
	if is {
		s.Count++
	}
}

// spoken reports whether the user spoke between two times. An acknowledgement that interrupts is
// counted as such, and not here.
func spoken(r *Recording, fromMS, toMS int) bool {
	return slices.ContainsFunc(r.Spans, func(span Span) bool {
		return span.Kind != Background && span.FromMS < toMS && span.ToMS+slackMS > fromMS
	})
}

// find returns the first event of a kind that was decided between two times, −1 for none.
func find(events []hearing.Event, kind hearing.Kind, fromMS, toMS int) int {
	return slices.IndexFunc(events, func(e hearing.Event) bool {
		return e.Kind == kind && e.AtMS >= fromMS && e.AtMS < toMS
	})
}

// Percentile is the value at percent of the way from the smallest to the largest; 0 of none.
func Percentile(values []int, percent int) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*percent/100]
}
