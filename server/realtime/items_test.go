package realtime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// put is a conversation.item.create of a message.
func put(id, role, text, previous string) string {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	return `{"type":"conversation.item.create","event_id":"put_` + id + `","previous_item_id":"` + previous + `",` +
		`"item":{"id":"` + id + `","type":"message","role":"` + role +
		`","content":[{"type":"` + kind + `","text":"` + text + `"}]}}`
}

// seen is the messages of a request as "role: text", without the marks that we add.
func seen(req model.Request) []string {
	var lines []string
	for _, m := range req.Messages {
		text := m.Text
		if m.Bare != "" {
			text = m.Bare // without its fence
		}
		if strings.HasPrefix(text, "[") {
			text = "[note] " + text[strings.Index(text, "\n")+1:]
		}
		for _, call := range m.ToolCalls {
			text += call.Name + string(call.Arguments)
		}
		lines = append(lines, string(m.Role)+": "+text)
	}
	return lines
}

func wantSeen(t *testing.T, f *fixture, want ...string) {
	t.Helper()
	asked := f.model.requests()
	if diff := cmp.Diff(want, seen(asked[len(asked)-1])); diff != "" {
		t.Errorf("what the model saw (-want +got):\n%s", diff)
	}
}

func TestItemsInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Noted."), say("Again."))
	made := f.create(t, sessions.VoiceAndText)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(
		put("a", "user", "one", ""),
		put("b", "assistant", "two", ""),
		put("c", "user", "zero", "root"),
		put("d", "system", "between", "a"),
	)
	places := map[string]any{}
	for range 4 {
		added := c.until("conversation.item.added")
		last := added[len(added)-1]
		places[path(last, "item", "id").(string)] = last["previous_item_id"]
	}
	if diff := cmp.Diff(map[string]any{"a": nil, "b": "a", "c": nil, "d": "a"}, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	c.send(
		`{"type":"conversation.item.create","event_id":"e1","item":{"id":"f","type":"function_call","call_id":"call_x",`+
			`"name":"look","arguments":"{\"n\":1}"}}`,
		`{"type":"conversation.item.create","item":{"id":"o","type":"function_call_output","call_id":"call_x","output":"found"}}`,
		`{"type":"conversation.item.create","event_id":"e2","item":{"type":"function_call","call_id":"call_x","name":"look",`+
			`"arguments":"{}"}}`,
		put("g", "user", "lost", "nowhere"),
		put("a", "user", "again", ""),
	)
	codes := map[any]any{}
	for range 3 { // the dialect answers at once for items that it knows, the conversation later
		failed := c.until("error")
		codes[path(failed[len(failed)-1], "error", "event_id")] = path(failed[len(failed)-1], "error", "code")
	}
	want := map[any]any{
		"put_a": "item_create_duplicate_id",
		"e2":    "invalid-request",
		"put_g": "item_create_invalid_previous_item_id",
	}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	c.send(`{"type":"response.create"}`)
	c.until("response.done")
	wantSeen(t, f, "user: zero", "user: one", "user: [note] between", "assistant: two", `assistant: look{"n":1}`, "tool: found")

	// The transcript has the order of time, and only the agent's own words as its.
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, pageOf(10))
	if err != nil || len(turns) != 1 || turns[0].UserText != "one\nzero" || turns[0].AgentText != "Noted." ||
		len(turns[0].ToolCalls()) != 0 {
		t.Errorf("transcript %+v, %v", turns, err)
	}

	// After a reconnect the places are the same.
	_ = c.conn.CloseNow()
	back := f.dial(t, made.ChatURL)
	back.want("session.created")
	back.send(put("h", "user", "half", "c"), `{"type":"response.create"}`)
	added := back.until("conversation.item.added")
	if added[len(added)-1]["previous_item_id"] != "c" {
		t.Errorf("place after a reconnect: %v", added)
	}
	back.until("response.done")
	wantSeen(
		t,
		f,
		"user: zero",
		"user: half",
		"user: one",
		"user: [note] between",
		"assistant: two",
		`assistant: look{"n":1}`,
		"tool: found",
		"assistant: Noted.",
		"user: (The user has said nothing new. Go on.)",
	)
}

