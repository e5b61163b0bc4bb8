package hearing

import "parlance.dev/parlance/voice/hearing/utterance"

const (
	// interruptMS is how long speech without words lasts before it interrupts, and
	// interruptStreamingMS the same where words are to be expected: "uh-huh" takes up to half a
	// second, and its words come a little later.
	interruptMS          = 500
	interruptStreamingMS = 600

	// acknowledgedMS is how long speech lasts before it interrupts although its words so far are
	// acknowledgements, or a single word that the agent is saying itself.
	acknowledgedMS = 1200
)

// judge decides whether what the user says while the agent is paused interrupts it.
func (t *Taker) judge() {
	u := &t.user
	ended := u.phase == userEnding
	silence, length := t.NowMS()-u.speechEndMS, u.speechEndMS-u.speechMS
	words := utterance.Words(u.words)
	if ended && !u.asked && !t.settings.Streaming && len(words) == 0 {
		u.asked = true
		t.emit(Event{Kind: Transcribe, FromMS: u.fromMS, ToMS: t.NowMS()})
	}
	limit := interruptMS
	switch {
	case len(words) == 0:
		if t.settings.Streaming {
			limit = interruptStreamingMS
		}
		if ended && (u.final || silence >= wordsWithinMS) {
			t.dismiss(NoWords)
			return
		}
	case t.agent.echo.said(u.words, u.speechMS):
		t.dismiss(Echo)
		return
	case t.rules.Acknowledgement(u.words):
		limit = acknowledgedMS
		if ended {
			t.dismiss(Acknowledgement)
			return
		}
	case t.rules.Stop(u.words):
		t.interrupt(ByStopWord)
		return
	case len(words) >= 2:
		t.interrupt(ByWords)
		return
	case ended && (u.final || silence >= wordsWithinMS):
		t.dismiss(TooLittle)
		return
	case t.agent.echo.mentions(words[0], u.speechMS):
		limit = acknowledgedMS
	}
	if !ended && length >= limit {
		t.interrupt(ByDuration)
	}
}

// interrupt takes the turn from the agent.
func (t *Taker) interrupt(reason Reason) {
	t.agent.cut()
	t.emit(Event{Kind: Interrupt, FromMS: t.user.speechMS, ToMS: t.NowMS(), Reason: reason})
	t.emitStarted()
}
