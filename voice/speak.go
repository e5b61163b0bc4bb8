package voice

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/voice/speakable"
	"parlance.dev/parlance/workspaces"
)

// synthesizedAhead is how many segments are synthesized before they are sent. Source: voice design.
const synthesizedAhead = 2

// errDropped ends the synthesis of a segment that is not wanted any more.
var errDropped = errors.New("what was being said is not wanted any more")

// speak has pieces of a message spoken. mu is held.
func (c *Call) speak(m *message, pieces []speakable.Piece) {
	for _, piece := range pieces {
		s := &segment{
			id: m.itemID + ":" + strconv.Itoa(len(m.segments)), message: m, piece: piece,
			kept: (m.answer.greeting || m.filler) && len(piece.Text) <= maxPhraseChars,
		}
		m.segments = append(m.segments, s)
		c.player.queue = append(c.player.queue, s)
	}
	c.synthesize()
}

// synthesize has a worker make sound of the segments that come next. mu is held.
func (c *Call) synthesize() {
	if c.player.synthesizing || c.muted || c.player.toSynthesize() == nil {
		return
	}
	c.player.synthesizing = true
	c.s.workers.Go(c.synthesizeQueue)
}

// synthesizeQueue makes sound of the segments until enough is there.
func (c *Call) synthesizeQueue() {
	for {
		c.mu.Lock()
		s := c.player.toSynthesize()
		if s == nil || c.muted {
			c.player.synthesizing = false
			c.mu.Unlock()
			return
		}
		s.begun = true
		asked, synthesizer := c.speechOf(s.piece.Text), c.stack.Synthesizer
		ctx, cancel := context.WithCancel(c.life)
		c.player.cancel = cancel
		c.mu.Unlock()
		err := c.synthesizeOne(ctx, synthesizer, asked, s)
		dropped := ctx.Err() != nil || errors.Is(err, errDropped)
		cancel()
		c.mu.Lock()
		s.end()
		if err != nil && !dropped {
			c.synthesizerFailed(err)
		}
		c.unlock(true)
	}
}

// synthesizeOne makes the sound of a segment.
func (c *Call) synthesizeOne(ctx context.Context, synthesizer speech.Synthesizer, asked speech.Speech, s *segment) error {
	key := phrase{c.session.TenantID, c.stack.SynthesizerName, asked}
	sound, known := c.s.phrases.Get(key)
	if known && s.kept {
		return c.takeSound(ctx, s, sound...)
	}
	sound = nil
	take := func(p speech.Piece) error {
		if s.kept {
			sound = append(sound, p)
		}
		return c.takeSound(ctx, s, p)
	}
	var broken part
	err := synthesizer.Speak(ctx, asked, broken.count(take))
	if err != nil && broken.length > 0 && ctx.Err() == nil && !errors.Is(err, errDropped) {
		err = synthesizer.Speak(ctx, asked, broken.skip(take)) // once more, from where it broke off
	}
	if err != nil {
		return err
	}
	if s.kept {
		c.s.phrases.Set(key, sound)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meterSpoken(s)
	return nil
}

// part is the beginning of a sentence, after which the synthesizer broke off.
type part struct{ length, skipped time.Duration }

// count has a sentence taken, and keeps how long it is so far.
func (b *part) count(take func(speech.Piece) error) func(speech.Piece) error {
	return func(p speech.Piece) error {
		err := take(p)
		if err == nil {
			b.length += audio.Duration(len(p.Samples), p.Rate)
		}
		return err
	}
}

// skip has the same sentence taken without its beginning.
func (b *part) skip(take func(speech.Piece) error) func(speech.Piece) error {
	return func(p speech.Piece) error {
		p.Words = slices.DeleteFunc(slices.Clone(p.Words), func(w speech.Word) bool {
			return time.Duration(w.EndMS)*time.Millisecond <= b.length
		})
		n := min(len(p.Samples), audio.Samples(b.length-b.skipped, p.Rate))
		b.skipped += audio.Duration(n, p.Rate)
		if p.Samples = p.Samples[n:]; len(p.Samples) == 0 && len(p.Words) == 0 {
			return nil
		}
		return take(p)
	}
}

// phrase is a text that is said again and again: a first message, a filler, a goodbye.
type phrase struct {
	tenant      workspaces.TenantID
	synthesizer string
	speech      speech.Speech
}

// maxPhrases bounds the phrases that a node keeps, and maxPhraseChars each.
const maxPhrases, maxPhraseChars = 300, 400

// takeSound adds what a synthesizer has made to a segment.
func (c *Call) takeSound(ctx context.Context, s *segment, pieces ...speech.Piece) error {
	c.mu.Lock()
	defer c.unlock(true)
	if ctx.Err() != nil {
		return errDropped
	}
	for _, p := range pieces {
		if err := s.add(p, c.output.RateHz); err != nil {
			return err
		}
	}
	return nil
}

// synthesizerFailed tells the client, once for each answer, that the rest of it is text. mu is
// held.
func (c *Call) synthesizerFailed(err error) {
	c.s.deps.Log.WarnContext(c.life, "answer not spoken", "session_id", c.session.ID, "error", err)
	if c.player.failed {
		return
	}
	c.player.failed = true
	c.out = append(c.out, live.Failed{Err: postgres.Decide(err)})
}

// add adds sound to a segment, at the rate of the call.
func (s *segment) add(p speech.Piece, rateHz int) error {
	if s.resampler == nil || s.fromHz != p.Rate { // another synthesizer went on
		s.flush()
		resampler, err := audio.NewResampler(p.Rate, rateHz)
		if err != nil {
			return err
		}
		s.resampler, s.fromHz, s.rate = resampler, p.Rate, rateHz
	}
	s.samples = s.resampler.AppendResample(s.samples, p.Samples)
	s.words = append(s.words, p.Words...)
	return nil
}

// end ends the sound.
func (s *segment) end() {
	if !s.complete {
		s.flush()
	}
	s.complete = true
}

// flush adds what the resampler has held back.
func (s *segment) flush() {
	if s.resampler != nil {
		s.samples = s.resampler.AppendFlush(s.samples)
	}
}
