package hearing

import (
	"strings"

	"parlance.dev/parlance/voice/hearing/utterance"
)

const (
	// interruptMS is how long speech without words lasts before it interrupts: half a second, less
	// the moment that detectors take to hear it. interruptStreamingMS is the same where words are
	// to be expected: "uh-huh" takes up to half a second, and its words come a little later.
	interruptMS          = 480
	interruptStreamingMS = 600

	// acknowledgedMS is how long speech lasts before it interrupts although its words so far are
	// acknowledgements, ownWordMS although its only word so far is one that the agent is saying.
	acknowledgedMS = 1200
	ownWordMS      = 800

	// surelyEcho is how many words of the agent are its echo however loud they are.
	surelyEcho = 4
)

// judge decides whether what the user says while the agent is paused interrupts it.
func (t *Taker) judge() {
	u := &t.user
	ended := u.phase == userEnding
	silence, length := t.NowMS()-u.speechEndMS, u.speechEndMS-u.speechMS
	if ended && !u.asked && !t.settings.Streaming && u.words == "" {
		u.asked = true
		t.emit(Event{Kind: Transcribe, FromMS: u.fromMS, ToMS: t.NowMS()})
	}
	verdict, reason := t.verdict()
	switch {
	case verdict == interrupts:
		t.interrupt(reason)
	case ended && (verdict == harmless || u.final || silence >= wordsWithinMS):
		t.dismiss(reason)
	case verdict == echoes:
		t.dismiss(Echo)
	case !ended && length >= t.limitMS(verdict):
		t.interrupt(ByDuration)
	}
}

// verdict is what the words of a user say who speaks while the agent does.
type verdict int

const (
	silent     verdict = iota // there are none yet
	interrupts                // they interrupt
	harmless                  // acknowledgements
	hopeful                   // they may become acknowledgements, or an echo
	own                       // one word that the agent says itself
	unclear                   // one other word
	echoes                    // the agent's words
)

// verdict returns, beside, the reason for an interruption, or for dismissing the speech if nothing
// comes after these words.
func (t *Taker) verdict() (verdict, Reason) {
	u := &t.user
	words := utterance.Words(u.words)
	if len(words) == 0 {
		return silent, NoWords
	}
	agentText := t.agent.echo.around(u.speechMS, t.NowMS())
	loud := t.agent.echo.drowned(t.NowMS(), u.loudness.meanDB())
	stripped := strip(words, agentText)
	rest, ownToo := strings.Join(stripped, " "), mentions(agentText, stripped[0])
	if utterance.Echo(u.words, agentText) && (!loud || ownToo) {
		if loud && len(words) < surelyEcho {
			return hopeful, Echo
		}
		return echoes, Echo
	}
	switch {
	case t.rules.Acknowledgement(u.words) || t.rules.Acknowledgement(rest):
		return harmless, Acknowledgement
	case t.rules.Stop(u.words) || t.rules.Stop(rest):
		return interrupts, ByStopWord
	case t.rules.BeginsAcknowledgement(rest):
		return hopeful, TooLittle
	case len(stripped) >= 2 || loud && len(words) >= 2:
		return interrupts, ByWords
	case ownToo:
		return own, TooLittle
	}
	return unclear, TooLittle
}

// limitMS is how long speech with these words lasts before it interrupts all the same.
func (t *Taker) limitMS(v verdict) int {
	switch v {
	case harmless, hopeful:
		return acknowledgedMS
	case own:
		return ownWordMS
	case silent:
		if t.settings.Streaming {
			return interruptStreamingMS
		}
	case interrupts, unclear, echoes:
	}
	return interruptMS
}

// interrupt takes the turn from the agent.
func (t *Taker) interrupt(reason Reason) {
	t.agent.cut()
	t.emit(Event{Kind: Interrupt, FromMS: t.user.speechMS, ToMS: t.NowMS(), Reason: reason})
	t.emitStarted(false)
}
