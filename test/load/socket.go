package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/audit"
)

const (
	// socketPatience bounds waiting for one frame; a socket silent for longer is opened anew.
	socketPatience = 15 * time.Second
	// socketTries bounds how often a conversation's socket is opened.
	socketTries = 60
)

// errRefused says that a socket will not open again.
var errRefused = errors.New("the socket was refused")

// line is a session's socket, opened again whenever it breaks.
type line struct {
	c    *customer
	url  string
	conn *websocket.Conn
	// opened counts connections.
	opened int
}

// talkOverSocket has a conversation on chat_url and ends it over HTTP.
func (c *customer) talkOverSocket(ctx context.Context) {
	id, mark, made := c.openSession(ctx)
	if id == "" {
		return
	}
	l := &line{c: c, url: made.at("chat_url")}
	defer l.close()
	for range 1 + c.rand.IntN(3) {
		if err := l.say(ctx, c.words()); err != nil {
			c.Journal.Count("conversation over a socket given up")
			break
		}
		c.think(ctx)
	}
	c.endSession(ctx, id, mark)
}

// say says something and waits until it is answered, over as many connections as it takes. Once
// its item was acknowledged it is part of the conversation.
func (l *line) say(ctx context.Context, text string) error {
	l.c.made++
	item := fmt.Sprintf("item_%s_%d", l.c.name, l.c.made)
	acked := false
	defer func() {
		// An answer may have been given without our knowing; what was said may not be lost.
		l.c.Journal.Note(audit.Entry{Noun: audit.Turn, Verb: audit.Create, Mark: text, Requests: 1, Keyed: true, At: time.Now()})
		if acked {
			l.c.Journal.Note(audit.Entry{Noun: audit.Said, Verb: audit.Create, ID: item, Mark: text, Status: 200, Requests: 1, At: time.Now()})
		}
	}()
	for range socketTries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := l.try(ctx, item, text, &acked)
		if err == nil || errors.Is(err, errRefused) {
			return err
		}
		l.c.Journal.Count("socket broken")
		l.close()
		pause(ctx, longestPause/2)
	}
	return errRefused
}

// try says it on the connection there is, or a new one.
func (l *line) try(ctx context.Context, item, text string, acked *bool) error {
	fresh, err := l.open(ctx)
	if err != nil {
		return err
	}
	if fresh && !*acked { // it may have come through an earlier connection
		if *acked, err = l.knows(ctx, item); err != nil {
			return err
		}
	}
	if !*acked {
		create := map[string]any{"type": "conversation.item.create", "item": map[string]any{
			"id": item, "type": "message", "role": "user", "content": []map[string]string{{"type": "input_text", "text": text}},
		}}
		if err := l.write(ctx, create); err != nil {
			return err
		}
		if _, err := l.await(ctx, func(f frame) bool { return f.Type == "conversation.item.added" && f.Item.ID == item }); err != nil {
			return err
		}
		*acked = true
	}
	if err := l.write(ctx, map[string]string{"type": "response.create"}); err != nil {
		return err
	}
	_, err = l.await(ctx, func(f frame) bool { return f.Type == "response.done" })
	return err
}

// knows asks whether the item is part of the conversation.
func (l *line) knows(ctx context.Context, item string) (bool, error) {
	if err := l.write(ctx, map[string]string{"type": "conversation.item.retrieve", "item_id": item}); err != nil {
		return false, err
	}
	got, err := l.await(ctx, func(f frame) bool {
		return f.Type == "conversation.item.retrieved" || f.Type == "error" && f.Error.Code == "item_retrieve_invalid_item_id"
	})
	return err == nil && got.Type == "conversation.item.retrieved", err
}

// frame is what is read of an event.
type frame struct {
	Type string `json:"type"`
	Item struct {
		ID string `json:"id"`
	} `json:"item"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

// open makes a connection unless there is one.
func (l *line) open(ctx context.Context) (fresh bool, err error) {
	if l.conn != nil {
		return false, nil
	}
	dialling, cancel := context.WithTimeout(ctx, socketPatience)
	defer cancel()
	conn, answer, err := websocket.Dial(dialling, l.url, &websocket.DialOptions{Subprotocols: []string{"realtime"}})
	if err != nil {
		if answer != nil && answer.StatusCode >= 400 && answer.StatusCode < 500 {
			l.c.Journal.Complain("socket refused with %d on connection %d", answer.StatusCode, l.opened+1)
			return false, errRefused
		}
		return false, err
	}
	if answer.Body != nil {
		_ = answer.Body.Close() // a handshake has none
	}
	conn.SetReadLimit(1 << 20)
	l.conn = conn
	if l.opened++; l.opened > 1 {
		l.c.Journal.Count("socket opened again")
	}
	_, err = l.await(ctx, func(f frame) bool { return f.Type == "session.created" })
	return true, err
}

func (l *line) write(ctx context.Context, event any) error {
	encoded, err := json.Marshal(event)
	if err != nil {
		return err
	}
	writing, cancel := context.WithTimeout(ctx, socketPatience)
	defer cancel()
	return l.conn.Write(writing, websocket.MessageText, encoded)
}

// await reads up to a frame that matches.
func (l *line) await(ctx context.Context, is func(frame) bool) (frame, error) {
	reading, cancel := context.WithTimeout(ctx, socketPatience)
	defer cancel()
	for {
		_, data, err := l.conn.Read(reading)
		if err != nil {
			return frame{}, err
		}
		var got frame
		if err := json.Unmarshal(data, &got); err != nil {
			return frame{}, err
		}
		if is(got) {
			return got, nil
		}
		if got.Type == "error" {
			l.c.Journal.Count("error on a socket: " + got.Error.Code)
			return got, fmt.Errorf("error event %s", got.Error.Code)
		}
	}
}

// close drops the connection as a lost network would; the session goes on.
func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.CloseNow() // broken, or being broken
		l.conn = nil
	}
}
