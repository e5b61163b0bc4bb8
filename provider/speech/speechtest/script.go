package speechtest

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"parlance.dev/parlance/provider/speech"
)

// Key is the API key that the fakes of the suite want.
const Key = "sk-suite-0123456789abcdef"

// End is how a fake ends its answer.
type End int

// The ends: as it should; with an error message; with the connection cut; never; with a message
// that is in no form of the service; with a message that is larger than anything it sends; with a
// socket closed for a reason that repeats the key (others: cut).
const (
	EndWhole End = iota
	EndError
	EndCut
	EndSilent
	EndGarbage
	EndEndless
	EndClosed
)

// Refusal is an answer that is none. Status 0 is no refusal.
type Refusal struct {
	Status     int
	RetryAfter string
	// Body replaces the service's own JSON.
	Body string
}

// Heard is what a fake transcriber does with one utterance.
type Heard struct {
	Refusal
	// Text is the transcript.
	Text     string
	Words    []speech.Word
	Language string
	NoSpeech float64
	// Partials are sent when as much audio has come as their HeardMS (services that stream).
	Partials []speech.Partial
	End      End
	// Gate, when set, is received from before the connection or request is answered.
	Gate <-chan struct{}
}

// HeardRequest is an utterance as a fake understood it.
type HeardRequest struct {
	Header   http.Header
	Samples  []int16
	Rate     int
	Model    string
	Language string
	// Hints is the text with the hints, or the hints one by one.
	Hints []string
	// Values are all parameters by name.
	Values map[string][]string
	// KeptAlive counts messages that keep a connection alive.
	KeptAlive int
}

// Spoken is what a fake synthesizer does with one sentence.
type Spoken struct {
	Refusal
	// Pieces are the bytes of the answer as they are sent: little-endian samples of 16 bits.
	Pieces [][]byte
	// Words are those of each piece, by times from its beginning (services with times).
	Words [][]speech.Word
	End   End
	// Code is the error's of EndError; empty is the service's own for a quota that is used up.
	Code string
	// Gate, when set, is received from before each piece.
	Gate <-chan struct{}
	// ContentType replaces that of the answer (services with HTTP answers).
	ContentType string
}

// SpokenRequest is a sentence as a fake understood it.
type SpokenRequest struct {
	Header       http.Header
	Model        string
	Text         string
	Voice        string
	Language     string
	Speed        float64
	Instructions string
	// Stability and Similarity are ElevenLabs' settings of a voice; nil when they were not sent.
	Stability, Similarity *float64
	// Values are the parameters of the URL.
	Values map[string][]string
}

// Script hands out replies in order and records requests. At its end, or without replies, it gives
// what Else says. It is safe for concurrent use.
type Script[Q, A any] struct {
	// Else is the reply at the end of the script. It is set before the first request; nil is the zero
	// reply.
	Else func() A

	mu       sync.Mutex
	replies  []A
	requests []Q
}

// NewScript makes a script of replies.
func NewScript[Q, A any](replies ...A) *Script[Q, A] { return &Script[Q, A]{replies: replies} }

// Next returns the next reply.
func (s *Script[Q, A]) Next() A {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		if s.Else != nil {
			return s.Else()
		}
		var none A
		return none
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

// Add appends replies.
func (s *Script[Q, A]) Add(replies ...A) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Record adds a request. Fakes record a stream when it ends.
func (s *Script[Q, A]) Record(request Q) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
}

// Requests returns what was received so far, oldest first.
func (s *Script[Q, A]) Requests() []Q {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// The scripts of both kinds of fakes.
type (
	// HearingScript is that of a fake transcriber.
	HearingScript = Script[HeardRequest, Heard]
	// SpeakingScript is that of a fake synthesizer.
	SpeakingScript = Script[SpokenRequest, Spoken]
)

// Pass waits for a gate; a nil one is open. It returns false when the caller hangs up before.
func Pass(ctx context.Context, gate <-chan struct{}) bool {
	if gate == nil {
		return true
	}
	select {
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	}
}
