package deepgram

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/internal/socket"
)

// maxTextBytes and maxWords bound the transcript of an utterance.
const (
	maxTextBytes = 256 << 10
	maxWords     = 20_000
)

var errTooMuchText = errors.New("more text than anybody says in one utterance")

// wireFormat is what the query asks for.
var wireFormat = audio.Format{Encoding: audio.PCM16, RateHz: speech.HearingRate}

// stream is one utterance.
type stream struct {
	transcriber *Transcriber
	conn        *socket.Conn
	// opened is the context of Open, which ends the stream.
	opened      context.Context //nolint:containedctx // a stream belongs to the call that opened it
	partialFunc func(speech.Partial)
	separator   string
	written     bool

	mu        sync.Mutex
	finishing bool
	// heard has the text of the final parts only.
	heard speech.Transcript
	parts []string
	// heardMS is how much audio heard covers.
	heardMS int
}

// message is what Deepgram sends, as far as it is read.
type message struct {
	Type        string  `json:"type"`
	Start       float64 `json:"start"`
	Duration    float64 `json:"duration"`
	IsFinal     bool    `json:"is_final"`
	SpeechFinal bool    `json:"speech_final"`
	// Channel is an object in Results and a list in UtteranceEnd.
	Channel json.RawMessage `json:"channel"`
	// Variant and Code are the code of an Error.
	Variant string `json:"variant"`
	Code    string `json:"err_code"`
}

type channel struct {
	Alternatives []struct {
		Transcript string   `json:"transcript"`
		Languages  []string `json:"languages"`
		Words      []struct {
			Word       string  `json:"word"`
			Punctuated string  `json:"punctuated_word"`
			Start      float64 `json:"start"`
			End        float64 `json:"end"`
		} `json:"words"`
	} `json:"alternatives"`
}

// Write implements speech.Stream.
func (s *stream) Write(samples []int16) error {
	if len(samples) == 0 {
		return nil // an empty message would end the stream
	}
	s.written = true
	if err := s.conn.Send(socket.Message{Data: wireFormat.AppendEncode(nil, samples)}); err != nil {
		return s.failed(s.opened, err)
	}
	return nil
}

// Finish implements speech.Stream.
func (s *stream) Finish(ctx context.Context) (speech.Transcript, error) {
	defer s.conn.Close()
	if !s.written {
		return speech.Transcript{Provider: s.transcriber.Name()}, nil
	}
	s.mu.Lock()
	s.finishing = true
	s.mu.Unlock()
	within, cancel := s.transcriber.config.Timeouts.AwaitTranscript(ctx)
	defer cancel()
	if err := s.conn.Send(socket.Message{Data: []byte(`{"type":"CloseStream"}`), Text: true}); err != nil {
		return speech.Transcript{}, s.failed(within, err)
	}
	select {
	case <-s.conn.Done():
	case <-within.Done():
		return speech.Transcript{}, s.failed(within, within.Err())
	}
	if err := s.conn.Err(); err != nil && !socket.IsNormal(err) {
		return speech.Transcript{}, s.failed(within, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard.Text, s.heard.Provider = s.text(""), s.transcriber.Name()
	return s.heard, nil
}

// Close implements speech.Stream.
func (s *stream) Close() { s.conn.Close() }

// failed is the error for a connection that ended. ctx is that of the call.
func (s *stream) failed(ctx context.Context, err error) error {
	if s.opened.Err() != nil {
		ctx = s.opened
	}
	return s.transcriber.party.Failed(ctx, s.conn.Opened(), err)
}

// receive handles a message of the server. It runs on a goroutine of the connection.
func (s *stream) receive(data []byte) (complete bool, err error) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return false, s.transcriber.party.Unreadable(err, "transcripts")
	}
	switch m.Type {
	case "Results":
		return false, s.results(m)
	case "UtteranceEnd":
		s.mu.Lock()
		partial := speech.Partial{Text: s.text(""), Final: true, EndOfSpeech: true, HeardMS: s.heardMS}
		s.mu.Unlock()
		s.tell(partial)
	case "Metadata": // the last message after CloseStream
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.finishing, nil
	case "Error":
		return false, s.transcriber.party.Reported(m.Variant+m.Code, false)
	}
	return false, nil
}

func (s *stream) results(m message) error {
	var c channel
	if err := json.Unmarshal(m.Channel, &c); err != nil || len(c.Alternatives) == 0 {
		return s.transcriber.party.Unreadable(err, "transcripts")
	}
	best := c.Alternatives[0]
	best.Transcript = strings.TrimSpace(best.Transcript)
	partial := speech.Partial{Final: m.IsFinal, EndOfSpeech: m.SpeechFinal, HeardMS: milliseconds(m.Start + m.Duration)}
	s.mu.Lock()
	if !m.IsFinal {
		partial.Text = s.text(best.Transcript)
		s.mu.Unlock()
		s.tell(partial)
		return nil
	}
	s.heardMS = partial.HeardMS
	if best.Transcript != "" {
		s.parts = append(s.parts, best.Transcript)
	}
	for _, w := range best.Words {
		text := w.Punctuated
		if text == "" {
			text = w.Word
		}
		s.heard.Words = append(s.heard.Words, speech.Word{Text: text, StartMS: milliseconds(w.Start), EndMS: milliseconds(w.End)})
	}
	if len(best.Languages) > 0 && s.heard.Language == "" {
		s.heard.Language = best.Languages[0]
	}
	partial.Text = s.text("")
	tooMuch := len(partial.Text) > maxTextBytes || len(s.heard.Words) > maxWords
	s.mu.Unlock()
	if tooMuch {
		return s.transcriber.party.Unreadable(errTooMuchText, "a transcript")
	}
	s.tell(partial)
	return nil
}

// text is the final parts and what follows them. The lock is held.
func (s *stream) text(more string) string {
	parts := s.parts
	if more != "" {
		parts = append(parts[:len(parts):len(parts)], more)
	}
	return strings.Join(parts, s.separator)
}

func (s *stream) tell(p speech.Partial) {
	if s.partialFunc != nil {
		s.partialFunc(p)
	}
}

func milliseconds(seconds float64) int {
	if math.IsNaN(seconds) || seconds < 0 || seconds > speech.MaxUtterance.Seconds() {
		return 0
	}
	return int(math.Round(seconds * 1000))
}
