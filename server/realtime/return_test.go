package realtime_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// gated answers in pieces, each when the gate lets it through.
func gated(gate <-chan struct{}, pieces ...string) step {
	return func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		for _, piece := range pieces {
			select {
			case <-gate:
			case <-ctx.Done():
				return model.Result{}, ctx.Err()
			}
			if err := emit(model.TextDelta{Text: piece}); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{Text: strings.Join(pieces, ""), FinishReason: model.FinishStop, Model: "script-1"}, nil
	}
}

// lose breaks the connection behind the greeting, before the client has read more.
func (c *client) lose() {
	c.t.Helper()
	c.want("session.created")
	_ = c.conn.CloseNow()
}

// lastID is the event id with which a client would come back.
func lastID(events []event) string {
	id, _ := events[len(events)-1]["event_id"].(string)
	return id
}

// returning is the URL with which a client that has seen the events comes back.
func returning(published string, events []event) string {
	return published + "&last_event_id=" + url.QueryEscape(lastID(events))
}

// spoken is the text of the deltas.
func spoken(events []event) string {
	var text strings.Builder
	for _, e := range events {
		if e["type"] == "response.output_text.delta" {
			delta, _ := e["delta"].(string)
			text.WriteString(delta)
		}
	}
	return text.String()
}

// checkWhole checks that the events of a client's two sockets are one answer, each event once.
func checkWhole(t *testing.T, seen []event, text string) {
	t.Helper()
	var created, done []any
	ids := map[any]bool{}
	for _, e := range seen {
		if ids[e["event_id"]] {
			t.Errorf("twice: %v", e)
		}
		ids[e["event_id"]] = true
		switch e["type"] {
		case "response.created":
			created = append(created, path(e, "response", "id"))
		case "response.done":
			done = append(done, path(e, "response", "id"))
			if status := path(e, "response", "status"); status != "completed" {
				t.Errorf("the answer is %v", status)
			}
			if got := path(e, "response", "output", 0, "content", 0, "text"); got != text {
				t.Errorf("response.done has %q, want %q", got, text)
			}
		}
	}
	if diff := cmp.Diff(created, done); diff != "" || len(done) != 1 {
		t.Errorf("answers begun and ended (-begun +ended): %s", diff)
	}
	if got := spoken(seen); got != text {
		t.Errorf("the deltas are %q, want %q", got, text)
	}
}

// TestReturnDuringAnswer has a client whose connection breaks during an answer: with the id of the
// last event it saw it gets the later ones, each once, whatever state the server is in.
func TestReturnDuringAnswer(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		// cut breaks the first connection; without it the server still takes it for open.
		cut bool
		// away is how many pieces come while the client is away.
		away int
		// done has the whole answer said meanwhile.
		done bool
		// lost has the client lose its next connection too, before it has read what it missed.
		lost bool
	}{
		{name: "Dropped", cut: true, away: 2},
		{name: "HalfOpen"},
		{name: "DoneMeanwhile", cut: true, away: 3, done: true},
		{name: "LostAgain", cut: true, away: 2, lost: true},
	}
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			gate := make(chan struct{}, 4) // as many as there are pieces
			f.model.then(gated(gate, "One ", "two ", "three ", "four."), say("Next."))
			made := f.create(t, sessions.Text)
			c := f.dial(t, made.ChatURL)
			c.until("response.done")
			c.say("Count.")
			gate <- struct{}{}
			seen := c.until("response.output_text.delta")
			if row.cut {
				_ = c.conn.CloseNow()
				f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
			}
			for range row.away {
				gate <- struct{}{}
			}
			if row.done {
				f.awaitTurns(t, made.Session.ID, sessions.TurnCompleted, 2)
			}
			if row.lost {
				f.dial(t, returning(made.ChatURL, seen)).lose()
			}
			returned := f.dial(t, returning(made.ChatURL, seen))
			returned.want("session.created")
			if !row.cut {
				wantClose(t, c.closed(), 4409, "replaced")
			}
			for range 3 - row.away {
				gate <- struct{}{}
			}
			seen = append(seen, returned.until("response.done")...)
			checkWhole(t, seen, "One two three four.")
			returned.say("And?") // the new socket has taken over from the first
			if answer := returned.until("response.done"); spoken(answer) != "Next." {
				t.Errorf("the next answer: %v", answer)
			}
		})
	}
}

// TestReturnWithoutID has a client that does not say what it saw: it gets the open answer from its
// beginning, and nothing earlier.
func TestReturnWithoutID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.until("response.done")
	c.say("Count.")
	gate <- struct{}{}
	c.until("response.output_text.delta")
	_ = c.conn.CloseNow()
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
	returned := f.dial(t, made.ChatURL)
	returned.want("session.created")
	gate <- struct{}{}
	answer := returned.until("response.done")
	if answer[0]["type"] != "response.created" {
		t.Errorf("it begins with %v", answer[0])
	}
	checkWhole(t, answer, "One two.")
}

