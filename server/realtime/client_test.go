package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// client is a WebSocket client that speaks JSON.
type client struct {
	t    *testing.T
	f    *fixture
	conn *websocket.Conn
	// unread are events that sendSound has read and the test has not.
	unread []event
}

func (f *fixture) dial(t *testing.T, published string, opts ...*websocket.DialOptions) *client {
	t.Helper()
	var options *websocket.DialOptions
	if len(opts) > 0 {
		options = opts[0]
	}
	conn, _, err := websocket.Dial(t.Context(), f.url(published), options)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &client{t: t, f: f, conn: conn}
}

type event = map[string]any

func (c *client) send(events ...string) {
	c.t.Helper()
	for _, e := range events {
		if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(e)); err != nil {
			c.t.Fatal(err)
		}
	}
}

// say sends a message of the user as SDKs do, without waiting between the two events.
func (c *client) say(text string) {
	c.t.Helper()
	quoted, _ := json.Marshal(text)
	content := `[{"type":"input_text","text":` + string(quoted) + `}]`
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":`+content+`}}`,
		`{"type":"response.create","event_id":"agents_js_response_create_1"}`)
}

func (c *client) read() (event, error) {
	if len(c.unread) > 0 {
		e := c.unread[0]
		c.unread = c.unread[1:]
		return e, nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, data, err := c.conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		c.t.Fatalf("frame %q: %v", data, err)
	}
	if id, _ := e["event_id"].(string); !strings.HasPrefix(id, "evt_") {
		c.t.Errorf("event_id %q of %v", id, e["type"])
	}
	return e, nil
}

func (c *client) next() event {
	c.t.Helper()
	e, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}

// until reads to the first event of the type, which it returns last.
func (c *client) until(kind string) []event {
	c.t.Helper()
	var read []event
	for {
		e := c.next()
		read = append(read, e)
		if e["type"] == kind {
			return read
		}
	}
}

func (c *client) want(kind string) event {
	c.t.Helper()
	e := c.next()
	if e["type"] != kind {
		c.t.Fatalf("got %v, want %s", e, kind)
	}
	return e
}

// closed reads to the close frame.
func (c *client) closed() websocket.CloseError {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			closed, ok := errors.AsType[websocket.CloseError](err)
			if !ok {
				c.t.Fatalf("no close frame: %v", err)
			}
			return closed
		}
	}
}

// path is a member of decoded JSON; numbers are indexes of arrays.
func path(value any, steps ...any) any {
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			object, _ := value.(event)
			value = object[at]
		case int:
			array, _ := value.([]any)
			if at >= len(array) {
				return nil
			}
			value = array[at]
		}
	}
	return value
}

func types(events []event) []string {
	kinds := make([]string, len(events))
	for i, e := range events {
		kinds[i], _ = e["type"].(string)
	}
	return kinds
}
