package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/examples/api"
)

const (
	// breakAfter is the word after which connections are cut.
	breakAfter = 12
	// backEvery is the pause between two attempts to reconnect; a client of thousands adds a random
	// part.
	backEvery = 200 * time.Millisecond
)

// conversation is a client of a session that reconnects whenever its connection is lost. It needs
// the URL, which stays the same, and the event_id of the last event it received.
type conversation struct {
	ctx     context.Context
	api     *api.Client
	front   *front
	session string
	url     string
	began   time.Time

	conn   *websocket.Conn
	node   string
	lastID string
	// absent, if set, is called before the client reconnects.
	absent func()

	seen     map[string]bool
	accepted map[string]string // items by id: what the server took
	answers  []*answer
	doubled  int
	missing  int
}

// answer is one response as the client received it.
type answer struct {
	id, text, status string
	// picture has one letter for each word: the server that sent it.
	picture string
}

// words are those that came so far.
func (a *answer) words() []string { return strings.Fields(a.text) }

// turn sends a text and reads the whole answer. once is called in the middle of it.
func (c *conversation) turn(words string, once func()) error {
	if err := c.connect(); err != nil {
		return err
	}
	c.say("► %q", words)
	for _, event := range []api.Object{
		{"type": "conversation.item.create", "item": api.Object{
			"type": "message", "role": "user",
			"content": []api.Object{{"type": "input_text", "text": words}},
		}},
		{"type": "response.create"},
	} {
		content, err := json.Marshal(event)
		if err != nil {
			return err
		}
		if err := c.conn.Write(c.ctx, websocket.MessageText, content); err != nil {
			return err
		}
	}
	c.answers = append(c.answers, nil) // none yet
	for {
		event, err := c.next()
		if err != nil {
			return err
		}
		over, err := c.take(event)
		if over || err != nil {
			return err
		}
		if once != nil && c.words() >= breakAfter {
			c.say("◄ %s…", c.current().text)
			once()
			once = nil
		}
	}
}

func (c *conversation) current() *answer { return c.answers[len(c.answers)-1] }

func (c *conversation) words() int {
	if c.current() == nil {
		return 0
	}
	return len(c.current().words())
}

// cut breaks the connection.
func (c *conversation) cut() {
	c.say("✗ the connection is cut in the middle of the answer, at word %d", c.words())
	c.current().picture += "╳"
	c.front.cut()
}

// stayAway cuts the connection, and the client returns when the answer has ended.
func (c *conversation) stayAway() {
	c.front.refuse()
	c.cut()
	c.absent = func() {
		time.Sleep(answerWords * wordEvery)
		c.front.accept()
		c.say("… away, until the server has said everything")
	}
}

// take handles an event, and reports whether the turn is answered.
func (c *conversation) take(event api.Object) (over bool, err error) {
	if id := api.Text(event, "event_id"); c.seen[id] {
		c.doubled++
	} else {
		c.seen[id] = true
	}
	c.lastID = api.Text(event, "event_id")
	switch api.Text(event, "type") {
	case "error":
		return false, fmt.Errorf("the server says: %s", api.Text(event, "error", "message"))
	case "conversation.item.added":
		if api.Text(event, "item", "role") == "user" {
			c.accepted[api.Text(event, "item", "id")] = ""
		}
	case "response.created":
		c.answers[len(c.answers)-1] = &answer{id: api.Text(event, "response", "id")}
	case "response.output_text.delta":
		a := c.current()
		if a == nil || a.id != api.Text(event, "response_id") {
			return false, errors.New("a piece of an answer that has not begun")
		}
		a.text += api.Text(event, "delta")
		for range strings.FieldsSeq(api.Text(event, "delta")) { // words that come quickly come together
			a.picture += c.node
		}
	case "response.done":
		return c.done(event)
	}
	return false, nil
}

// done compares an answer with the server's final text.
func (c *conversation) done(event api.Object) (over bool, err error) {
	a := c.current()
	if a == nil || a.id != api.Text(event, "response", "id") {
		return false, errors.New("the end of an answer that has not begun")
	}
	a.status = api.Text(event, "response", "status")
	c.compare(a)
	if a.status == "completed" {
		c.say("◄ … %s", lastWords(a.text))
		return true, nil
	}
	c.say("◄ that answer has ended: %s", api.Text(event, "response", "status_details", "error", "message"))
	if code := api.Text(event, "response", "status_details", "error", "code"); code != "unavailable" {
		return false, fmt.Errorf("the answer is %s: %s", a.status, code)
	}
	c.answers = append(c.answers, nil) // another one comes by itself
	return false, nil
}

