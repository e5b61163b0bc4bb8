package chat_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/coder/websocket"

	"parlance.dev/parlance/cli/chat"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/sound"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/audio"
)

// voiceServer is an installation whose socket a test speaks on. It has the clock of the client, and
// advances it when the client has done what there is to do.
type voiceServer struct {
	talker
	t      *testing.T
	where  client.Installation
	dir    string
	conns  chan *websocket.Conn
	conn   *websocket.Conn
	ticks  chan time.Time
	ticked sync.Mutex
	now    time.Time

	// The client's events, in their order, without its sound; and its sound.
	mu       sync.Mutex
	arrived  *sync.Cond
	received []map[string]any
	heard    []int16
	closed   websocket.StatusCode

	out, errs syncBuffer
	done      chan error
	refusal   int // status of the handshake; 0 accepts
}

// syncBuffer is a buffer that is written while it is read.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func (s *voiceServer) CreateSession(_ context.Context, req *parlancev1.CreateSessionRequest) (*parlancev1.CreateSessionResponse, error) {
	if req.GetAgentId() != "agt_1" || req.GetModality() != "voice" {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("no voice session is asked for"))
	}
	return &parlancev1.CreateSessionResponse{Id: "ses_1", WsUrl: "ws" + strings.TrimPrefix(s.where.Base, "http") + "/voice?token=t"}, nil
}

// begun is when the clock of a test begins.
var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newVoiceServer(t *testing.T) *voiceServer {
	t.Helper()
	s := &voiceServer{
		t: t, ticks: make(chan time.Time), now: begun, conns: make(chan *websocket.Conn, 1), done: make(chan error, 1),
	}
	s.arrived = sync.NewCond(&s.mu)
	mux := http.NewServeMux()
	mux.Handle(parlancev1connect.NewSessionServiceHandler(s))
	mux.Handle(parlancev1connect.NewAgentServiceHandler(s))
	mux.HandleFunc("/voice", func(w http.ResponseWriter, r *http.Request) {
		if s.refusal != 0 {
			w.WriteHeader(s.refusal)
			_, _ = io.WriteString(w, `{"detail": "This server has no room."}`)
			return
		}
		if conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}}); err == nil {
			s.conns <- conn
		}
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.where = client.Installation{Base: srv.URL, APIKey: "prl_1", AgentID: "agt_1", WorkspaceID: "ws_1"}
	s.dir = t.TempDir()
	env := command.EnvBaseURL + "=" + srv.URL + "/v1\n" + command.EnvAPIKey + "=prl_1\n" + command.EnvAgent + "=agt_1\n"
	if err := os.WriteFile(filepath.Join(s.dir, command.EnvFile), []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// start begins the conversation, takes the client's socket and says that the session was created.
func (s *voiceServer) start(test chat.VoiceTest) {
	s.t.Helper()
	test.Ticks, test.Out, test.Err = s.ticks, &s.out, &s.errs
	test.Now = func() time.Time {
		s.ticked.Lock()
		defer s.ticked.Unlock()
		return s.now
	}
	if test.In == nil {
		test.In = strings.NewReader("")
	}
	go func() { s.done <- chat.TalkBy(s.t.Context(), s.where, test) }()
	s.accept()
	s.say(`{"type":"session.created","session":{}}`)
}

// accept takes the client's socket.
func (s *voiceServer) accept() {
	s.t.Helper()
	select {
	case s.conn = <-s.conns:
	case err := <-s.done:
		s.t.Fatalf("the conversation ended before it began: %v", err)
	}
	go s.read(s.conn)
	s.wait(func() bool { return len(s.received) > 0 })
}

// read takes the client's events.
func (s *voiceServer) read(conn *websocket.Conn) {
	conn.SetReadLimit(1 << 20)
	for {
		_, text, err := conn.Read(context.Background())
		s.mu.Lock()
		if err != nil {
			s.closed = max(websocket.CloseStatus(err), 1)
			s.arrived.Broadcast()
			s.mu.Unlock()
			return
		}
		var event map[string]any
		if err := json.Unmarshal(text, &event); err != nil {
			s.t.Errorf("%v: %s", err, text)
		}
		if encoded, ok := event["audio"].(string); ok && event["type"] == "input_audio_buffer.append" {
			sound, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				s.t.Error(err)
			}
			decoder := audio.Decoder{Format: audio.Default}
			s.heard = decoder.AppendDecode(s.heard, sound)
		} else {
			s.received = append(s.received, event)
		}
		s.arrived.Broadcast()
		s.mu.Unlock()
	}
}

// wait waits for a condition of what arrived.
func (s *voiceServer) wait(condition func() bool) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !condition() {
		if s.closed != 0 {
			s.t.Fatalf("the client is gone: %v\n%s%s", <-s.done, s.out.String(), s.errs.String())
		}
		s.arrived.Wait()
	}
}