func TestDeleteItem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Hm."), say("Yes."), say("Over HTTP."))
	made := f.create(t, sessions.VoiceAndText)
	c, other := f.dial(t, made.ChatURL), f.dial(t, made.VoiceURL)
	c.want("session.created")
	other.want("session.created")
	c.send(put("a", "user", "secret", ""), `{"type":"response.create"}`)
	answer := c.until("response.done")
	agent, _ := path(answer[len(answer)-1], "response", "output", 0, "id").(string)
	c.send(
		`{"type":"conversation.item.delete","event_id":"e","item_id":"a"}`,
		`{"type":"conversation.item.delete","event_id":"e2","item_id":"a"}`,
		`{"type":"conversation.item.retrieve","event_id":"e3","item_id":"nothing"}`,
		`{"type":"conversation.item.delete","item_id":"`+agent+`"}`,
	)
	deleted := c.until("conversation.item.deleted")
	if deleted[len(deleted)-1]["item_id"] != "a" {
		t.Errorf("deleted %v", deleted)
	}
	if failed := c.until("error"); path(failed[len(failed)-1], "error", "code") != "item_retrieve_invalid_item_id" &&
		path(failed[len(failed)-1], "error", "code") != "item_delete_invalid_item_id" {
		t.Errorf("again: %v", failed)
	}
	other.until("conversation.item.deleted")
	if gone := other.until("conversation.item.deleted"); gone[len(gone)-1]["item_id"] != agent {
		t.Errorf("the other socket learned of %v", gone)
	}
	other.send(`{"type":"conversation.item.retrieve","item_id":"a"}`)
	if failed := other.want("error"); path(failed, "error", "code") != "item_retrieve_invalid_item_id" {
		t.Errorf("retrieved what is deleted: %v", failed)
	}
	other.send(put("b", "user", "hello", "a"))
	if failed := other.want("error"); path(failed, "error", "code") != "item_create_invalid_previous_item_id" {
		t.Errorf("put behind what is deleted: %v", failed)
	}
	other.say("Hello?")
	other.until("response.done")
	wantSeen(t, f, "user: Hello?")
	if _, err := f.Turn(t.Context(), f.principal, made.Session.ID, "And here?", nil); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, f, "user: Hello?", "assistant: Yes.", "user: And here?")

	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, pageOf(10))
	if err != nil || turns[0].UserText != "secret" || turns[0].AgentText != "Hm." {
		t.Errorf("the transcript lost what was said: %+v, %v", turns, err)
	}
	var removed []string
	for _, item := range turns[0].Items {
		if item.Removed {
			removed = append(removed, item.ID)
		}
	}
	if diff := cmp.Diff([]string{"a", agent}, removed); diff != "" || len(turns[1].Items) != 0 {
		t.Errorf("marked as removed (-want +got):\n%s", diff)
	}
}

// TestRetrieveBehindDelete: a request for an item right behind its deletion gets the state after
// the deletion, also where the socket knows the item and would answer at once. The item is a
// finished one, then one of an open answer.
func TestRetrieveBehindDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(sayAndWait("Well,"))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.want("session.created")
	retrieve := func(id, event string) string {
		return `{"type":"conversation.item.retrieve","event_id":"` + event + `","item_id":"` + id + `"}`
	}
	remove := func(id string) string { return `{"type":"conversation.item.delete","item_id":"` + id + `"}` }
	refused := func(event string) {
		t.Helper()
		failed := c.want("error")
		if path(failed, "error", "code") != "item_retrieve_invalid_item_id" || path(failed, "error", "event_id") != event {
			t.Errorf("%s: %v", event, failed)
		}
	}
	c.send(put("a", "user", "secret", ""))
	c.until("conversation.item.done")
	c.send(retrieve("a", "before"), remove("a"), retrieve("a", "behind"))
	c.want("conversation.item.retrieved")
	c.want("conversation.item.deleted")
	refused("behind")

	c.say("one")
	added := c.until("response.output_text.delta")
	item, _ := path(added[len(added)-1], "item_id").(string)
	c.send(retrieve(item, "going out"), remove(item), retrieve(item, "gone"), `{"type":"response.cancel"}`)
	c.want("conversation.item.retrieved")
	c.until("conversation.item.deleted")
	refused("gone")
}

// TestUpdateHistory sends what updateHistory of the agents SDK does at once: an item is deleted,
// and one with the same id is created.
func TestUpdateHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Hm."), say("Yes."))
	made := f.create(t, sessions.VoiceAndText)
	c, other := f.dial(t, made.ChatURL), f.dial(t, made.VoiceURL)
	c.want("session.created")
	other.want("session.created")
	c.send(put("a", "user", "first", ""), `{"type":"response.create"}`)
	c.until("response.done")
	other.until("conversation.item.done") // the user's
	other.until("conversation.item.done") // the agent's
	c.send(
		`{"type":"conversation.item.delete","item_id":"a"}`,
		put("a", "user", "first, changed", "root"),
		`{"type":"conversation.item.retrieve","item_id":"a"}`,
	)
	for _, one := range []*client{c, other} {
		one.want("conversation.item.deleted")
		for _, kind := range []string{"conversation.item.added", "conversation.item.done"} {
			e := one.want(kind)
			if e["previous_item_id"] != nil || path(e, "item", "id") != "a" ||
				path(e, "item", "content", 0, "text") != "first, changed" {
				t.Errorf("%v", e)
			}
		}
	}
	if e := c.want("conversation.item.retrieved"); path(e, "item", "content", 0, "text") != "first, changed" {
		t.Errorf("%v", e)
	}
	c.send(put("a", "user", "again", ""))
	if failed := c.want("error"); path(failed, "error", "code") != "item_create_duplicate_id" {
		t.Errorf("%v", failed)
	}
	c.say("second")
	c.until("response.done")
	wantSeen(t, f, "user: first, changed", "assistant: Hm.", "user: second")
}