// compare counts words that arrived twice or not at all. A complete answer has all words; one that
// broke off has all before its last.
func (c *conversation) compare(a *answer) {
	words, want := a.words(), strings.Fields(wholeAnswer())
	if a.status != "completed" && len(words) > 0 {
		last := slices.Index(want, words[len(words)-1])
		want = want[:last+1]
	}
	got := map[string]int{}
	for _, word := range words {
		got[word]++
	}
	for _, word := range want {
		switch {
		case got[word] == 0:
			c.missing++
		case got[word] > 1:
			c.doubled += got[word] - 1
		}
	}
}

func lastWords(all string) string {
	words := strings.Fields(all)
	return strings.Join(words[max(0, len(words)-8):], " ")
}

// next reads an event. It reconnects first when the connection is lost.
func (c *conversation) next() (api.Object, error) {
	for {
		_, content, err := c.conn.Read(c.ctx)
		if err == nil {
			event := api.Object{}
			if err := json.Unmarshal(content, &event); err != nil {
				return nil, fmt.Errorf("a frame that is no JSON: %w", err)
			}
			if api.Text(event, "type") == "session.created" { // of this connection: it is no part of the conversation
				continue
			}
			return event, nil
		}
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		if closed, ok := errors.AsType[websocket.CloseError](err); ok && (closed.Code == 1000 || closed.Code == 1008 || closed.Code == 4409) {
			return nil, fmt.Errorf("closed for good: %w", err)
		}
		_ = c.conn.CloseNow() // it is lost
		c.conn = nil
		c.say("… connection lost, coming back with last_event_id=%s", c.lastID)
		if c.absent != nil {
			c.absent()
			c.absent = nil
		}
		if err := c.connect(); err != nil {
			return nil, err
		}
	}
}

// connect dials until a server accepts the client.
func (c *conversation) connect() error {
	if c.conn != nil {
		return nil
	}
	if c.seen == nil {
		c.seen, c.accepted = map[string]bool{}, map[string]string{}
	}
	published, err := url.Parse(c.url)
	if err != nil {
		return err
	}
	at := *published
	at.Scheme, at.Host = "ws", c.front.address // the same, unless a parlance dev is behind it
	if c.lastID != "" {
		at.RawQuery += "&last_event_id=" + url.QueryEscape(c.lastID)
	}
	for {
		conn, answer, err := websocket.Dial(c.ctx, at.String(), nil)
		if err == nil {
			conn.SetReadLimit(-1)
			c.conn, c.node = conn, string(rune('A'+c.front.node()))
			c.say("✓ connected to server %s", c.node)
			return nil
		}
		if answer != nil && answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusTooManyRequests {
			return fmt.Errorf("the server refuses the connection: %w", err)
		}
		select {
		case <-time.After(backEvery):
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}

func (c *conversation) hangUp() {
	if c.conn != nil {
		_ = c.conn.CloseNow() // the session is over
	}
}

// say prints a line with the time.
func (c *conversation) say(format string, args ...any) {
	fmt.Printf("  %5.1f s  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

// tally compares what the client received with the transcript.
func (c *conversation) tally() error {
	got, err := c.api.Get("/sessions/" + c.session + "/transcript")
	if err != nil {
		return err
	}
	turns, _ := got["turns"].([]any)
	answered := 0
	for _, turn := range turns {
		same := slices.ContainsFunc(c.answers, func(a *answer) bool { return a.status == "completed" && a.text == api.Text(turn, "agent_text") })
		if api.Text(turn, "status") == "completed" && same {
			answered++
		}
	}
	title("What the client got. A letter is a word, and says which server it came from:")
	for _, a := range c.answers {
		end := "whole"
		if a.status != "completed" {
			end = "☠ ended as failed; the same words were answered again:"
		}
		fmt.Printf("  %-*s %s\n", answerWords+1, a.picture, end)
	}
	title("Tally")
	fmt.Printf("  turns accepted            %d\n  turns in the transcript   %d\n  … of them answered whole  %d, as the client heard them\n"+
		"  deltas doubled            %d\n  deltas missing            %d\n", len(c.accepted), len(turns), answered, c.doubled, c.missing)
	if len(turns) != len(c.accepted) || answered != len(turns) || c.doubled != 0 || c.missing != 0 {
		return errors.New("something was lost or came twice")
	}
	fmt.Println("\nNo turn was lost, and no word came twice or was missing.")
	return nil
}
