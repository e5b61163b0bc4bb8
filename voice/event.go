package voice

import (
	"errors"

	"parlance.dev/parlance/fault"
)

// ErrNoAudio is the cause of live.Failed for a Commit without enough audio.
var ErrNoAudio = errors.New("no audio to commit")

// SpeechStarted says that the user speaks. While the agent spoke it comes only when that is an
// interruption: clients stop playing at once.
type SpeechStarted struct {
	// ItemID is the item that the utterance will be, if it becomes one.
	ItemID string
	// AtMS is where the utterance begins, in the audio that was appended.
	AtMS int
}

// SpeechStopped says that the user has stopped speaking. The utterance is committed.
type SpeechStopped struct {
	ItemID string
	AtMS   int
}

// SpeechDropped says that what began with a SpeechStarted was no utterance, for a reason such as
// "no words". It may follow its SpeechStopped.
type SpeechDropped struct {
	ItemID, Reason string
}

// InputCleared answers Clear.
type InputCleared struct{}

// Hearing is what was understood so far of what the user is saying.
type Hearing struct {
	ItemID, Text string
}

// Transcribed says what was said in an item. It follows the item's live.ItemAdded.
type Transcribed struct {
	ItemID, Text string
	// Seconds of audio that were transcribed.
	Seconds float64
}

// NotTranscribed says why the words of an item are not known. It follows the item's live.ItemAdded.
type NotTranscribed struct {
	ItemID string
	Err    *fault.Error
}

// Audio is a piece of an answer's sound, in the call's output format.
type Audio struct {
	ResponseID, ItemID string
	Data               []byte
}

// Filler says that the message that follows in an answer is none of the answer's: it is said
// because the user waits.
type Filler struct {
	ResponseID, ItemID string
}

// Written says that an answer's text is complete. Its sound may go on, until its ResponseDone.
type Written struct {
	ResponseID, Text string
}

// Interrupted says that what is being said is not said to its end. The client drops what it has not
// played.
type Interrupted struct {
	// ResponseID is empty when a key has stopped whatever the client plays.
	ResponseID string
}

// Timing says how long the beginning of an answer took, in milliseconds from the end of the user's
// speech. It comes once, behind the first Audio. Members that are not known are 0.
type Timing struct {
	ResponseID                                                     string
	EndpointMS, TranscriptMS, FirstTokenMS, FirstAudioMS, SpeechMS int
}

// SilenceNoted says that nobody has spoken for as long as the settings allow.
type SilenceNoted struct {
	FromMS, ToMS int
}

// IsEvent implements turns.Event.
func (SpeechStarted) IsEvent() {}

// IsEvent implements turns.Event.
func (SpeechStopped) IsEvent() {}

// IsEvent implements turns.Event.
func (SpeechDropped) IsEvent() {}

// IsEvent implements turns.Event.
func (InputCleared) IsEvent() {}

// IsEvent implements turns.Event.
func (Hearing) IsEvent() {}

// IsEvent implements turns.Event.
func (Transcribed) IsEvent() {}

// IsEvent implements turns.Event.
func (NotTranscribed) IsEvent() {}

// IsEvent implements turns.Event.
func (Audio) IsEvent() {}

// IsEvent implements turns.Event.
func (Filler) IsEvent() {}

// IsEvent implements turns.Event.
func (Written) IsEvent() {}

// IsEvent implements turns.Event.
func (Interrupted) IsEvent() {}

// IsEvent implements turns.Event.
func (Timing) IsEvent() {}

// IsEvent implements turns.Event.
func (SilenceNoted) IsEvent() {}