// TestReturnOutOfBand has a client without an id and answers out of band beside the open one: it
// gets the open ones completely, and nothing of the others.
func TestReturnOutOfBand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	gates := map[string]chan struct{}{"main": make(chan struct{}, 2), "open": make(chan struct{}, 2)}
	byInput := func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		switch req.Messages[len(req.Messages)-1].Text {
		case "main":
			return gated(gates["main"], "One ", "two.")(ctx, req, emit)
		case "open":
			return gated(gates["open"], "Three ", "four.")(ctx, req, emit)
		}
		return say("Closed.")(ctx, req, emit)
	}
	f.model.then(byInput, byInput, byInput)
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.say("main")
	gates["main"] <- struct{}{}
	c.until("response.output_text.delta")
	outOfBand := func(text string) {
		c.send(
			`{"type":"response.create","response":{"conversation":"none","input":[{"type":"message","role":"user",` +
				`"content":[{"type":"input_text","text":"` + text + `"}]}]}}`,
		)
	}
	outOfBand("closed")
	c.until("response.done")
	outOfBand("open")
	gates["open"] <- struct{}{}
	c.until("response.output_text.delta")
	_ = c.conn.CloseNow()
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })

	returned := f.dial(t, made.ChatURL)
	returned.want("session.created")
	gates["open"] <- struct{}{}
	seen := returned.until("response.done")
	gates["main"] <- struct{}{}
	seen = append(seen, returned.until("response.done")...)
	byResponse := map[any][]event{}
	for _, e := range seen {
		for _, id := range []any{e["response_id"], path(e, "response", "id")} {
			if id != nil {
				byResponse[id] = append(byResponse[id], e)
			}
		}
	}
	if len(byResponse) != 2 {
		t.Errorf("%d answers: %v", len(byResponse), types(seen))
	}
	for _, of := range byResponse {
		checkWhole(
			t,
			of,
			map[bool]string{true: "One two.", false: "Three four."}[path(of[0], "response", "conversation_id") != nil],
		)
	}
}

// TestReturnWithTools: a client's own tools stay in force when it comes back.
func TestReturnWithTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(call("look", `{"at":"door"}`), say("Open."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(
		`{"type":"session.update","session":{"type":"realtime","tools":[{"type":"function","name":"look",` +
			`"parameters":{"type":"object"}}]}}`,
	)
	seen := c.until("session.updated")
	_ = c.conn.CloseNow()
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })

	returned := f.dial(t, returning(made.ChatURL, seen))
	if hello := returned.want("session.created"); path(hello, "session", "tools", 0, "name") != "look" {
		t.Errorf("session.created has the tools %v", path(hello, "session", "tools"))
	}
	returned.say("Is it open?")
	answer := returned.until("response.done")
	if item := path(answer[len(answer)-1], "response", "output", 0); path(item, "type") != "function_call" ||
		path(item, "name") != "look" {
		t.Errorf("the answer is %v", item)
	}
}

// TestReturnToAnotherNode has a client that comes back on another node, after the answer: it gets
// the frames of the first node.
func TestReturnToAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.say("Count.")
	gate <- struct{}{}
	seen := c.until("response.output_text.delta")
	_ = c.conn.CloseNow()
	gate <- struct{}{}
	f.awaitTurns(t, made.Session.ID, sessions.TurnCompleted, 1)
	f.awaitFrame(t, made.Session.ID, "response.done")

	returned := other.dial(t, returning(made.ChatURL, seen))
	returned.want("session.created")
	checkWhole(t, append(seen, returned.until("response.done")...), "One two.")
	f.model.then(say("Next."))
	returned.say("And?")
	if answer := returned.until("response.done"); spoken(answer) != "Next." {
		t.Errorf("the next answer: %v", answer)
	}
}

// awaitFrame waits until Redis has an event of the type for the session's chat socket.
func (f *fixture) awaitFrame(t *testing.T, id sessions.ID, kind string) {
	t.Helper()
	f.awaitSession(t, id, "the frame", func(sessions.Session) bool {
		keys, err := f.redis.Keys(t.Context(), "parlance:frames:{"+string(id)+"}:chat:*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			entries, err := f.redis.XRange(t.Context(), key, "-", "+").Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if frames, _ := entry.Values["f"].(string); strings.Contains(frames, `"type":"`+kind+`"`) {
					return true
				}
			}
		}
		return false
	})
}

