package voice

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/voice/hearing"
)

const (
	// joinedWithin is how far apart two pieces of the agent's sound may be to follow each other in
	// the recording without a gap: audio time moves in frames.
	joinedWithin = 60
	// recordTimeout bounds the storing of the end of a recording.
	recordTimeout = time.Minute
)

// recording puts the sound of a call into its recording, if it has one.
type recording struct {
	recorder *recordings.Recorder
	// rest are samples of the user that fill no millisecond yet.
	rest []int16
	// resampler makes what the agent says as slow as the recording.
	resampler *audio.Resampler
	rate      int
	samples   []int16
	// agentTo is the end of what the agent has said, in audio time.
	agentTo int
}

// hear adds sound of the user, which ends at an audio time in samples.
func (r *recording) hear(samples []int16, end int) {
	if r.recorder == nil {
		return
	}
	from := end - len(samples) - len(r.rest)
	r.rest = append(r.rest, samples...)
	whole := len(r.rest) - len(r.rest)%samplesPerMS
	r.recorder.User(from/samplesPerMS, r.rest[:whole])
	r.rest = append(r.rest[:0], r.rest[whole:]...)
}

// say adds sound of the agent that is played from an audio time on.
func (r *recording) say(samples []int16, rate, fromMS int) {
	if r.recorder == nil {
		return
	}
	if distance := fromMS - r.agentTo; r.resampler == nil || r.rate != rate || distance > joinedWithin || distance < -joinedWithin {
		resampler, err := audio.NewResampler(rate, hearing.SampleRate)
		if err != nil { // every known format has a known rate
			return
		}
		r.resampler, r.rate, r.agentTo = resampler, rate, fromMS
	}
	r.samples = r.resampler.AppendResample(r.samples, samples)
	whole := len(r.samples) - len(r.samples)%samplesPerMS
	r.recorder.Agent(r.agentTo, r.samples[:whole])
	r.agentTo += whole / samplesPerMS
	r.samples = append(r.samples[:0], r.samples[whole:]...)
}

// cut leaves out what the agent was to say behind an audio time.
func (r *recording) cut(fromMS int) {
	if r.recorder == nil {
		return
	}
	r.recorder.CutAgent(fromMS)
	r.resampler, r.samples = nil, nil
}

// close stores the end of the recording.
func (c *Call) closeRecording() {
	recorder := c.recording.recorder
	if recorder == nil {
		return
	}
	c.recording.recorder = nil
	c.s.workers.Go(func() {
		ctx, cancel := context.WithTimeout(c.s.life, recordTimeout)
		defer cancel()
		if err := recorder.Close(ctx); err != nil {
			c.s.deps.Log.ErrorContext(ctx, "recording not stored to its end", "session_id", c.session.ID, "error", err)
		}
	})
}

// heardMS is the audio time.
func (c *Call) heardMS() int { return c.ears.track.end() / samplesPerMS }

// markUser notes where in the recording an utterance is. mu is held.
func (c *Call) markUser(u *utterance, text string) {
	c.recording.recorder.Mark(recordings.Mark{
		ItemID: u.itemID, ToChar: utf8.RuneCountInString(text), FromMS: u.fromMS, ToMS: u.fromMS + u.lengthMS, Channel: recordings.User,
	})
}

// markAgent notes where in the recording a part of a message is. mu is held.
func (c *Call) markAgent(s *segment) {
	if c.recording.recorder == nil || s.message == nil || s.message.filler || s.sent == 0 {
		return
	}
	text := s.message.text.String()
	from := utf8.RuneCountInString(text[:min(s.piece.Start, len(text))])
	spoken := strings.TrimSpace(text[min(s.piece.Start, len(text)):min(s.piece.End, len(text))])
	c.recording.recorder.Mark(recordings.Mark{
		ItemID: s.message.itemID, FromChar: from, ToChar: from + utf8.RuneCountInString(spoken),
		FromMS: s.playedFrom, ToMS: s.playedFrom + int(s.sentLength()/time.Millisecond), Channel: recordings.Agent,
	})
}
