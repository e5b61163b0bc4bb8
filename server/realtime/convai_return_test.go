package realtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

func TestElevenLabsComesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	f.model.then(say("Yes."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.say("Hm?")
	greeted, _ := c.one("agent_response")["parlance_event_id"].(string)
	c.one("agent_response")
	_ = c.conn.CloseNow()
	began := time.Now()
	returned := f.dialEleven(t, made.ChatURL+"&last_event_id=2") // an event_id: the event is sent again
	returned.send(initiation)
	returned.want("conversation_initiation_metadata")
	returned.want("agent_response") // the greeting, whose event it named
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("the SDK loses what comes so soon behind the metadata: %s", took)
	}
	returned.want("user_transcript")
	if said := returned.want("agent_response"); path(said, "agent_response_event", "agent_response") != "Yes." ||
		path(said, "agent_response_event", "event_id") != 4.0 {
		t.Errorf("replayed %v", said)
	}
	f.model.then(say("Still."))
	returned.say("And now?")
	if said := returned.one("agent_response"); path(said, "agent_response_event", "event_id") != 6.0 {
		t.Errorf("then %v", said)
	}
	_ = returned.conn.CloseNow()
	third := f.dialEleven(t, made.ChatURL+"&last_event_id="+greeted) // a frame's id: the later frames, each once
	third.send(initiation)
	var said []any
	for len(said) == 0 || said[len(said)-1] != 6.0 {
		said = append(said, path(third.one("agent_response"), "agent_response_event", "event_id"))
	}
	if diff := cmp.Diff([]any{4.0, 6.0}, said); diff != "" {
		t.Errorf("sent again (-want +got):\n%s", diff)
	}
}

// TestElevenLabsReturn: a client that comes back during an answer gets the rest of it. With the id
// of a frame it gets exactly the frames behind that.
func TestElevenLabsReturn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	goOn := make(chan struct{})
	f.model.then(func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		for _, piece := range []string{"One ", "two ", "three."} {
			if piece == "three." {
				select {
				case <-goOn:
				case <-ctx.Done():
					return model.Result{}, ctx.Err()
				}
			}
			if err := emit(model.TextDelta{Text: piece}); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{FinishReason: model.FinishStop}, nil
	})
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.say("Count")
	seen, begun := "", ""
	for begun == "" { // it may have the second piece too
		part := c.one("agent_chat_response_part")
		begun, _ = path(part, "text_response_part", "text").(string)
		seen, _ = part["parlance_event_id"].(string)
	}
	_ = c.conn.CloseNow()
	returned := f.dialEleven(t, made.ChatURL+"&last_event_id="+seen)
	returned.send(initiation)
	close(goOn)
	rest := returned.until("agent_response")
	text := begun
	for _, e := range rest {
		piece, _ := path(e, "text_response_part", "text").(string)
		text += piece
	}
	if text != "One two three." || path(rest[len(rest)-1], "agent_response_event", "agent_response") != "One two three." {
		t.Errorf("with %q before it all is %q, then %v", begun, text, rest[len(rest)-1])
	}
}

// TestElevenLabsContext: a contextual update is not answered. The model sees it with the next
// message, and the transcript has it.
func TestElevenLabsContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	f.model.then(say("The red one."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation, `{"type":"contextual_update","text":"The user looks at the red bicycle."}`, `{"type":"user_activity"}`)
	c.say("Which one?")
	c.one("agent_response")
	asked := f.model.requests()
	if len(asked) != 1 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	sent, _ := json.Marshal(asked[0].Messages)
	if !strings.Contains(string(sent), "red bicycle") || strings.Contains(asked[0].System, "red bicycle") {
		t.Errorf("the model got %s", sent)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{})
	if err != nil || len(turns) != 1 || turns[0].UserText != "Which one?" || len(turns[0].Items) != 1 ||
		turns[0].Items[0].Kind != sessions.SystemItem {
		t.Errorf("transcript %+v %v", turns, err)
	}
}

// TestElevenLabsClientTool: the agent's client tools are offered, and the answer goes on with the
// result, which may be any JSON.
func TestElevenLabsClientTool(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{ClientTools: []agents.ClientTool{
		{
			Name:        "show_map",
			Description: "Shows a map.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}}}`),
		},
	}}, realtime.Limits{})
	f.model.then(call("show_map", `{"place":"Bern"}`), say("There it is."))
	c := f.dialEleven(t, f.create(t, sessions.Text).ChatURL)
	c.send(initiation)
	c.say("Show me Bern")
	called, _ := path(c.one("client_tool_call"), "client_tool_call").(event)
	if called["tool_name"] != "show_map" || path(called, "parameters", "place") != "Bern" || called["event_id"] != 2.0 {
		t.Errorf("called %v", called)
	}
	result, _ := json.Marshal(event{
		"type":         "client_tool_result",
		"tool_call_id": called["tool_call_id"],
		"result":       event{"shown": true},
		"is_error":     false,
	})
	c.send(string(result))
	if said := c.one("agent_response"); path(said, "agent_response_event", "agent_response") != "There it is." {
		t.Errorf("then %v", said)
	}
	asked := f.model.requests()
	last := asked[len(asked)-1].Messages
	if offered := asked[0].Tools[len(asked[0].Tools)-1]; offered.Name != "show_map" ||
		!strings.Contains(last[len(last)-1].Text, `{"shown":true}`) {
		t.Errorf("offered %v, result %q", offered, last[len(last)-1].Text)
	}
	c.send(string(result))
	if refused := c.one("error"); path(refused, "error_event", "details", "event") != "client_tool_result" {
		t.Errorf("twice: %v", refused)
	}
}

// TestElevenLabsRedisLost: a client that comes back on another node without Redis gets the whole
// answer at its end, and the conversation goes on.
func TestElevenLabsRedisLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	other := f.beside(t)
	gate := make(chan struct{}, 2) // as many as there are pieces
	f.model.then(gated(gate, "One ", "two."), say("Next."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.say("Count.")
	gate <- struct{}{}
	seen, _ := c.one("agent_chat_response_part")["parlance_event_id"].(string)
	if err := f.redis.Close(); err != nil {
		t.Fatal(err)
	}
	returned := other.dialEleven(t, made.ChatURL+"&last_event_id="+seen)
	returned.want("conversation_initiation_metadata")
	gate <- struct{}{}
	if said := returned.want("agent_response"); path(said, "agent_response_event", "agent_response") != "One two." ||
		path(said, "agent_response_event", "event_id") != 2.0 {
		t.Errorf("at its end came %v", said)
	}
	returned.say("And?")
	if said := returned.one("agent_response"); path(said, "agent_response_event", "agent_response") != "Next." {
		t.Errorf("the next answer: %v", said)
	}
}
