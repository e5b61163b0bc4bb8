package realtime_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

func wantClose(t *testing.T, got websocket.CloseError, code websocket.StatusCode, reason string) {
	t.Helper()
	if got.Code != code || got.Reason != reason {
		t.Errorf("closed with %d %q, want %d %q", got.Code, got.Reason, code, reason)
	}
}

func TestReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	f.model.then(say("Yes."))
	made := f.create(t, sessions.Text)
	first := f.dial(t, made.ChatURL)
	first.until("response.done")
	second := f.dial(t, made.ChatURL)
	wantClose(t, first.closed(), 4409, "replaced")
	second.want("session.created")
	second.say("There?") // the greeting is not repeated
	if answer := second.until("response.done"); path(answer[len(answer)-1], "response", "output", 0, "content", 0, "text") != "Yes." {
		t.Errorf("the second socket: %v", answer)
	}
}

func TestEndedByTheAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, broken := f.create(t, sessions.Text), f.create(t, sessions.Text)
	c, d := f.dial(t, made.ChatURL), f.dial(t, broken.ChatURL)
	c.want("session.created")
	d.want("session.created")
	long := strings.Repeat("ä", 100)
	for id, params := range map[sessions.ID]sessions.EndParams{
		made.Session.ID:   {Status: sessions.Completed, Reason: long},
		broken.Session.ID: {Status: sessions.Failed, Reason: "operator"},
	} {
		if _, err := f.End(t.Context(), f.principal, id, params); err != nil {
			t.Fatal(err)
		}
	}
	wantClose(t, c.closed(), 1000, long[:122]) // 61 characters of two bytes fit
	wantClose(t, d.closed(), 1011, "operator")
}

func TestHangUpAndDrop(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		leave  func(*client)
		status sessions.Status
	}{
		{"1000", func(c *client) { _ = c.conn.Close(websocket.StatusNormalClosure, "OK") }, sessions.Completed},
		{"1001", func(c *client) { _ = c.conn.Close(websocket.StatusGoingAway, "") }, sessions.Completed},
		{"no code", func(c *client) { _ = c.conn.Close(websocket.StatusNoStatusRcvd, "") }, sessions.Completed},
		{"1011", func(c *client) { _ = c.conn.Close(websocket.StatusInternalError, "") }, sessions.InProgress},
		{"lost", func(c *client) { _ = c.conn.CloseNow() }, sessions.InProgress},
	}
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			made := f.create(t, sessions.Text)
			c := f.dial(t, made.ChatURL)
			c.want("session.created")
			c.send(
				`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",` +
					`"text":"bye"}]}}`,
			)
			c.until("conversation.item.done")
			row.leave(c)
			f.awaitSession(t, made.Session.ID, "leaving", func(s sessions.Session) bool {
				return s.Closed() || !s.DroppedAt.IsZero()
			})
			if got := f.session(t, made.Session.ID).Status; got != row.status {
				t.Errorf("the session is %s, want %s", got, row.status)
			}
		})
	}
}

// TestHangUpBehindAMessage: the transcript has the last message of a client that hangs up right
// behind it.
func TestHangUpBehindAMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	for _, text := range []string{"one", "two", "three"} {
		c.send(
			`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",` +
				`"text":"` + text + `"}]}}`,
		)
	}
	_ = c.conn.Close(websocket.StatusNormalClosure, "")
	f.awaitSession(t, made.Session.ID, "the hang-up", sessions.Session.Closed)
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
	if err != nil || len(turns) != 1 || len(turns[0].Messages) != 3 || turns[0].Messages[2].Text != "three" {
		t.Errorf("transcript: %+v, %v", turns, err)
	}
}

func TestComingBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	f.model.then(say("One."), say("Two."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.until("response.done")
	c.say("first")
	seen := c.until("response.done")
	last, _ := seen[len(seen)-1]["event_id"].(string)
	_ = c.conn.CloseNow()
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
	if _, err := f.Turn(t.Context(), f.principal, made.Session.ID, "second", nil); err != nil {
		t.Fatal(err)
	}
	f.advance(time.Minute)

	returned := f.dial(t, made.ChatURL+"&last_event_id="+url.QueryEscape(last))
	returned.want("session.created")
	var missed []any
	for range 2 {
		missed = append(missed, path(returned.want("conversation.item.added"), "item", "content", 0, "text"))
		returned.want("conversation.item.done")
	}
	if missed[0] != "second" || missed[1] != "Two." {
		t.Errorf("missed: %v", missed)
	}
	first, _ := path(seen[0], "item", "id").(string)
	returned.send(`{"type":"conversation.item.retrieve","item_id":"` + first + `"}`)
	if item := returned.want("conversation.item.retrieved"); path(item, "item", "content", 0, "text") != "first" {
		t.Errorf("an earlier item: %v", item)
	}
}

func TestStopping(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made, later := f.create(t, sessions.Text), f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	f.stop()
	wantClose(t, c.closed(), 1012, "reconnect")
	waiting, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := f.handler.Wait(waiting); err != nil {
		t.Fatal(err)
	}
	if s := f.session(t, made.Session.ID); s.Status != sessions.InProgress || s.DroppedAt.IsZero() {
		t.Errorf("the session does not wait: %+v", s)
	}
	if resp := f.get(t, http.MethodGet, f.url(later.ChatURL), upgrade()); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new socket while stopping: %d", resp.StatusCode)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 1<<20-60) + `"}`)
	c.want("error") // no audio on the chat socket, but the frame was read
	c.send(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 1<<20) + `"}`)
	wantClose(t, c.closed(), 1009, "frame_too_large")
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
}

// TestLargestAnswer: the events that repeat the longest answer reach a client that reads.
func TestLargestAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say(slices.Repeat([]string{strings.Repeat(`"`, 1<<14)}, 1<<6)...))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	c.say("Write a book.")
	done := c.until("response.done")
	if path(done[len(done)-1], "response", "status") != "completed" {
		t.Errorf("the answer is %v", path(done[len(done)-1], "response", "status"))
	}
}

// TestSlowReader reaches the bound of unwritten frames with a client that does not read.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{MaxUnwrittenBytes: 64 << 10, WriteTimeout: patience})
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(
		`{"type":"conversation.item.create","item":{"id":"big","type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"` + strings.Repeat("x", 30_000) + `"}]}}`,
	)
	c.until("conversation.item.done")
	dropped := func() bool { return !f.session(t, made.Session.ID).DroppedAt.IsZero() }
	for !dropped() {
		for range 50 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err := c.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"conversation.item.retrieve","item_id":"big"}`))
			cancel()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	wantClose(t, c.closed(), 4408, "slow_reader")
}

// TestNoPong has a client that answers no ping.
func TestNoPong(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{PingInterval: 20 * time.Millisecond, PongTimeout: 20 * time.Millisecond})
	made := f.create(t, sessions.Text)
	f.openAndIgnore(t, made.ChatURL)
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
}
