package elevenlabs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
)

// Server is a running fake. Requests() returns the sentences it received, Add() appends replies.
type Server struct {
	*speechtest.SpeakingScript
	// BaseURL ends in /v1.
	BaseURL string

	// Connected gets a value for each handshake, unless the test takes none for long.
	Connected chan struct{}

	key string

	mu      sync.Mutex
	waiting map[*websocket.Conn]bool
}

// New starts a server that answers 401 to every other key; it ends with the test.
func New(t testing.TB, key string, script ...speechtest.Spoken) *Server {
	t.Helper()
	s := &Server{
		SpeakingScript: speechtest.NewScript[speechtest.SpokenRequest](script...), Connected: make(chan struct{}, maxConnected),
		key: key, waiting: map[*websocket.Conn]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/text-to-speech/{voice}/stream-input", s.stream)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL + "/v1"
	return s
}

// maxConnected is how many handshakes are counted that no test has taken.
const maxConnected = 16

// DropWaiting closes the connections on which nothing has come, as ElevenLabs does after a while.
func (s *Server) DropWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.waiting {
		_ = conn.CloseNow() // without a close frame: nobody reads at the other end
	}
}

// await notes whether a connection waits for its first message.
func (s *Server) await(conn *websocket.Conn, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waits {
		s.waiting[conn] = true
	} else {
		delete(s.waiting, conn)
	}
}

type object = map[string]any

// refuse answers in the form of ElevenLabs' errors.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object{"detail": object{"status": code, "message": message}})
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if key := r.Header.Get("Xi-Api-Key"); key != s.key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Invalid API key: "+key)
		return
	}
	query := r.URL.Query()
	if !strings.HasPrefix(query.Get("output_format"), "pcm_") || query.Get("model_id") == "" {
		refuse(w, http.StatusUnprocessableEntity, "invalid_request", "This fake needs model_id and output_format=pcm_….")
		return
	}
	reply := s.Next()
	if reply.Status != 0 {
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		if reply.Body != "" {
			w.WriteHeader(reply.Status)
			_, _ = w.Write([]byte(reply.Body))
			return
		}
		refuse(w, reply.Status, "scripted", "The script says so.")
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	s.await(conn, true)
	defer s.await(conn, false)
	select {
	case s.Connected <- struct{}{}:
	default:
	}
	request := speechtest.SpokenRequest{
		Header: r.Header, Model: query.Get("model_id"), Voice: r.PathValue("voice"), Language: query.Get("language_code"), Values: query,
	}
	c := &connection{server: s, conn: conn, reply: reply, request: request}
	if c.listen(r.Context()) {
		c.speak(r.Context())
	}
}

// connection is one sentence.
type connection struct {
	server  *Server
	conn    *websocket.Conn
	reply   speechtest.Spoken
	request speechtest.SpokenRequest
}

// listen reads the three messages, and reports whether they are as they should be.
func (c *connection) listen(ctx context.Context) bool {
	begun := false
	for {
		_, data, err := c.conn.Read(ctx)
		if err != nil {
			return false
		}
		c.server.await(c.conn, false)
		var m struct {
			Text     *string `json:"text"`
			Flush    bool    `json:"flush"`
			Settings struct {
				Speed      float64  `json:"speed"`
				Stability  *float64 `json:"stability"`
				Similarity *float64 `json:"similarity_boost"`
			} `json:"voice_settings"`
		}
		err = json.Unmarshal(data, &m)
		badSpeed := m.Settings.Speed != 0 && (m.Settings.Speed < 0.7 || m.Settings.Speed > 1.2)
		switch {
		case err != nil || m.Text == nil || badSpeed || !begun && *m.Text != " ":
			c.fail(ctx, "invalid_message")
			return false
		case begun && *m.Text != "" && (!strings.HasSuffix(*m.Text, " ") || !m.Flush):
			c.fail(ctx, "would_wait_for_more_text")
			return false
		case !begun:
			begun = true
			c.request.Speed, c.request.Stability, c.request.Similarity = m.Settings.Speed, m.Settings.Stability, m.Settings.Similarity
		case *m.Text != "":
			c.request.Text += strings.TrimSuffix(*m.Text, " ")
		default:
			c.server.Record(c.request)
			return true
		}
	}
}

// fail reports an error and closes, as ElevenLabs does.
func (c *connection) fail(ctx context.Context, code string) {
	c.send(ctx, object{"message": "Something went wrong for " + c.server.key, "error": code, "code": 1008})
	_ = c.conn.Close(websocket.StatusPolicyViolation, "Something went wrong for "+c.server.key)
}

func (c *connection) speak(ctx context.Context) {
	for i, piece := range c.reply.Pieces {
		if !speechtest.Pass(ctx, c.reply.Gate) {
			return
		}
		m := object{"audio": base64.StdEncoding.EncodeToString(piece), "isFinal": nil, "alignment": nil}
		if i < len(c.reply.Words) {
			m["alignment"] = aligned(c.reply.Words[i])
		}
		c.send(ctx, m)
	}
	switch c.reply.End {
	case speechtest.EndSilent:
		<-ctx.Done()
		return
	case speechtest.EndCut:
		return // the deferred CloseNow cuts the connection
	case speechtest.EndError:
		c.fail(ctx, cmp.Or(c.reply.Code, "quota_exceeded"))
		return
	case speechtest.EndClosed:
		_ = c.conn.Close(websocket.StatusInternalError, "Something went wrong for "+c.server.key)
		return
	case speechtest.EndGarbage:
		_ = c.conn.Write(ctx, websocket.MessageText, []byte("<html>"))
	case speechtest.EndEndless:
		c.send(ctx, object{"audio": strings.Repeat("AAAA", 2<<20)})
	}
	c.send(ctx, object{"audio": nil, "isFinal": true, "alignment": nil})
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
}

// aligned are words as characters with times. A word that does not begin at 0 has a space before
// it.
func aligned(words []speech.Word) object {
	chars, starts, durations := []string{}, []int{}, []int{}
	add := func(char string, start, duration int) {
		chars, starts, durations = append(chars, char), append(starts, start), append(durations, duration)
	}
	last := 0
	for i, w := range words {
		if i > 0 {
			add(" ", last, w.StartMS-last)
		}
		letters := []rune(w.Text)
		for n, letter := range letters {
			from := w.StartMS + (w.EndMS-w.StartMS)*n/len(letters)
			to := w.StartMS + (w.EndMS-w.StartMS)*(n+1)/len(letters)
			add(string(letter), from, to-from)
		}
		last = w.EndMS
	}
	return object{"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}
}

func (c *connection) send(ctx context.Context, v object) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	_ = c.conn.Write(ctx, websocket.MessageText, text) // a client that is gone gets nothing more
}
