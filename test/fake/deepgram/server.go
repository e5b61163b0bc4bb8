package deepgram

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
)

// Server is a running fake. Requests() returns the utterances it received, Add() appends replies.
type Server struct {
	*speechtest.HearingScript
	// BaseURL ends in /v1.
	BaseURL string
	// KeptAlive gets a value for each KeepAlive, unless the test does not take it.
	KeptAlive chan struct{}

	key string
}

// New starts a server that answers 401 to every other key; it ends with the test.
func New(t testing.TB, key string, script ...speechtest.Heard) *Server {
	t.Helper()
	s := &Server{
		HearingScript: speechtest.NewScript[speechtest.HeardRequest](script...), key: key, KeptAlive: make(chan struct{}, 1),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/listen", s.listen)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL + "/v1"
	return s
}

type object = map[string]any

// refuse answers in the form of Deepgram's errors.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Dg-Error", message)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"err_code": code, "err_msg": message, "request_id": "fake"})
}

func (s *Server) listen(w http.ResponseWriter, r *http.Request) {
	if key := r.Header.Get("Authorization"); key != "Token "+s.key {
		refuse(w, http.StatusUnauthorized, "INVALID_AUTH", "Invalid credentials: "+key)
		return
	}
	query := r.URL.Query()
	if problem := problemOf(query.Get("encoding"), query.Get("sample_rate"), query.Get("model"), query["keyterm"]); problem != "" {
		refuse(w, http.StatusBadRequest, "INVALID_QUERY_PARAMETER", problem)
		return
	}
	reply := s.Next()
	if !speechtest.Pass(r.Context(), reply.Gate) {
		return
	}
	if reply.Status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		if reply.Body != "" {
			w.WriteHeader(reply.Status)
			_, _ = w.Write([]byte(reply.Body))
			return
		}
		refuse(w, reply.Status, "SCRIPTED", "The script says so.")
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(16 << 20)
	rate, _ := strconv.Atoi(query.Get("sample_rate"))
	u := &utterance{server: s, conn: conn, reply: reply, request: speechtest.HeardRequest{
		Header: r.Header, Rate: rate, Model: query.Get("model"), Language: query.Get("language"),
		Hints: append(query["keyterm"], query["keywords"]...), Values: query,
	}}
	u.run(r.Context())
}

// problemOf is what Deepgram would refuse.
func problemOf(encoding, rate, model string, keyterms []string) string {
	switch {
	case encoding != "linear16" || rate == "":
		return "This fake needs encoding=linear16 and sample_rate."
	case len(keyterms) > 0 && !strings.HasPrefix(model, "nova-3"):
		return "Keyterm Prompting is only available for Nova-3."
	}
	return ""
}

// utterance is one connection.
type utterance struct {
	server  *Server
	conn    *websocket.Conn
	reply   speechtest.Heard
	request speechtest.HeardRequest
	odd     []byte
	told    int // partials that were sent
	final   string
}

func (u *utterance) run(ctx context.Context) {
	for {
		kind, data, err := u.conn.Read(ctx)
		if err != nil {
			u.server.Record(u.request)
			return
		}
		if kind == websocket.MessageBinary {
			u.hear(ctx, data)
			continue
		}
		var control struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(data, &control) // what is no control message has no type
		switch control.Type {
		case "KeepAlive":
			u.request.KeptAlive++
			select {
			case u.server.KeptAlive <- struct{}{}:
			default:
			}
		case "CloseStream":
			u.server.Record(u.request)
			u.finish(ctx)
			return
		default:
			_ = u.conn.Close(websocket.StatusPolicyViolation, "DATA-0000")
			return
		}
	}
}

// hear takes samples and sends the partials that are due.
func (u *utterance) hear(ctx context.Context, data []byte) {
	if len(data) == 0 { // the old way to end a stream
		u.finish(ctx)
		return
	}
	data = append(u.odd, data...)
	for len(data) >= 2 {
		u.request.Samples = append(u.request.Samples, int16(uint16(data[0])|uint16(data[1])<<8))
		data = data[2:]
	}
	u.odd = append([]byte(nil), data...)
	for u.told < len(u.reply.Partials) {
		partial := u.reply.Partials[u.told]
		if len(u.request.Samples)*1000/u.request.Rate < partial.HeardMS {
			return
		}
		u.told++
		// Deepgram sends each part alone; Partial.Text is all parts.
		text := strings.TrimSpace(strings.TrimPrefix(partial.Text, u.final))
		u.results(ctx, text, nil, partial)
		if partial.Final {
			u.final = partial.Text
		}
	}
}

func (u *utterance) results(ctx context.Context, text string, words []object, p speech.Partial) {
	alternative := object{"transcript": text, "confidence": 0.99, "words": words}
	if u.reply.Language != "" {
		alternative["languages"] = []string{u.reply.Language}
	}
	u.send(ctx, object{
		"type": "Results", "channel_index": []int{0, 1}, "start": 0.0, "duration": float64(p.HeardMS) / 1000,
		"is_final": p.Final, "speech_final": p.EndOfSpeech, "from_finalize": false,
		"channel":  object{"alternatives": []object{alternative}},
		"metadata": object{"request_id": "fake", "model_info": object{"name": u.request.Model}},
	})
}

// finish sends what is left, a summary, and closes.
func (u *utterance) finish(ctx context.Context) {
	rest := strings.TrimSpace(strings.TrimPrefix(u.reply.Text, u.final))
	heard := speech.Partial{Final: true, HeardMS: len(u.request.Samples) * 1000 / u.request.Rate}
	switch u.reply.End {
	case speechtest.EndSilent:
		<-ctx.Done()
		return
	case speechtest.EndCut:
		u.results(ctx, rest, nil, heard)
		return // the deferred CloseNow cuts the connection
	case speechtest.EndError:
		u.send(ctx, object{"type": "Error", "variant": "INTERNAL", "description": "Something went wrong for " + u.server.key})
		_ = u.conn.Close(websocket.StatusInternalError, "NET-0000 for "+u.server.key)
		return
	case speechtest.EndClosed:
		_ = u.conn.Close(websocket.StatusInternalError, "Something went wrong for "+u.server.key)
		return
	case speechtest.EndGarbage:
		_ = u.conn.Write(ctx, websocket.MessageText, []byte("<html>"))
	case speechtest.EndEndless:
		u.results(ctx, strings.Repeat("and ", 1<<20), nil, heard)
	}
	var words []object
	for _, w := range u.reply.Words {
		words = append(words, object{
			"word": strings.ToLower(strings.Trim(w.Text, ".,?!")), "punctuated_word": w.Text,
			"start": float64(w.StartMS) / 1000, "end": float64(w.EndMS) / 1000, "confidence": 0.98,
		})
	}
	u.results(ctx, rest, words, heard)
	u.send(ctx, object{"type": "Metadata", "request_id": "fake", "duration": float64(heard.HeardMS) / 1000, "channels": 1})
	_ = u.conn.Close(websocket.StatusNormalClosure, "")
}

func (u *utterance) send(ctx context.Context, v object) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	_ = u.conn.Write(ctx, websocket.MessageText, text) // a client that is gone gets nothing more
}
