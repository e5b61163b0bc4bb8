package live

import (
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/sessions"
)

const (
	// MaxAudioBytes bounds what may wait to be committed. Source: OpenAI's bound of one append.
	MaxAudioBytes = 15 << 20
	// minAudioMS is the least that can be committed. Source: OpenAI.
	minAudioMS = 100
)

// ErrNoAudio is the cause of Failed for an AudioCommit without enough audio.
var ErrNoAudio = errors.New("no audio to commit")

// AudioAppend is the next piece of what the user says. Nothing transcribes speech yet, so only its
// length is kept. What is over MaxAudioBytes is dropped until AudioCommit or AudioClear, and Failed
// says so once.
type AudioAppend struct {
	CommandID string
	Data      []byte
	// BytesPerMS is how many bytes a millisecond of it has.
	BytesPerMS int
}

// AudioCommit makes an item of the audio, whose words are not known: ItemAdded comes.
type AudioCommit struct{ CommandID string }

// AudioClear forgets the audio.
type AudioClear struct{}

func (AudioAppend) command() {}

func (AudioCommit) command() {}

func (AudioClear) command() {}

// heardAudio is what a socket has appended.
type heardAudio struct {
	bytes, bytesPerMS int
	full              bool // the client knows that more is dropped
}

func (e *engine) appendAudio(live *Live, c AudioAppend) {
	a := &live.audio
	if a.bytes+len(c.Data) > MaxAudioBytes {
		if !a.full {
			a.full = true
			live.push(Failed{CommandID: c.CommandID, Err: fault.InvalidField("audio", "too_long", "At most %d bytes of audio wait to be committed; what comes now is dropped. Send input_audio_buffer.commit or .clear.", MaxAudioBytes)})
		}
		return
	}
	a.bytes, a.bytesPerMS = a.bytes+len(c.Data), max(1, c.BytesPerMS)
}

func (e *engine) commitAudio(live *Live, c AudioCommit) {
	a := live.audio
	if length := a.bytes / max(1, a.bytesPerMS); length < minAudioMS {
		live.push(Failed{CommandID: c.CommandID, Err: fault.Wrap(ErrNoAudio, fault.InvalidRequest, "Expected at least %d ms of audio, but the buffer has %d ms.", minAudioMS, length)})
		return
	}
	live.audio = heardAudio{}
	if e.accept(live, c.CommandID, sessions.Message{Role: sessions.RoleUser, Audio: &sessions.Audio{LengthMS: a.bytes / a.bytesPerMS}}) {
		e.client.heard()
	}
}
