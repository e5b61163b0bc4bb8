package voice

import "parlance.dev/parlance/platform/audio"

// Append is the next piece of the user's sound, in the call's input format. Pieces may be cut
// anywhere. A piece has at most MaxAppendBytes.
type Append struct {
	// CommandID is the client's own id of the command, which live.Failed gives back; may be empty.
	CommandID string
	Data      []byte
}

// Commit ends the user's utterance here and now: push-to-talk. Less than MinCommitMS of sound is
// answered by live.Failed with the cause ErrNoAudio.
type Commit struct{ CommandID string }

// Clear forgets what the user has said since the last utterance.
type Clear struct{}

// ClearOutput stops what is being said. The answer that is being said ends as cancelled.
type ClearOutput struct{}

// Configure changes the call's settings. Zero members keep what is in force.
type Configure struct {
	Input, Output audio.Format
	Detection     *Detection
	// Speed is that of the voice, 0.25 to 4.
	Speed float64
	// TextOnly has answers not spoken; nil keeps it.
	TextOnly *bool
	// Transcription is the language of the transcripts, as a BCP 47 tag; nil keeps it.
	Transcription *string
}

// Key is a key that the user has pressed on a telephone. Keys are asked as what the user says, when
// none has followed for keysWithin, or behind a #. A key interrupts the agent.
type Key struct {
	// Digit is one of audio.Keys; others are ignored.
	Digit string
}

// Press has the agent press keys of a telephone: their tones are played behind what is being said.
// An interruption does not stop them.
type Press struct {
	// Digits are audio.Keys and pauses (audio.KeyPause), at most MaxPressed; others are ignored.
	Digits string
}

// IsCommand implements live.Command.
func (Append) IsCommand() {}

// IsCommand implements live.Command.
func (Commit) IsCommand() {}

// IsCommand implements live.Command.
func (Clear) IsCommand() {}

// IsCommand implements live.Command.
func (ClearOutput) IsCommand() {}

// IsCommand implements live.Command.
func (Configure) IsCommand() {}

// IsCommand implements live.Command.
func (Key) IsCommand() {}

// IsCommand implements live.Command.
func (Press) IsCommand() {}