// TestReturnToAnotherNodeDuringAnswer has a client that comes back on another node during an
// answer: the first node goes on with it, and the other one passes it on.
func TestReturnToAnotherNodeDuringAnswer(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		// leave is how the first node loses its socket.
		leave func(t *testing.T, f *fixture, c *client)
		// anew has the client come back without an id.
		anew bool
		// lost has it lose its next connection too.
		lost bool
	}{
		{name: "Dropped", leave: func(_ *testing.T, _ *fixture, c *client) { _ = c.conn.CloseNow() }},
		{name: "HalfOpen", leave: func(*testing.T, *fixture, *client) {}},
		{name: "LostAgain", leave: func(_ *testing.T, _ *fixture, c *client) { _ = c.conn.CloseNow() }, lost: true},
		{name: "WithoutAnID", leave: func(_ *testing.T, _ *fixture, c *client) { _ = c.conn.CloseNow() }, anew: true},
		{name: "Stopping", leave: func(t *testing.T, f *fixture, c *client) {
			f.stop()
			f.stopping.Go(func() { _ = f.Close(context.WithoutCancel(t.Context())) })
			wantClose(t, c.closed(), 1012, "reconnect")
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, realtime.Limits{})
			t.Cleanup(f.stopping.Wait)
			other := f.beside(t)
			gate := make(chan struct{}, 4) // as many as there are pieces
			f.model.then(gated(gate, "One ", "two ", "three ", "four."), say("Next."))
			made := f.create(t, sessions.Text)
			c := f.dial(t, made.ChatURL)
			c.want("session.created")
			c.say("Count.")
			gate <- struct{}{}
			seen := c.until("response.output_text.delta")
			row.leave(t, f, c)
			gate <- struct{}{}
			if row.lost {
				other.dial(t, returning(made.ChatURL, seen)).lose()
			}
			returned := (*client)(nil)
			if row.anew {
				f.awaitFrame(t, made.Session.ID, "response.created")
				returned, seen = other.dial(t, made.ChatURL), nil
			} else {
				returned = other.dial(t, returning(made.ChatURL, seen))
			}
			returned.want("session.created")
			gate <- struct{}{}
			gate <- struct{}{}
			seen = append(seen, returned.until("response.done")...)
			checkWhole(t, seen, "One two three four.")
			returned.say("And?")
			answer := returned.until("response.done")
			if spoken(answer) != "Next." {
				t.Errorf("the next answer: %v", answer)
			}
			item, _ := path(seen[len(seen)-1], "response", "output", 0, "id").(string)
			returned.send(`{"type":"conversation.item.retrieve","item_id":"` + item + `"}`)
			if got := returned.want("conversation.item.retrieved"); path(got, "item", "content", 0, "text") != "One two three four." {
				t.Errorf("the answer's item: %v", got)
			}
		})
	}
}

// TestCancelOnAnotherNode cancels an answer that another node gives.
func TestCancelOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	f.model.then(sayAndWait("Once "))
	made := f.create(t, sessions.Text)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.say("Tell me.")
	seen := c.until("response.output_text.delta")
	returned := other.dial(t, returning(made.ChatURL, seen))
	returned.want("session.created")
	returned.send(`{"type":"response.cancel"}`)
	done := returned.until("response.done")
	if status := path(done[len(done)-1], "response", "status"); status != "cancelled" {
		t.Errorf("the answer is %v", status)
	}
}

// TestRedisLost has a client that comes back on another node without Redis: it gets what it missed
// as whole items, and its answer ends.
func TestRedisLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."), say("Next."))
	made := f.create(t, sessions.Text)
	seen := f.beginAnswer(t, made.ChatURL, gate)
	if err := f.redis.Close(); err != nil {
		t.Fatal(err)
	}
	returned := other.dial(t, returning(made.ChatURL, seen))
	returned.want("session.created")
	gate <- struct{}{}
	missed := returned.until("response.done")
	begun, done := first(seen, "response.created"), missed[len(missed)-1]
	if path(done, "response", "id") != path(begun, "response", "id") ||
		path(done, "response", "output", 0, "content", 0, "text") != "One two." {
		t.Errorf("the answer %v ended with %v", begun, done)
	}
	if item := first(missed, "conversation.item.done"); path(item, "item", "content", 0, "text") != "One two." {
		t.Errorf("the item: %v", missed)
	}
	returned.say("And?")
	if answer := returned.until("response.done"); spoken(answer) != "Next." {
		t.Errorf("the next answer: %v", answer)
	}
}

func first(events []event, kind string) event {
	for _, e := range events {
		if e["type"] == kind {
			return e
		}
	}
	return nil
}