// TestRefusedIsNotAnswered: a client sends a message and asks for its answer at once. When the
// message is refused the model is not asked.
func TestRefusedIsNotAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Hm."))
	made := f.create(t, sessions.VoiceAndText)
	c := f.dial(t, made.ChatURL)
	c.want("session.created")
	c.send(
		put("a", "user", `with \u0000`, ""),
		`{"type":"response.create","response":{"metadata":{"parlance_request":"a"}}}`,
	)
	if failed := c.want("error"); path(failed, "error", "event_id") != "put_a" {
		t.Errorf("%v", failed)
	}
	c.send(
		put("b", "user", "without", ""),
		`{"type":"response.create","response":{"metadata":{"parlance_request":"b"}}}`,
	)
	c.until("response.done")
	wantSeen(t, f, "user: without")
	if asked := len(f.model.requests()); asked != 1 {
		t.Errorf("the model was asked %d times", asked)
	}
}

// TestDeleteWhileAnswering: an item of an open answer can be deleted once it is recorded.
func TestDeleteWhileAnswering(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(sayAndWait("Well,"), say("New."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.say("one")
	added := c.until("response.output_item.added")
	item, _ := path(added[len(added)-1], "item", "id").(string)
	c.send(`{"type":"conversation.item.delete","item_id":"`+item+`"}`, `{"type":"response.cancel"}`)
	before := c.until("conversation.item.deleted")
	if kinds := strings.Join(types(before), " "); !strings.Contains(kinds, "response.done") {
		t.Errorf("deleted before it was there: %v", kinds)
	}
	c.say("two")
	c.until("response.done")
	wantSeen(t, f, "user: one", "user: two")
}

func TestTruncateText(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("Written."))
	c := f.dial(t, f.create(t, sessions.Text).ChatURL)
	c.say("one")
	done := c.until("response.done")
	item, _ := path(done[len(done)-1], "response", "output", 0, "id").(string)
	c.send(`{"type":"conversation.item.truncate","event_id":"e","item_id":"` + item + `","content_index":0,"audio_end_ms":100}`)
	failed := c.want("error")
	want := event{
		"type":     "invalid_request_error",
		"code":     "invalid_value",
		"message":  "Only audio of the agent can be truncated; this item is text.",
		"param":    "item_id",
		"event_id": "e",
	}
	if diff := cmp.Diff(want, failed["error"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.send(`{"type":"conversation.item.truncate","item_id":"nothing","content_index":0,"audio_end_ms":100}`)
	if failed := c.want("error"); path(failed, "error", "code") != "item_truncate_invalid_item_id" {
		t.Errorf("got %v", failed)
	}
}

// TestIncomplete: a message that the agent did not finish is incomplete for every socket, at once
// and later.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(
		say("Whole."),
		endAs("Bounded", model.FinishLength),
		endAs("Filtered", model.FinishFiltered),
		sayAndWait("Cancelled"),
	)
	made := f.create(t, sessions.VoiceAndText)
	c, other := f.dial(t, made.ChatURL), f.dial(t, made.VoiceURL)
	c.want("session.created")
	other.want("session.created")
	statuses := func(events []event, of event) {
		t.Helper()
		for _, e := range events {
			if e["type"] == "conversation.item.done" && path(e, "item", "role") == "assistant" {
				text, _ := path(e, "item", "content", 0, "text").(string)
				of[text] = path(e, "item", "status")
			}
		}
	}
	here, there := event{}, event{}
	for _, text := range []string{"Whole.", "Bounded", "Filtered", "Cancelled"} {
		c.say("Go on.")
		if text == "Cancelled" {
			c.until("response.output_text.delta")
			c.send(`{"type":"response.cancel"}`)
		}
		told := c.until("response.done")
		statuses(told, here)
		if done := last(told); path(done, "response", "output", 0, "status") != here[text] {
			t.Errorf("%s: the item is %v in %v", text, here[text], done)
		}
		for len(there) < len(here) {
			statuses(other.until("conversation.item.done"), there)
		}
	}
	want := event{"Whole.": "completed", "Bounded": "incomplete", "Filtered": "incomplete", "Cancelled": "incomplete"}
	if diff := cmp.Diff([]event{want, want}, []event{here, there}); diff != "" {
		t.Errorf("here and there (-want +got):\n%s", diff)
	}
	returned := f.beside(t).dial(t, made.ChatURL+"&last_event_id=evt_gone.item_gone")
	missed := event{}
	for len(missed) < len(want) {
		statuses(returned.until("conversation.item.done"), missed)
	}
	if diff := cmp.Diff(want, missed); diff != "" {
		t.Errorf("who comes back (-want +got):\n%s", diff)
	}
}

func pageOf(size int) postgres.PageParams { return postgres.PageParams{Size: size} }
