package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/cli/client"
)

const (
	// maxMessageBytes is more than the largest message of the line.
	maxMessageBytes = 64 << 10
	// lineTimeout limits the handshake, and how long a message may take to be sent.
	lineTimeout = 15 * time.Second
	// unreadMessages is how many messages may wait: a second of sound.
	unreadMessages = 50
)

// The kinds of events of a line. Source: provider/carrier/simulated.
const (
	eventRing     = "ring"
	eventAnswered = "answered"
	eventHungUp   = "hung_up"
	eventDTMF     = "dtmf"
	eventSay      = "say"
)

// event is something that happens on the line, or that the phone does. Events have the members that
// they need.
type event struct {
	Event  string `json:"event"`
	From   string `json:"from,omitempty"`
	Reason string `json:"reason,omitempty"`
	Digit  string `json:"digit,omitempty"`
	Text   string `json:"text,omitempty"`
	To     string `json:"to,omitempty"`
}

// message is an event or, without one, sound: µ-law at 8,000 Hz.
type message struct {
	event event
	sound []byte
}

// line is the wire of a telephone to the simulated line. One goroutine sends, another one reads.
type line struct {
	conn     *websocket.Conn
	messages chan message
	// closed is closed when the line has ended, for whatever reason.
	closed chan struct{}
	cancel context.CancelFunc
}

// openLine connects a telephone. The service can call it once openLine has returned.
func openLine(ctx context.Context, where client.Installation, transport *http.Client, number string) (*line, error) {
	within, done := context.WithTimeout(ctx, lineTimeout)
	defer done()
	url := "ws" + strings.TrimPrefix(where.Base, "http") + "/v1/telephony/simulated/phones/" + number
	//nolint:bodyclose // the package closes the body of a refusal, and a connection has none
	conn, answer, err := websocket.Dial(within, url, &websocket.DialOptions{
		HTTPClient: transport, HTTPHeader: http.Header{"Authorization": {"Bearer " + where.APIKey}},
	})
	switch {
	case err != nil && answer != nil && answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s has no simulated line. `parlance dev` has one: start it, and leave out --base-url and --api-key. "+
			"Over a real carrier an agent calls with `parlance callbacks create %s`", where.Base, number)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("nothing answers at %s. Is `parlance dev` running?", where.Base)
	case err != nil:
		return nil, fmt.Errorf("open the line: %w", client.SocketRefusal(answer, err))
	}
	conn.SetReadLimit(maxMessageBytes)
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &line{conn: conn, messages: make(chan message, unreadMessages), closed: make(chan struct{}), cancel: cancel}
	go func() {
		_ = l.read(reading) // the phone is off the line, whatever the reason
		close(l.closed)
	}()
	if err := conn.Ping(within); err != nil { // it is answered by who knows the phone
		l.close()
		return nil, fmt.Errorf("open the line: %w", err)
	}
	return l, nil
}

func (l *line) read(ctx context.Context) error {
	for {
		kind, data, err := l.conn.Read(ctx)
		if err != nil {
			return err
		}
		m := message{sound: data}
		if kind == websocket.MessageText {
			m = message{}
			if err := json.Unmarshal(data, &m.event); err != nil {
				return fmt.Errorf("the line sent what is no event: %w", err)
			}
		}
		select {
		case l.messages <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends an event.
func (l *line) send(ctx context.Context, e event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return l.write(ctx, websocket.MessageText, data)
}

// speak says sound into the phone.
func (l *line) speak(ctx context.Context, sound []byte) error {
	return l.write(ctx, websocket.MessageBinary, sound)
}

func (l *line) write(ctx context.Context, kind websocket.MessageType, data []byte) error {
	within, cancel := context.WithTimeout(ctx, lineTimeout)
	defer cancel()
	err := l.conn.Write(within, kind, data)
	if err != nil && ctx.Err() == nil {
		return errLineLost
	}
	return ctx.Err()
}

var errLineLost = errors.New("the line is lost: the service was stopped, or another phone has taken the number")

// close takes the phone off the line, which hangs up, and waits for the reader.
func (l *line) close() {
	l.cancel()
	_ = l.conn.CloseNow() // it may be closed
	<-l.closed
}
