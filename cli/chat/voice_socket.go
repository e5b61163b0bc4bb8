package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/cli/client"
)

const (
	// maxEventBytes is more than the server's largest event.
	maxEventBytes = 4 << 20
	// socketTimeout limits the handshake, and how long an event may take to be sent.
	socketTimeout = 15 * time.Second
)

// voiceEvent is an event of the server. Events have the members that they need.
type voiceEvent struct {
	Type       string `json:"type"`
	ItemID     string `json:"item_id"`
	ResponseID string `json:"response_id"`
	Delta      string `json:"delta"`
	Transcript string `json:"transcript"`
	// AudioEndMS is from the beginning of the sound that was sent.
	AudioEndMS int `json:"audio_end_ms"`
	Response   struct {
		ID            string `json:"id"`
		Status        string `json:"status"`
		StatusDetails struct {
			Error *voiceError `json:"error"`
		} `json:"status_details"`
	} `json:"response"`
	Item struct {
		Type      string          `json:"type"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Output    string          `json:"output"`
		Error     json.RawMessage `json:"error"`
	} `json:"item"`
	Error     *voiceError `json:"error"`
	Citations []struct {
		SourceName string  `json:"source_name"`
		Heading    string  `json:"heading"`
		PageStart  int32   `json:"page_start"`
		PageEnd    int32   `json:"page_end"`
		Similarity float64 `json:"similarity"`
	} `json:"citations"`
	serverTimes

	raw []byte
}

// voiceError is an error of the server.
type voiceError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// serverTimes are what parlance.timing says, in ms from the end of the user's speech.
type serverTimes struct {
	TranscriptMS *int `json:"transcript_ms"`
	FirstTokenMS *int `json:"first_token_ms"`
	FirstAudioMS *int `json:"first_audio_ms"`
}

// voiceSocket is the session's socket. One goroutine sends; another one reads.
type voiceSocket struct {
	conn   *websocket.Conn
	events chan voiceEvent
	// closed has the reason for which the socket has ended, once.
	closed chan error
	cancel context.CancelFunc
}

// dialVoice opens the socket. A read that is cancelled would cut the connection, so that reading
// goes on when ctx ends, until close.
func dialVoice(ctx context.Context, transport *http.Client, url string) (*voiceSocket, error) {
	within, done := context.WithTimeout(ctx, socketTimeout)
	defer done()
	//nolint:bodyclose // the package closes the body of a refusal, and a connection has none
	conn, answer, err := websocket.Dial(within, url, &websocket.DialOptions{HTTPClient: transport, Subprotocols: []string{"realtime"}})
	if err != nil {
		return nil, fmt.Errorf("open the session's WebSocket: %w", client.SocketRefusal(answer, err))
	}
	conn.SetReadLimit(maxEventBytes)
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &voiceSocket{conn: conn, events: make(chan voiceEvent), closed: make(chan error, 1), cancel: cancel}
	go func() { s.closed <- s.read(reading) }()
	return s, nil
}

func (s *voiceSocket) read(ctx context.Context) error {
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		event := voiceEvent{raw: text}
		// A member of another type than here is left out: events of other kinds are passed over.
		if err := json.Unmarshal(text, &event); err != nil && !json.Valid(text) {
			return fmt.Errorf("the server sent what is no event: %w", err)
		}
		select {
		case s.events <- event:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends an event. It does not end with ctx: a write that is cancelled would cut the
// connection, and the server would wait for the client instead of ending the session.
func (s *voiceSocket) send(ctx context.Context, event map[string]any) error {
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), socketTimeout)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("send to the session: %w", err)
	}
	return nil
}

// close hangs up and waits for the reader.
func (s *voiceSocket) close() {
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		_ = s.conn.Close(websocket.StatusNormalClosure, "") // the server may have closed it
	}()
	for open := true; open; {
		select {
		case <-s.events: // the reader may wait for us
		case <-hungUp:
			open = false
		}
	}
	s.cancel()
}
