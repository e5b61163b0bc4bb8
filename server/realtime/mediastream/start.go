package mediastream

import (
	"encoding/json"
	"errors"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/carrier"
)

// Format is how sound is written on a media socket.
var Format = audio.Format{Encoding: audio.MuLaw, RateHz: 8000}

// The parameters of a start with which a socket is admitted.
const (
	ParameterSession = "session_id"
	ParameterToken   = "token"
	// ParameterNote says why a caller comes back to the agent: NoteTransferFailed.
	ParameterNote = "note"
)

// NoteTransferFailed is the note of a caller who was to be connected with a person, and was not.
const NoteTransferFailed = "transfer_failed"

// transferFailed is what the model is told then.
const transferFailed = "Nobody could be reached to take over the call: the caller is back with you. Say so, and go on without them."

// Start is what the carrier says of a stream.
type Start struct {
	// StreamSID is the carrier's id of the stream, which goes into each message.
	StreamSID string
	// SessionID and Token are the parameters that our answer to the carrier's webhook has set.
	SessionID, Token string
	// Note is why the caller comes back; empty: the call begins.
	Note string
}

// Errors of ReadStart.
var (
	// ErrNotStart: the message is none of those that begin a stream.
	ErrNotStart = errors.New("neither connected nor start")
	// ErrFormat: the stream's sound is not in Format.
	ErrFormat = errors.New("the stream is not µ-law of 8,000 Hz in one channel")
)

// ReadStart reads one of the messages that begin a stream; more says that the start is still to
// come. Errors: ErrNotStart, ErrFormat.
func ReadStart(data []byte) (start Start, more bool, err error) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return Start{}, false, ErrNotStart
	}
	switch m.Event {
	case eventConnected:
		return Start{}, true, nil
	case eventStart:
	default:
		return Start{}, false, ErrNotStart
	}
	if f := m.Start.MediaFormat; f.Encoding != "audio/x-mulaw" || f.SampleRate != "8000" || f.Channels != "1" {
		return Start{}, false, ErrFormat
	}
	return Start{
		StreamSID: m.Start.StreamSID, SessionID: m.Start.Parameters[ParameterSession],
		Token: carrier.JoinPieces(m.Start.Parameters, ParameterToken), Note: m.Start.Parameters[ParameterNote],
	}, false, nil
}
