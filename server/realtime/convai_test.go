package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
)

// eleven is a client of the ElevenLabs protocol. It answers pings, and leaves pings and
// agent_typing out of what it reads.
type eleven struct{ *client }

// initiation is the first event of @elevenlabs/client, as observed.
const initiation = `{"type":"conversation_initiation_client_data","conversation_config_override":{"agent":{},"tts":{},` +
	`"conversation":{"text_only":true}},"source_info":{"source":"js_sdk","version":"1.25.0"}}`

func (f *fixture) dialEleven(t *testing.T, published string) eleven {
	t.Helper()
	return eleven{f.dial(t, published+"&source=js_sdk&version=1.25.0", &websocket.DialOptions{Subprotocols: []string{"convai"}})}
}

func (c eleven) read() (event, error) {
	if len(c.unread) > 0 {
		e := c.unread[0]
		c.unread = c.unread[1:]
		return e, nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience) // pings do not renew it
	defer cancel()
	for {
		_, data, err := c.conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			c.t.Fatalf("frame %q: %v", data, err)
		}
		switch e["type"] {
		case "agent_typing":
			continue
		case "ping":
		default:
			return e, nil
		}
		pong, _ := json.Marshal(event{"type": "pong", "event_id": path(e, "ping_event", "event_id")})
		if err := c.conn.Write(c.t.Context(), websocket.MessageText, pong); err != nil {
			return nil, err
		}
	}
}

func (c eleven) until(kind string) []event {
	c.t.Helper()
	var read []event
	for {
		e, err := c.read()
		if err != nil {
			c.t.Fatalf("waiting for %s, behind %v: %v", kind, types(read), err)
		}
		read = append(read, e)
		if e["type"] == kind {
			return read
		}
	}
}

// one reads to the first event of the type and returns that event.
func (c eleven) one(kind string) event {
	c.t.Helper()
	read := c.until(kind)
	return read[len(read)-1]
}

func (c eleven) want(kind string) event {
	c.t.Helper()
	e, err := c.read()
	if err != nil || e["type"] != kind {
		c.t.Fatalf("got %v %v, want %s", e, err, kind)
	}
	return e
}

func (c eleven) closed() (websocket.CloseError, []event) {
	c.t.Helper()
	var read []event
	for {
		e, err := c.read()
		if err != nil {
			closed, ok := errors.AsType[websocket.CloseError](err)
			if !ok {
				c.t.Fatalf("no close frame: %v", err)
			}
			return closed, read
		}
		read = append(read, e)
	}
}

func (c eleven) say(text string) {
	c.t.Helper()
	frame, _ := json.Marshal(event{"type": "user_message", "text": text})
	c.send(string(frame))
}

// parts is the text of an answer's parts, which must be start, deltas and stop.
func parts(t *testing.T, events []event) string {
	t.Helper()
	var kinds []string
	text := ""
	for _, e := range events {
		if e["type"] != "agent_chat_response_part" {
			continue
		}
		kind, _ := path(e, "text_response_part", "type").(string)
		piece, _ := path(e, "text_response_part", "text").(string)
		kinds, text = append(kinds, kind), text+piece
	}
	if len(kinds) < 3 || kinds[0] != "start" || kinds[len(kinds)-1] != "stop" ||
		slices.ContainsFunc(kinds[1:len(kinds)-1], func(k string) bool { return k != "delta" }) {
		t.Errorf("parts %v", kinds)
	}
	return text
}

func TestElevenLabsTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello {{name}}!"}, realtime.Limits{})
	f.passages.passages = []sessions.Passage{
		{SourceID: "src_1", SourceName: "Refunds", ChunkID: "chk_1", Similarity: 0.9, Text: "Fourteen days."},
	}
	f.model.then(say("In fourteen ", "days."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	if got := c.conn.Subprotocol(); got != "convai" {
		t.Fatalf("selected %q", got)
	}
	c.send(initiation)
	metadata := c.want("conversation_initiation_metadata")
	want := event{
		"conversation_id":           string(made.Session.ID),
		"agent_output_audio_format": "pcm_24000",
		"user_input_audio_format":   "pcm_24000",
	}
	if diff := cmp.Diff(want, metadata["conversation_initiation_metadata_event"]); diff != "" {
		t.Errorf("metadata: %s", diff)
	}
	greeting := c.until("agent_response")
	last := greeting[len(greeting)-1]
	if parts(t, greeting) != "Hello {{name}}!" || path(last, "agent_response_event", "agent_response") != "Hello {{name}}!" ||
		path(last, "agent_response_event", "event_id") != 2.0 {
		t.Errorf("greeting %v", greeting)
	}
	c.say("When?")
	answer := c.until("agent_response")
	heard := answer[0]
	if heard["type"] != "user_transcript" || path(heard, "user_transcription_event", "user_transcript") != "When?" ||
		path(heard, "user_transcription_event", "event_id") != 3.0 {
		t.Errorf("heard %v", heard)
	}
	last = answer[len(answer)-1]
	if parts(t, answer) != "In fourteen days." || path(last, "agent_response_event", "agent_response") != "In fourteen days." ||
		path(last, "agent_response_event", "event_id") != 4.0 ||
		path(last, "agent_response_event", "parlance_citations", 0, "source_name") != "Refunds" {
		t.Errorf("answer %v", last)
	}
	if err := c.conn.Close(websocket.StatusNormalClosure, "User ended conversation"); err != nil {
		t.Fatal(err)
	}
	f.awaitSession(
		t,
		made.Session.ID,
		"the hang-up",
		func(s sessions.Session) bool { return s.EndReason == sessions.ReasonHangUp },
	)
}

// TestElevenLabsIsChosenByItsSubprotocol: the first known sub-protocol of the offer decides,
// whatever carries the token.
func TestElevenLabsIsChosenByItsSubprotocol(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	for _, offered := range [][]string{{"convai", "realtime"}, {"convai"}, {"convai", "bearer.%s"}, {"bearer.%s", "convai"}} {
		made := f.create(t, sessions.Text)
		url := made.ChatURL
		for i := range offered {
			if strings.Contains(offered[i], "%s") {
				offered[i] = strings.ReplaceAll(offered[i], "%s", made.Token)
				url, _, _ = strings.Cut(url, "?")
			}
		}
		c := eleven{f.dial(t, url, &websocket.DialOptions{Subprotocols: offered})}
		if got := c.conn.Subprotocol(); got != "convai" {
			t.Errorf("%v: selected %q", offered, got)
		}
		c.want("conversation_initiation_metadata")
	}
}

// TestElevenLabsGreetsWithoutData: a client that sends no initiation data is greeted, also one that
// sends a message first.
func TestElevenLabsGreetsWithoutData(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	silent := f.dialEleven(t, f.create(t, sessions.Text).ChatURL)
	f.model.then(say("Yes."))
	hasty := f.dialEleven(t, f.create(t, sessions.Text).ChatURL)
	hasty.say("Are you there?")
	for _, text := range []string{"Hello!", "Yes."} {
		if said := hasty.one("agent_response"); path(said, "agent_response_event", "agent_response") != text {
			t.Errorf("got %v, want %s", said, text)
		}
	}
	if said := silent.one("agent_response"); path(said, "agent_response_event", "agent_response") != "Hello!" {
		t.Errorf("got %v", said)
	}
}

func TestElevenLabsOverrides(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{
		Instructions:    "Be kind.",
		FirstMessage:    "Hello!",
		ClientOverrides: []string{"first_message", "instructions", "tts", agents.KeyClientVariables},
	}, realtime.Limits{})
	f.model.then(say("Yes."))
	made, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
		AgentID: f.agent.ID, UserID: "user-1", Modality: sessions.Text, DynamicVariables: map[string]string{"tier": "gold"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := f.dialEleven(t, made.ChatURL)
	c.send(`{"type":"conversation_initiation_client_data","user_id":"somebody","custom_llm_extra_body":{"top_p":1},
		"conversation_config_override":{"agent":{"prompt":{"prompt":"Be brief with {{name}} of {{tier}}.","llm":"gpt-x"},
		"first_message":"Hi {{name}}!","language":"de"},"tts":{"voice_id":"ada"}},
		"dynamic_variables":{"name":"Bo","tier":"lead","secret__x":"y","system__time_utc":"z","visits":3,"odd":{}}}`)
	c.want("conversation_initiation_metadata")
	refused := map[string]string{}
	var said event
	for said == nil {
		e, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		switch e["type"] {
		case "error":
			fields, _ := path(e, "error_event", "details", "fields").([]any)
			for i := range fields {
				name, _ := path(fields, i, "field").(string)
				refused[name], _ = path(e, "error_event", "error_type").(string)
			}
		case "agent_response":
			said = e
		}
	}
	if path(said, "agent_response_event", "agent_response") != "Hi Bo!" {
		t.Errorf("greeted with %v", said)
	}
	want := map[string]string{
		"conversation_config_override.agent.prompt.llm": "override_error",
		"conversation_config_override.agent.language":   "override_error",
		"dynamic_variables.odd":                         "value_error",
		"dynamic_variables.tier":                        "value_error",
		"dynamic_variables.secret__x":                   "value_error",
		"dynamic_variables.system__time_utc":            "value_error",
		"user_id":                                       "value_error",
		"custom_llm_extra_body":                         "value_error",
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	c.say("Hm?")
	c.one("agent_response")
	if system := f.model.requests()[0].System; !strings.Contains(system, "Be brief with Bo of gold.") {
		t.Errorf("instructions %q", system)
	}
	if got := f.session(t, made.Session.ID); got.AssignedVariables["name"] != "Bo" ||
		got.AssignedVariables["visits"] != "3" || len(got.AssignedVariables) != 2 ||
		got.UserID != "user-1" {
		t.Errorf("session %v %s", got.AssignedVariables, got.UserID)
	}
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{})
	if err != nil || turns[0].AgentText != "Hi Bo!" {
		t.Errorf("transcript %v %v", turns, err)
	}
}

// TestElevenLabsInterruption: a new message interrupts the answer. Messages right behind each other
// get one answer, and nothing is answered twice.
func TestElevenLabsInterruption(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	heardAll := make(chan struct{})
	f.model.then(sayUntil("Well, ", heardAll), say("Two and three."), say("Four."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.say("one")
	for path(c.one("agent_chat_response_part"), "text_response_part", "type") != "delta" {
	}
	c.say("two")
	c.say("three")
	await(t, "both messages are stored", func() bool {
		turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{Size: 10})
		return err == nil && len(turns) == 2 && len(turns[1].Messages) == 2
	})
	close(heardAll)
	broken := c.until("agent_response_correction")
	var interrupted, kept event
	for _, e := range broken {
		switch e["type"] {
		case "interruption":
			interrupted = e
		case "agent_response_correction":
			kept = e
		}
	}
	if slices.Contains(types(broken), "user_transcript") {
		t.Errorf("before the end of the answer came %v", types(broken))
	}
	if heard := c.want("user_transcript"); path(heard, "user_transcription_event", "user_transcript") != "two" {
		t.Errorf("behind it came %v", heard)
	}
	if path(interrupted, "interruption_event", "event_id") != 3.0 {
		t.Errorf("interruption %v", interrupted)
	}
	want := event{"original_agent_response": "Well, ", "corrected_agent_response": "Well, ", "event_id": 2.0}
	if diff := cmp.Diff(want, kept["agent_response_correction_event"]); diff != "" {
		t.Errorf("correction: %s", diff)
	}
	said := c.one("agent_response")
	if path(said, "agent_response_event", "agent_response") != "Two and three." {
		t.Errorf("then %v", said)
	}
	c.say("four")
	answer := c.until("agent_response")
	if slices.Contains(types(answer), "interruption") ||
		path(answer[len(answer)-1], "agent_response_event", "agent_response") != "Four." {
		t.Errorf("then %v", answer)
	}
	if asked := f.model.requests(); len(asked) != 3 {
		t.Errorf("the model was asked %d times", len(asked))
	}
}

func TestElevenLabsTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	tool, err := f.tools.Create(t.Context(), f.ref, tools.CreateParams{
		Slug:        "order_status",
		Description: "Looks an order up.",
		Kind:        tools.KindHTTP,
		Config: tools.Config{
			WebhookURL:  f.endpoint.URL + "/orders",
			Method:      "POST",
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.tools.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID, Enabled: true}); err != nil {
		t.Fatal(err)
	}
	f.endpoint.Script("/orders", httptool.Step{Body: `{"state":"shipped"}`})
	goodbye := func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		if err := emit(model.TextDelta{Text: "Goodbye."}); err != nil {
			return model.Result{}, err
		}
		return call("end_call", `{}`)(ctx, req, emit)
	}
	f.model.then(call("order_status", `{"id":"7"}`), say("Shipped."), goodbye)
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.say("Where is 7?")
	answer := c.until("agent_response")
	var order []string
	for _, kind := range types(answer) {
		if kind != "agent_chat_response_part" {
			order = append(order, kind)
		}
	}
	want := []string{
		"conversation_initiation_metadata", "user_transcript", "agent_tool_request", "agent_tool_response", "agent_response",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order: %s", diff)
	}
	for _, e := range answer {
		if e["type"] == "agent_tool_response" {
			got := path(e, "agent_tool_response")
			want := event{
				"tool_name":    "order_status",
				"tool_call_id": path(got, "tool_call_id"),
				"tool_type":    "webhook",
				"is_error":     false,
				"is_called":    true,
				"event_id":     2.0,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("agent_tool_response: %s", diff)
			}
		}
	}
	// The SDK hangs up on the answer of end_call, so the farewell must be there before.
	c.say("Bye")
	end, events := c.closed()
	if end.Code != websocket.StatusNormalClosure || end.Reason != "end_call" {
		t.Errorf("closed %v", end)
	}
	kinds := types(events)
	if len(kinds) < 2 || kinds[len(kinds)-1] != "agent_tool_response" || kinds[len(kinds)-2] != "agent_response" {
		t.Errorf("at the end came %v", kinds)
	}
}

func TestElevenLabsFeedback(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{FirstMessage: "Hello!"}, realtime.Limits{})
	f.model.then(say("Yes."))
	made := f.create(t, sessions.Text)
	c := f.dialEleven(t, made.ChatURL)
	c.send(initiation)
	c.one("agent_response")
	c.say("Hm?")
	c.one("agent_response")
	c.send(
		`{"type":"feedback","score":"like","event_id":2}`,
		`{"type":"feedback","score":"dislike","event_id":4}`,
		`{"type":"feedback","score":"like","event_id":2}`,
		`{"type":"feedback","score":"like","event_id":8}`,
	)
	if refused := c.want("error"); path(refused, "error_event", "details", "event") != "feedback" ||
		path(refused, "error_event", "error_type") != "value_error" {
		t.Errorf("refused %v", refused)
	}
	// The dialect refuses at once, the conversation in its turn.
	f.awaitSession(
		t,
		made.Session.ID,
		"counting both",
		func(s sessions.Session) bool { return s.Likes == sessions.Likes{Likes: 1, Dislikes: 1} },
	)
	c.send(`{"type":"feedback","score":null,"event_id":4}`, `{"type":"feedback","score":"like","event_id":1}`)
	c.want("error")
	f.awaitSession(
		t,
		made.Session.ID,
		"taking one back",
		func(s sessions.Session) bool { return s.Likes == sessions.Likes{Likes: 1} },
	)
	turns, _, err := f.Transcript(t.Context(), f.principal, made.Session.ID, postgres.PageParams{})
	if err != nil || turns[0].Feedback != sessions.Like || turns[1].Feedback != sessions.NoScore {
		t.Errorf("transcript %v %v", turns, err)
	}
}
