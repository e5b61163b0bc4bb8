package speechopenai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"parlance.dev/parlance/provider/speech/speechtest"
)

// realtime is a transcription session of the Realtime API, one utterance a connection. Partials are
// sent as the text that they add.
func (s *Server) realtime(w http.ResponseWriter, r *http.Request) {
	if !s.admits(w, r) {
		return
	}
	if r.URL.Query().Get("intent") != "transcription" {
		refuse(w, http.StatusBadRequest, "invalid_intent", "This fake transcribes only.")
		return
	}
	reply := s.Hearing.Next()
	if !speechtest.Pass(r.Context(), reply.Gate) || refused(w, reply.Refusal) {
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(64 << 20)
	session := &session{server: s, conn: conn, reply: reply, request: speechtest.HeardRequest{Header: r.Header, Rate: wireRate}}
	session.send(r.Context(), object{"type": "session.created", "session": object{"type": "transcription"}})
	for session.handle(r.Context()) {
	}
	if !session.committed {
		s.Hearing.Record(session.request)
	}
}

const (
	// wireRate is the only rate of the API.
	wireRate = 24000
	// minCommitSamples is 100 ms.
	minCommitSamples = wireRate / 10
)

// session is one connection.
type session struct {
	server  *Server
	conn    *websocket.Conn
	reply   speechtest.Heard
	request speechtest.HeardRequest
	told    int // partials that were sent
	said    string
	// committed sessions were recorded, before the client could know.
	committed bool
}

// handle handles one event of the client, and reports whether there may be another one.
func (s *session) handle(ctx context.Context) bool {
	_, data, err := s.conn.Read(ctx)
	if err != nil {
		return false
	}
	var in struct {
		Type    string `json:"type"`
		Audio   string `json:"audio"`
		Session struct {
			Type  string `json:"type"`
			Audio struct {
				Input struct {
					Format struct {
						Type string `json:"type"`
						Rate int    `json:"rate"`
					} `json:"format"`
					Transcription struct {
						Model    string   `json:"model"`
						Language string   `json:"language"`
						Prompt   string   `json:"prompt"`
						Keywords []string `json:"keywords"`
					} `json:"transcription"`
				} `json:"input"`
			} `json:"audio"`
		} `json:"session"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return s.fail(ctx, "invalid_json")
	}
	switch in.Type {
	case "session.update":
		input := in.Session.Audio.Input
		if in.Session.Type != "transcription" || input.Format.Type != "audio/pcm" || input.Format.Rate != wireRate {
			return s.fail(ctx, "invalid_value")
		}
		s.request.Model, s.request.Language = input.Transcription.Model, input.Transcription.Language
		s.request.Hints = slices.Concat(input.Transcription.Keywords, []string{input.Transcription.Prompt})
		s.send(ctx, object{"type": "session.updated", "session": object{"type": "transcription"}})
		return true
	case "input_audio_buffer.append":
		audio, err := base64.StdEncoding.DecodeString(in.Audio)
		if err != nil || len(audio)%2 != 0 {
			return s.fail(ctx, "invalid_audio")
		}
		s.hear(ctx, audio)
		return true
	case "input_audio_buffer.commit":
		s.commit(ctx)
		return false
	}
	return s.fail(ctx, "unknown_event")
}

func (s *session) hear(ctx context.Context, audio []byte) {
	for ; len(audio) > 0; audio = audio[2:] {
		s.request.Samples = append(s.request.Samples, int16(uint16(audio[0])|uint16(audio[1])<<8))
	}
	for s.told < len(s.reply.Partials) && len(s.request.Samples)*1000/wireRate >= s.reply.Partials[s.told].HeardMS {
		text := s.reply.Partials[s.told].Text
		s.told++
		s.delta(ctx, strings.TrimPrefix(text, s.said))
		s.said = text
	}
}

func (s *session) delta(ctx context.Context, text string) {
	s.send(ctx, object{
		"type": "conversation.item.input_audio_transcription.delta", "item_id": "item_1", "content_index": 0, "delta": text,
	})
}

func (s *session) commit(ctx context.Context) {
	s.committed = true
	s.server.Hearing.Record(s.request)
	if len(s.request.Samples) < minCommitSamples {
		s.fail(ctx, "input_audio_buffer_commit_empty")
		return
	}
	s.send(ctx, object{"type": "input_audio_buffer.committed", "item_id": "item_1", "previous_item_id": nil})
	switch s.reply.End {
	case speechtest.EndSilent:
		<-ctx.Done()
		return
	case speechtest.EndCut:
		return // the deferred CloseNow cuts the connection
	case speechtest.EndClosed:
		_ = s.conn.Close(websocket.StatusInternalError, "Something went wrong for "+s.server.key)
		return
	case speechtest.EndError:
		s.fail(ctx, "server_error")
		return
	case speechtest.EndGarbage:
		_ = s.conn.Write(ctx, websocket.MessageText, []byte("<html>"))
	case speechtest.EndEndless:
		s.delta(ctx, strings.Repeat("and ", 1<<20))
	}
	s.delta(ctx, strings.TrimPrefix(s.reply.Text, s.said))
	s.send(ctx, object{
		"type": "conversation.item.input_audio_transcription.completed", "item_id": "item_1", "content_index": 0,
		"transcript": s.reply.Text, "usage": object{"type": "duration", "seconds": len(s.request.Samples) / wireRate},
	})
	_, _, _ = s.conn.Read(ctx) // the client closes
}

// fail reports an error. The session would go on; the fake ends it.
func (s *session) fail(ctx context.Context, code string) bool {
	s.send(ctx, object{"type": "error", "event_id": "event_1", "error": object{
		"type": "invalid_request_error", "code": code, "message": "Something went wrong for " + s.server.key, "param": nil,
	}})
	_, _, _ = s.conn.Read(ctx) // the client closes
	return false
}

func (s *session) send(ctx context.Context, v object) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	_ = s.conn.Write(ctx, websocket.MessageText, text) // a client that is gone gets nothing more
}
