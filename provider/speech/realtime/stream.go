package realtime

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/internal/socket"
)

// maxTextBytes bounds the transcript of an utterance.
const maxTextBytes = 256 << 10

var errTooMuchText = errors.New("more text than anybody says in one utterance")

// stream is one utterance.
type stream struct {
	transcriber *Transcriber
	conn        *socket.Conn
	// opened is the context of Open, which ends the stream.
	opened      context.Context //nolint:containedctx // a stream belongs to the call that opened it
	partialFunc func(speech.Partial)
	resampler   *audio.Resampler

	mu        sync.Mutex
	samples   int // that were written
	committed bool
	// parts are items that are complete, delta is the text of the one that is not.
	parts []string
	delta strings.Builder
}

// event is what the server sends, as far as it is read.
type event struct {
	Type       string `json:"type"`
	Delta      string `json:"delta"`
	Transcript string `json:"transcript"`
	Error      struct {
		Type string `json:"type"`
		Code string `json:"code"`
	} `json:"error"`
}

// Write implements speech.Stream.
func (s *stream) Write(samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	s.mu.Lock()
	s.samples += len(samples)
	s.mu.Unlock()
	return s.append(s.resampler.AppendResample(nil, samples))
}

// append sends samples at wireRate.
func (s *stream) append(samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	encoded := base64.StdEncoding.EncodeToString(wireFormat.AppendEncode(nil, samples))
	return s.send(`{"type":"input_audio_buffer.append","audio":"` + encoded + `"}`)
}

func (s *stream) send(text string) error {
	if err := s.conn.Send(socket.Message{Data: []byte(text), Text: true}); err != nil {
		return s.failed(s.opened, err)
	}
	return nil
}

// Finish implements speech.Stream.
func (s *stream) Finish(ctx context.Context) (speech.Transcript, error) {
	defer s.conn.Close()
	s.mu.Lock()
	s.committed = true
	silent := s.samples == 0
	s.mu.Unlock()
	if silent {
		return speech.Transcript{Provider: s.transcriber.Name()}, nil
	}
	within, cancel := s.transcriber.config.Timeouts.AwaitTranscript(ctx)
	defer cancel()
	if err := s.append(s.resampler.AppendFlush(nil)); err != nil {
		return speech.Transcript{}, err
	}
	if err := s.send(`{"type":"input_audio_buffer.commit"}`); err != nil {
		return speech.Transcript{}, err
	}
	select {
	case <-s.conn.Done():
	case <-within.Done():
		return speech.Transcript{}, s.failed(within, within.Err())
	}
	if err := s.conn.Err(); err != nil {
		return speech.Transcript{}, s.failed(within, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return speech.Transcript{Text: strings.TrimSpace(s.text()), Provider: s.transcriber.Name()}, nil
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

// receive handles an event of the server. It runs on a goroutine of the connection.
func (s *stream) receive(data []byte) (complete bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, s.transcriber.party.Unreadable(errors.New("a message that is not JSON"), "transcripts")
	}
	switch e.Type {
	case "conversation.item.input_audio_transcription.delta":
		return false, s.add(e.Delta)
	case "conversation.item.input_audio_transcription.completed":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.delta.Reset()
		if text := strings.TrimSpace(e.Transcript); text != "" {
			s.parts = append(s.parts, text)
		}
		return s.committed, nil
	case "conversation.item.input_audio_transcription.failed", "error":
		if e.Error.Code == "input_audio_buffer_commit_empty" {
			return true, nil // less than 100 ms are left, in which nobody says a word
		}
		overloaded := e.Error.Code == "rate_limit_exceeded" || e.Error.Type == "rate_limit_error"
		return false, s.transcriber.party.Reported(cmp.Or(e.Error.Code, e.Error.Type), overloaded)
	}
	return false, nil
}

// add adds to the text of the item that is not complete.
func (s *stream) add(delta string) error {
	s.mu.Lock()
	s.delta.WriteString(delta)
	partial := speech.Partial{Text: strings.TrimSpace(s.text()), HeardMS: s.samples * 1000 / speech.HearingRate}
	s.mu.Unlock()
	if len(partial.Text) > maxTextBytes {
		return s.transcriber.party.Unreadable(errTooMuchText, "a transcript")
	}
	if s.partialFunc != nil {
		s.partialFunc(partial)
	}
	return nil
}

// text is all that was heard. The lock is held.
func (s *stream) text() string {
	text := strings.Join(s.parts, " ")
	if text != "" && s.delta.Len() > 0 {
		text += " "
	}
	return text + s.delta.String()
}
