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

// recording puts the sound of a call into its recording, if it has one. Its clock is the one on the
// wall, ahead of which a client may be that sends faster: audio time stands still while a client
// that is pushed to talk sends nothing.
type recording struct {
	recorder *recordings.Recorder
	begunAt  time.Time
	// userTo is the end of what was heard of the user, in samples of the recording, and rest what
	// of it fills no millisecond yet.
	userTo int
	rest   []int16
	// resampler makes what the agent says as slow as the recording.
	resampler *audio.Resampler
	rate      int
	samples   []int16
	// agentTo is the end of what the agent has said, in milliseconds of the recording.
	agentTo int
}

// at is the present in the recording, in milliseconds.
func (r *recording) at(now time.Time) int {
	return max(int(now.Sub(r.begunAt)/time.Millisecond), r.userTo/samplesPerMS)
}

// hear adds sound of the user. Silence of more than a moment before it is a pause.
func (r *recording) hear(samples []int16, now time.Time) {
	if r.recorder == nil {
		return
	}
	length := len(samples) / samplesPerMS
	if began := r.at(now) - length; began-r.userTo/samplesPerMS > joinedWithin {
		r.silence(began)
	}
	r.rest = append(r.rest, samples...)
	whole := len(r.rest) - len(r.rest)%samplesPerMS
	r.recorder.User(r.userTo/samplesPerMS, r.rest[:whole])
	r.userTo += whole
	r.rest = append(r.rest[:0], r.rest[whole:]...)
}

// silence has the user be silent until a time of the recording, which moves its clock on.
func (r *recording) silence(untilMS int) {
	if r.recorder == nil {
		return
	}
	if missing := untilMS*samplesPerMS - r.userTo; missing > 0 {
		r.recorder.User(r.userTo/samplesPerMS, make([]int16, missing))
		r.userTo += missing
	}
}

// pass moves the clock of the recording on while the user sends nothing.
func (r *recording) pass(now time.Time) {
	if until := int(now.Sub(r.begunAt)/time.Millisecond) - 2*joinedWithin; until-r.userTo/samplesPerMS > 10*joinedWithin {
		r.silence(until)
	}
}

// say adds sound of the agent, which is played when what is ahead of it was.
func (r *recording) say(samples []int16, rate int, now time.Time, ahead time.Duration) {
	if r.recorder == nil {
		return
	}
	fromMS := r.at(now) + int(ahead/time.Millisecond)
	if distance := fromMS - r.agentTo; r.resampler == nil || r.rate != rate || distance > joinedWithin || distance < -joinedWithin {
		resampler, err := audio.NewResampler(rate, hearing.SampleRate)
		if err != nil { // every known format has a known rate
			return
		}
		r.resampler, r.rate, r.agentTo, r.samples = resampler, rate, fromMS, nil
	}
	r.samples = r.resampler.AppendResample(r.samples, samples)
	whole := len(r.samples) - len(r.samples)%samplesPerMS
	r.recorder.Agent(r.agentTo, r.samples[:whole])
	r.agentTo += whole / samplesPerMS
	r.samples = append(r.samples[:0], r.samples[whole:]...)
}

// cut leaves out what the agent was to say from now on.
func (r *recording) cut(now time.Time) {
	if r.recorder == nil {
		return
	}
	r.recorder.CutAgent(r.at(now))
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
		ItemID: u.itemID, ToChar: utf8.RuneCountInString(text), FromMS: u.recordedTo - u.lengthMS, ToMS: u.recordedTo,
		Channel: recordings.User,
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
