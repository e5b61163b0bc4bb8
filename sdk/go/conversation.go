package parlance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/coder/websocket"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

const (
	// maxEventBytes is more than the service's largest event, maxSentBytes the largest that it takes.
	maxEventBytes = 4 << 20
	maxSentBytes  = 1 << 20
	// maxTextChars is the longest text that the service takes.
	maxTextChars = 32_000
	// socketTimeout limits a handshake, and how long an event may take to be sent.
	socketTimeout = 15 * time.Second
	// audioBytes is the most sound in one event: the service takes frames of 1 MiB, and base64 adds
	// a third.
	audioBytes = 512 << 10
	// statusLeft closes a socket without hanging up.
	statusLeft websocket.StatusCode = 4001
)

// ErrNotConnected says that there is no connection at the moment; it is being made again.
var ErrNotConnected = errors.New("parlance: the conversation has no connection at the moment")

// ErrConversationOver says that a conversation has ended or was closed.
var ErrConversationOver = errors.New("parlance: the conversation is over")

// Conversation is a session on its WebSocket, in text or voice. A lost connection is made again for
// Options.ReconnectFor; the events that were missed come then, none is lost, and none comes twice.
// Sound that was missed is not sent again. Methods are safe for concurrent use; read Events all the
// time, since the service cuts off a client that does not.
type Conversation struct {
	// SessionID is the session's, ses_…; empty when it was opened by its URL.
	SessionID string

	client *Client
	url    string
	events chan ConversationEvent
	// closing is closed when nobody wants events any more, finished when the last goroutine ended.
	closing, finished chan struct{}
	cancel            context.CancelFunc
	// created says that session.created, the first event of every connection, was passed on.
	created bool

	mu   sync.Mutex
	conn *socket // nil while there is none
	// settings are the session.update events that were sent: another server needs them again.
	settings [][]byte
	outbox   outbox
	last     string
	closed   bool
	ending   string
	err      error
}

// Connect creates a session and opens its WebSocket: of the modality text the one for text, of
// voice and voice+text the one for speech, which takes text too. The context is for the making
// only: the conversation lasts until Close, Leave or its end.
func (c *Client) Connect(ctx context.Context, request *parlancev1.CreateSessionRequest) (*Conversation, error) {
	made, err := c.Sessions.CreateSession(ctx, request)
	if err != nil {
		return nil, err
	}
	signed := made.GetWsUrl()
	if request.GetModality() == "text" {
		signed = made.GetChatUrl()
	}
	conversation, err := c.ConnectURL(ctx, signed)
	if err != nil {
		return nil, err
	}
	conversation.SessionID = made.GetId()
	return conversation, nil
}

// ConnectURL opens the WebSocket of a session that exists, by the ws_url or chat_url that the
// answer to CreateSession had.
func (c *Client) ConnectURL(ctx context.Context, signedURL string) (*Conversation, error) {
	conversation := &Conversation{
		client: c, url: signedURL, events: make(chan ConversationEvent),
		closing: make(chan struct{}), finished: make(chan struct{}),
	}
	conversation.outbox.send = conversation.writeLocked
	conversation.outbox.settleTime, conversation.outbox.resumeTime = c.settleTime, c.resumeTime
	conversation.outbox.later = func(after time.Duration, do func()) {
		time.AfterFunc(after, func() {
			conversation.mu.Lock()
			defer conversation.mu.Unlock()
			do()
		})
	}
	conn, err := conversation.dial(ctx, "")
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	conversation.conn, conversation.cancel = conn, cancel
	go conversation.run(running)
	return conversation, nil
}

// socket is a connection. silent closes it when it brings nothing; the service pings it every 20 s.
type socket struct {
	*websocket.Conn
	silent *time.Timer
}

// dial opens the socket, behind the event with the id last.
func (c *Conversation) dial(ctx context.Context, last string) (*socket, error) {
	address, err := url.Parse(c.url)
	if err != nil || !slices.Contains([]string{"ws", "wss", "http", "https"}, address.Scheme) || address.Host == "" {
		return nil, errors.New("parlance: the URL is not one of a session's WebSocket") // it is not shown: it is signed
	}
	if last != "" {
		query := address.Query()
		query.Set("last_event_id", last)
		address.RawQuery = query.Encode()
	}
	within, cancel := context.WithTimeout(ctx, socketTimeout)
	defer cancel()
	var silent *time.Timer
	//nolint:bodyclose // the package closes the body of a refusal, and a connection has none
	conn, answer, err := websocket.Dial(within, address.String(), &websocket.DialOptions{
		HTTPClient: c.client.http.http, Subprotocols: []string{"realtime"},
		HTTPHeader: http.Header{"User-Agent": {userAgent()}, "Parlance-Version": {APIVersion}},
		OnPingReceived: func(context.Context, []byte) bool {
			silent.Reset(c.client.silence)
			return true
		},
	})
	switch {
	case err == nil:
		conn.SetReadLimit(maxEventBytes)
		silent = time.AfterFunc(socketTimeout, func() { _ = conn.CloseNow() })
		return &socket{conn, silent}, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case answer == nil:
		return nil, noAnswer(err)
	}
	return nil, refusalOf(answer)
}

