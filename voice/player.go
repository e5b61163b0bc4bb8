package voice

import (
	"context"
	"slices"
	"time"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice/hearing"
	"parlance.dev/parlance/voice/hearing/vad"
)

const (
	// lead is how far ahead of real time sound is sent: as much survives a slow network, and as
	// much is heard after an interruption at the most. Source: voice design.
	lead = 400 * time.Millisecond
	// pieceLength is the length of a piece that is sent.
	pieceLength = 40 * time.Millisecond
)

// player is what a call says.
type player struct {
	// queue are the segments that were not sent to their ends, in order.
	queue []*segment
	// until is when what was sent will have been played.
	until time.Time
	// paused is set while speech may be an interruption.
	paused bool
	// synthesizing is set while a worker makes sound; cancel ends what it makes.
	synthesizing bool
	cancel       context.CancelFunc
	// failed is set when the client was told that the synthesizer fails.
	failed bool
}

func (p *player) pause()  { p.paused = true }
func (p *player) resume() { p.paused = false }

// isBusy reports whether something is still to be sent.
func (p *player) isBusy() bool { return len(p.queue) > 0 }

// ahead is how much of what was sent was not played yet.
func (p *player) ahead(now time.Time) time.Duration { return max(0, p.until.Sub(now)) }

// isDue reports whether the next piece is to be sent.
func (p *player) isDue(now time.Time) bool {
	return !p.paused && len(p.queue) > 0 && p.ahead(now) <= lead-pieceLength
}

// drop forgets what was not sent.
func (p *player) drop() {
	p.dropSpeech()
	p.queue = nil
}

// dropSpeech is drop, but for the tones of keys.
func (p *player) dropSpeech() {
	p.queue = slices.DeleteFunc(p.queue, func(s *segment) bool {
		if s.isTones() {
			return false
		}
		s.drop()
		return true
	})
	p.paused = false
	if p.cancel != nil {
		p.cancel()
	}
}

// toSynthesize is the next segment to make sound of; nil: there is none, or enough is ready.
func (p *player) toSynthesize() *segment {
	for i, s := range p.queue {
		if i >= synthesizedAhead {
			return nil
		}
		if !s.begun {
			return s
		}
	}
	return nil
}

// nextAudio returns the next piece of sound, when it is time to send it. mu is held.
func (c *Call) nextAudio() (turns.Event, bool) {
	p, now := &c.player, c.s.now()
	if !p.isDue(now) || c.muted {
		return nil, false
	}
	for len(p.queue) > 0 && p.queue[0].isSent() {
		sent := p.queue[0]
		c.markAgent(sent)
		p.queue = p.queue[1:]
		if sent.isTones() {
			c.tonesSent()
		}
		c.synthesize()
	}
	if len(p.queue) == 0 {
		return c.next() // a gate may have opened
	}
	s := p.queue[0]
	want := audio.Samples(pieceLength, max(s.rate, 1))
	if s.message != nil && !s.message.started || len(s.samples) == 0 || len(s.samples) < want && !s.complete {
		return nil, false
	}
	return c.send(s, s.samples[:min(want, len(s.samples))], now), true
}

// send is the event with samples of a segment. mu is held.
func (c *Call) send(s *segment, samples []int16, now time.Time) turns.Event {
	p := &c.player
	p.until = later(p.until, now)
	c.recordActivity()
	c.announce(s, samples, now)
	e := Audio{Data: c.output.AppendEncode(nil, samples)}
	if s.message != nil {
		e.ResponseID, e.ItemID = s.message.answer.responseID, s.message.itemID
		if !s.message.filler {
			c.timeAnswer(s.message.answer, now)
		}
	}
	s.samples, s.sent = s.samples[len(samples):], s.sent+len(samples)
	if len(s.samples) == 0 {
		s.samples = nil // the segment is kept for what was heard of it, and would keep all its sound
	}
	p.until = p.until.Add(audio.Duration(len(samples), s.rate))
	return e
}

// announce tells the taker what the user is going to hear. mu is held.
func (c *Call) announce(s *segment, samples []int16, now time.Time) {
	taker := c.ears.taker
	from := c.heardMS() + int(c.player.ahead(now)/time.Millisecond)
	c.recording.say(samples, s.rate, now, c.player.ahead(now))
	if !s.announced {
		s.announced = true
		s.playedFrom = c.recording.at(now) + int(c.player.ahead(now)/time.Millisecond)
		taker.AgentSaid(hearing.Said{
			Text: s.piece.Text, FromMS: from, ToMS: from + int(s.expected()/time.Millisecond),
			Protected: s.isTones() || s.message != nil && s.message.protected,
		})
	}
	length := int(audio.Duration(len(samples), s.rate) / time.Millisecond)
	taker.AgentPlaying(from, from+length, vad.LevelDB(samples))
}

// timeAnswer tells, once, how long the beginning of an answer took.
func (c *Call) timeAnswer(a *answer, now time.Time) {
	if a.timed || a.heard == nil {
		return
	}
	a.timed = true
	since := func(t time.Time) int {
		if t.IsZero() {
			return 0
		}
		return int(t.Sub(a.heard.SpeechEndedAt) / time.Millisecond)
	}
	timing := Timing{
		ResponseID: a.responseID, EndpointMS: since(a.heard.CommittedAt), TranscriptMS: since(a.heard.TranscribedAt),
		FirstTokenMS: since(a.firstTokenAt), FirstAudioMS: since(now),
	}
	c.out = append(c.out, timing)
	if a.behind { // it says nothing of how fast the agent is
		return
	}
	c.s.deps.Metrics.timed(timing)
	c.noteLatency(a.turnID, timing)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
