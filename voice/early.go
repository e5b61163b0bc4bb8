package voice

import (
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/speech"
)

// A silent user has probably finished before it is certain. What follows begins then, and is thrown
// away when they go on:
//
//	probably finished ──► transcribe, where that is not done while they speak
//	                 └──► words ──► live.Anticipate: the model is asked

// endLikely begins early with what follows from the utterance. mu is held.
func (c *Call) endLikely() {
	u, early := c.ears.current, c.stack.Streaming
	set(&early, c.detection.StartEarly)
	if u == nil || !early || c.manual() || !c.detection.CreateResponse {
		return
	}
	u.likely = true
	if u.stream == nil && u.err == nil {
		c.transcribe(u)
	}
	if !u.joined { // the model would be shown an answer that is about to be taken back
		c.anticipate(u.words)
	}
}

// continued throws away what was begun early: the user goes on. mu is held.
func (c *Call) continued() {
	u := c.ears.current
	if u == nil || !u.likely {
		return
	}
	u.likely = false
	if u.attempting {
		u.attempting, u.ready = false, false
		u.wastedMS += u.attemptMS
	}
	c.anticipate("")
}

// anticipate has the model asked for the answer to what the user has probably said. mu is held.
func (c *Call) anticipate(text string) {
	if text = sayable(text); text != c.anticipated {
		c.anticipated = text
		c.commands = append(c.commands, live.Anticipate{Text: text})
	}
}

// transcribe transcribes the whole of an utterance, unless that is being done. mu is held.
func (c *Call) transcribe(u *utterance) {
	if u.attempting {
		return
	}
	u.attempt++
	u.attempting, u.attemptMS = true, len(u.samples)/samplesPerMS
	attempt, transcriber := u.attempt, c.stack.Transcriber
	heard := speech.Utterance{Samples: u.samples, Options: c.transcriberOptions()}
	c.s.workers.Go(func() {
		transcript, err := speech.Transcribe(u.life, transcriber, heard)
		c.mu.Lock()
		defer c.unlock(true)
		switch {
		case u.attempt != attempt || !u.attempting: // the user has gone on
		case u.committed:
			c.transcribed(u, transcript, err)
		case err != nil: // it is tried again when they have finished
			u.attempting = false
		default:
			u.transcript, u.ready, u.transcribedAt = transcript, true, c.s.now()
			if !u.joined && !speech.IsHallucination(transcript, u.attemptMS) {
				c.anticipate(transcript.Text)
			}
		}
	})
}