// Events gives the events as they come, for one loop. It ends when the session is completed or the
// conversation was closed (see EndReason), and with an error when the session has failed or the
// connection could not be made again.
func (c *Conversation) Events() iter.Seq2[ConversationEvent, error] {
	return func(yield func(ConversationEvent, error) bool) {
		for event := range c.events {
			if !yield(event, nil) {
				return
			}
		}
		c.mu.Lock()
		err := c.err
		c.mu.Unlock()
		if err != nil {
			yield(ConversationEvent{}, err)
		}
	}
}

// EndReason is why the session ended, as in its end_reason; empty while it goes on.
func (c *Conversation) EndReason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// Say says something to the agent, 1 to 32,000 characters, and asks for an answer. What is said
// behind another text is sent when that one's answer has ended, and without a connection when there
// is one; when the conversation ends before, it is not said. What the service refuses is an event
// "error". Errors: ErrConversationOver, and ReasonInvalidRequest for a text of another length.
func (c *Conversation) Say(text string) error {
	if n := utf8.RuneCountInString(text); n == 0 || n > maxTextChars {
		return notTaken(fmt.Sprintf("The text has %d characters, not 1 to %d.", n, maxTextChars))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver() {
		return ErrConversationOver
	}
	c.outbox.add(&message{id: "msg_" + strings.ToLower(rand.Text()), text: text})
	return nil
}

// SendAudio sends sound of the user, in the session's input format: unless the agent says otherwise
// PCM of 16 bits, little-endian, mono, 24,000 Hz. Send it as it is spoken, in pieces of 20 to 100
// ms. While there is no connection it fails with ErrNotConnected, and the sound is lost.
func (c *Conversation) SendAudio(sound []byte) error {
	for len(sound) > 0 {
		piece := sound[:min(len(sound), audioBytes)]
		sound = sound[len(piece):]
		if err := c.Send(map[string]any{"type": "input_audio_buffer.append", "audio": piece}); err != nil {
			return err
		}
	}
	return nil
}

// Send sends any event of docs/realtime.md, as a value that encoding/json makes an object of. A
// session.update is sent again by itself to a server that the conversation moves to. Errors:
// ErrNotConnected, ErrConversationOver, ReasonInvalidRequest for one of more than 1 MiB, or why it
// could not be encoded.
func (c *Conversation) Send(event any) error {
	text, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("parlance: encode the event: %w", err)
	}
	var kind struct{ Type string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return fmt.Errorf("parlance: the event is not an object: %w", err)
	}
	if len(text) > maxSentBytes {
		return notTaken(fmt.Sprintf("The event has %d bytes, of at most %d.", len(text), maxSentBytes))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver() {
		return ErrConversationOver
	}
	if kind.Type == "session.update" {
		c.settings = append(c.settings, text)
	}
	return c.writeText(text)
}

// notTaken refuses what the service would not take.
func notTaken(message string) error {
	return &Error{Reason: ReasonInvalidRequest, Message: message, Code: connect.CodeInvalidArgument}
}

// writeLocked sends an event, and reports whether there is a connection; c is locked.
func (c *Conversation) writeLocked(event map[string]any) bool {
	text, err := json.Marshal(event)
	if err != nil || c.conn == nil {
		return false
	}
	_ = c.writeText(text) // the reader notices a lost connection, and what was lost is sent again
	return true
}

// writeText sends a text; c is locked.
func (c *Conversation) writeText(text []byte) error {
	if c.conn == nil {
		return ErrNotConnected
	}
	within, cancel := context.WithTimeout(context.Background(), socketTimeout)
	defer cancel()
	if c.conn.Write(within, websocket.MessageText, text) != nil {
		return ErrNotConnected
	}
	return nil
}

// isOver reports whether nothing can be said any more; c is locked.
func (c *Conversation) isOver() bool { return c.closed || c.ending != "" || c.err != nil }

// Close hangs up, which completes the session unless it has another socket; a moment later its
// status is completed. A conversation without a connection at the moment ends by itself after two
// minutes.
func (c *Conversation) Close() { c.leave(websocket.StatusNormalClosure, "hang_up") }

// Leave closes the socket without hanging up: the session waits two minutes for another one, by
// ConnectURL.
func (c *Conversation) Leave() { c.leave(statusLeft, "left") }

func (c *Conversation) leave(code websocket.StatusCode, reason string) {
	c.mu.Lock()
	first, conn := !c.closed, c.conn
	c.closed = true
	c.mu.Unlock()
	if first {
		close(c.closing) // the reader throws away what still comes
		if conn != nil {
			_ = conn.Close(code, reason) // the service may have closed it
		}
		c.cancel()
	}
	<-c.finished
}