// say sends events, and returns when the client has taken them.
func (s *voiceServer) say(events ...string) {
	s.t.Helper()
	for _, event := range events {
		if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(event)); err != nil {
			s.t.Fatal(err)
		}
	}
	// The client's reader passes on each event before it reads the next, and the answer to a ping
	// comes after them. A conversation that ends meanwhile answers none.
	_ = s.conn.Ping(s.t.Context())
}

// advance lets time pass. With hearing it waits until the client has sent as much sound.
func (s *voiceServer) advance(d time.Duration, hearing bool) {
	s.t.Helper()
	for ; d > 0; d -= 20 * time.Millisecond {
		want := len(s.heard) + sound.RateHz/50
		if !s.tick() {
			s.t.Fatalf("the conversation has ended\n%s%s", s.out.String(), s.errs.String())
		}
		if hearing {
			s.wait(func() bool { return len(s.heard) >= want })
		}
	}
}

// tick lets 20 ms pass, and reports false when the conversation has ended. The client's clock is
// set when it has taken the tick, so that events before it happened before it.
func (s *voiceServer) tick() bool {
	next := s.now.Add(20 * time.Millisecond)
	select {
	case s.ticks <- next:
		s.ticked.Lock()
		defer s.ticked.Unlock()
		s.now = next
		return true
	case err := <-s.done:
		s.done <- err
		return false
	}
}

// finish lets time pass until the conversation ends, and returns its error.
func (s *voiceServer) finish() error {
	for s.tick() {
	}
	return <-s.done
}

// wantHungUp checks that the client has ended the session and closed the socket.
func (s *voiceServer) wantHungUp() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closed == 0 {
		s.arrived.Wait()
	}
	if len(s.ended) != 1 || s.ended[0] != "ses_1 completed" || s.closed != websocket.StatusNormalClosure {
		s.t.Errorf("ended %v, closed with %d", s.ended, s.closed)
	}
}

// passed is how much time has passed.
func (s *voiceServer) passed() time.Duration { return s.now.Sub(begun) }

// wantSent returns the client's first event of a type.
func (s *voiceServer) wantSent(kind string) map[string]any {
	s.t.Helper()
	var found map[string]any
	s.wait(func() bool {
		for _, event := range s.received {
			if event["type"] == kind {
				found = event
				return true
			}
		}
		return false
	})
	return found
}

// kinds are the types of the client's events.
func (s *voiceServer) kinds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kinds []string
	for _, event := range s.received {
		kind, _ := event["type"].(string)
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}

// shows fails the test unless texts were printed.
func (s *voiceServer) shows(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if shown := s.out.String() + s.errs.String(); !strings.Contains(shown, text) {
			s.t.Errorf("the output lacks %q:\n%s", text, shown)
		}
	}
}

// voiceTone is a tone at the protocol's rate.
func voiceTone(d time.Duration) []int16 {
	samples := make([]int16, audio.Samples(d, sound.RateHz))
	for i := range samples {
		samples[i] = int16(10_000 * math.Sin(2*math.Pi*440*float64(i)/sound.RateHz))
	}
	return samples
}

// speech is an event with sound of an item.
func speech(response, item string, d time.Duration) string {
	encoded := base64.StdEncoding.EncodeToString(audio.Default.AppendEncode(nil, voiceTone(d)))
	return `{"type":"response.output_audio.delta","response_id":"` + response + `","item_id":"` + item + `","delta":"` + encoded + `"}`
}

// words is an event with words of an item.
func words(response, item, text string) string {
	return `{"type":"response.output_audio_transcript.delta","response_id":"` + response + `","item_id":"` + item + `","delta":"` + text + `"}`
}

func created(response string) string {
	return `{"type":"response.created","response":{"id":"` + response + `"}}`
}

func done(response string) string {
	return `{"type":"response.done","response":{"id":"` + response + `","status":"completed"}}`
}

// quiet is a microphone that hears nothing.
type quiet struct{ closed chan struct{} }

func (q quiet) Read(due int) ([]int16, error) { return make([]int16, due), nil }

func (q quiet) Close() error { close(q.closed); return nil }

func newQuiet() quiet { return quiet{make(chan struct{})} }

// voiceFile is a WAV file with a tone.
func voiceFile(t *testing.T, d time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "question.wav")
	if err := os.WriteFile(path, audio.AppendWAV(nil, audio.Default, 1, voiceTone(d)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readVoice reads a WAV file.
func readVoice(t *testing.T, path string) []int16 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	samples, rateHz, err := audio.ReadWAV(file, 1<<26)
	if err != nil || rateHz != sound.RateHz {
		t.Fatalf("%d Hz, %v", rateHz, err)
	}
	return samples
}
