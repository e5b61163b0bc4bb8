package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/test/harness"
)

// handbook is what the agent knows; the answer to the test's question is in one section only.
const handbook = `# Acme handbook

## Opening hours

The shop in Bergstrasse is open from nine to six on weekdays.

## Refunds

A refund is paid within fourteen days after the parcel has come back to the warehouse.
`

// slice is an installation with an agent that has a document, a tool and a webhook.
type slice struct {
	*harness.Env
	t       *testing.T
	agentID string
	shop    *httptool.Server
	hook    *receiver.Receiver
	// endpoint is the webhook endpoint's path.
	endpoint string
	toolID   string
}

func newSlice(t *testing.T, settings map[string]string) *slice {
	t.Helper()
	return newSliceWith(t, harness.Options{Settings: settings})
}

func newSliceWith(t *testing.T, o harness.Options) *slice {
	t.Helper()
	s := &slice{t: t, shop: httptool.New(t), hook: receiver.New(t)}
	all := map[string]string{"PARLANCE_EGRESS_CA_FILE": s.hook.CAFile(t)}
	for name, value := range o.Settings {
		all[name] = value
	}
	o.Settings = all
	s.Env = harness.Start(t, o)
	agent := s.Do(t, "POST", s.Tenant.In("/agents"), map[string]any{
		"name": "Ada", "instructions": "Answer from the handbook.", "first_message": "Hello {{name}}!",
	}).Must(t, 201)
	s.agentID = agent.Text("id")
	if got, want := agent.Header.Get("Location"), s.URL+s.Tenant.In("/agents/"+s.agentID); got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	s.subscribe()
	return s
}

func (s *slice) subscribe() {
	s.t.Helper()
	made := s.Do(s.t, "POST", s.Tenant.In("/webhooks"), map[string]any{
		"url": s.hook.URL, "events": []string{"post_call_transcription", "kb.source_ingested"},
	}).Must(s.t, 201)
	s.hook.Expect(made.Text("secret"))
	s.endpoint = s.Tenant.In("/webhooks/" + made.Text("id"))
	if seen := s.Do(s.t, "GET", s.endpoint, nil).Must(s.t, 200); seen.Text("secret") != "" {
		s.t.Error("the secret is shown a second time")
	}
}

// learn makes the source ready and attaches it.
func (s *slice) learn(sourceID string) {
	s.t.Helper()
	path := s.Tenant.In("/knowledge-base/sources/" + sourceID)
	harness.Await(s.t, harness.Patience, "the source is ready", func() bool {
		source := s.Do(s.t, "GET", path, nil).Must(s.t, 200)
		if source.Text("status") == "failed" {
			s.t.Fatalf("ingestion failed: %s", source.Body)
		}
		return source.Text("status") == "ready"
	})
	ready := s.Do(s.t, "GET", path, nil)
	if ready.At("progress") != 100.0 || ready.At("chunk_count") == 0.0 || ready.Text("embedding_model") == "" ||
		ready.Text("heartbeat_at") == "" {
		s.t.Errorf("a ready source: %s", ready.Body)
	}
	s.Do(s.t, "POST", s.Tenant.In("/agents/"+s.agentID+"/knowledge-base/attach"),
		map[string]any{"source_ids": []string{sourceID}}).Must(s.t, 200)
}

// addTool creates order_status, runs it once and attaches it.
func (s *slice) addTool() {
	s.t.Helper()
	const secret = "Bearer shop-secret-4711"
	tool := s.Do(s.t, "POST", s.Tenant.In("/tools"), map[string]any{
		"slug": "order_status", "description": "Looks up an order.", "kind": "http", "method": "GET",
		"webhook_url": s.shop.URL + "/orders/{number}", "path_params": []string{"number"}, "auth_header": secret,
		"input_schema": json.RawMessage(`{"type":"object","properties":{"number":{"type":"string","pattern":"^[0-9]+$"}},"required":["number"]}`),
	}).Must(s.t, 201)
	s.toolID = tool.Text("id")
	if tool.At("auth_header_set") != true || bytes.Contains(tool.Body, []byte("shop-secret")) {
		s.t.Errorf("the answer to creation: %s", tool.Body)
	}
	sealed := harness.Rows[[]byte](s.t, s.Env, "SELECT auth_header FROM tools")
	if len(sealed) != 1 || len(sealed[0]) == 0 || bytes.Contains(sealed[0], []byte("shop-secret")) {
		s.t.Error("the auth_header is not sealed in the database")
	}
	s.shop.Script("/orders/7", httptool.Step{Body: `{"state":"shipped"}`})
	run := s.Do(s.t, "POST", s.Tenant.In("/tools/"+s.toolID+"/run"), `{"args":{"number":"7"}}`).Must(s.t, 200)
	if run.Text("output", "state") != "shipped" || run.At("status_code") != 200.0 || bytes.Contains(run.Body, []byte("shop-secret")) {
		s.t.Errorf("run: %s", run.Body)
	}
	if got := s.shop.Requests("/orders/7"); len(got) != 1 || got[0].Header.Get("Authorization") != secret {
		s.t.Errorf("the endpoint got %+v", got)
	}
	refused := s.Do(s.t, "POST", s.Tenant.In("/tools/"+s.toolID+"/run"), `{"args":{"number":"seven"}}`).Must(s.t, 400)
	if refused.Code() != "tool-arguments-invalid" || len(s.shop.Requests("")) != 1 {
		s.t.Errorf("arguments against the schema: %s", refused.Body)
	}
	s.Do(s.t, "POST", s.Tenant.In("/agents/"+s.agentID+"/tools/attach"), map[string]any{"tool_id": s.toolID}).Must(s.t, 200)
}

func (s *slice) createSession() harness.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/v1/sessions", map[string]any{
		"agent_id": s.agentID, "user_id": "user-1", "modality": "text", "dynamic_variables": map[string]string{"name": "Eva"},
	}, harness.Key(s.Tenant.Runtime)).Must(s.t, 201)
}

// finish ends the session and waits for its webhook, which it checks and returns the data of.
func (s *slice) finish(sessionID string) map[string]any {
	s.t.Helper()
	s.Do(s.t, "POST", "/v1/sessions/"+sessionID+"/end", `{"status":"completed","reason":"done"}`).Must(s.t, 200)
	var got receiver.Request
	harness.Await(s.t, harness.Patience, "post_call_transcription arrives", func() bool {
		at := slices.IndexFunc(s.hook.Requests(), func(r receiver.Request) bool { return r.Type == "post_call_transcription" })
		if at >= 0 {
			got = s.hook.Requests()[at]
		}
		return at >= 0
	})
	if got.Err != nil {
		s.t.Errorf("the receiver refuses the request: %v", got.Err)
	}
	s.delivered(got.EventID)
	var body struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(got.Body, &body); err != nil || body.Data["session_id"] != sessionID {
		s.t.Errorf("the webhook's body %s: %v", got.Body, err)
	}
	return body.Data
}

// delivered waits until the delivery of an event is written down as succeeded, at once.
func (s *slice) delivered(eventID string) {
	s.t.Helper()
	harness.Await(s.t, harness.Patience, "the delivery is recorded", func() bool {
		for i := range s.Do(s.t, "GET", s.endpoint+"/deliveries", nil).Must(s.t, 200).List("deliveries") {
			page := s.Do(s.t, "GET", s.endpoint+"/deliveries", nil)
			if page.Text("deliveries", i, "event_id") == eventID {
				return page.Text("deliveries", i, "status") == "succeeded" && page.At("deliveries", i, "attempt") == 1.0
			}
		}
		return false
	})
}

func TestSliceWithoutModel(t *testing.T) {
	t.Parallel()
	s := newSlice(t, nil)
	inline := s.Do(t, "POST", s.Tenant.In("/knowledge-base/sources/inline"), map[string]any{
		"name":    "Handbook",
		"content": handbook,
	}).Must(t, 202)
	if status := inline.Text("status"); status != "queued" {
		t.Errorf("a new source is %q", status)
	}
	s.learn(inline.Text("id"))
	found := s.Do(t, "POST", s.Tenant.In("/knowledge-base/query"), map[string]any{
		"agent_id": s.agentID,
		"q":        "When is a refund paid?", "top_k": 1,
	}, harness.Key(s.Tenant.Runtime)).Must(t, 200)
	if !strings.Contains(found.Text("chunks", 0, "content"), "fourteen days") || found.Text("chunks", 0, "source_id") != inline.Text("id") {
		t.Errorf("query: %s", found.Body)
	}
	s.addTool()
	made := s.createSession()
	id := made.Text("id")

	asked := s.Do(t, "POST", "/v1/sessions/"+id+"/turns", `{"text":"When is a refund paid?"}`, harness.Key(made.Text("token"))).Must(t, 200)
	if !strings.Contains(asked.Text("text"), "fourteen days") || asked.Text("citations", 0, "source_name") != "Handbook" {
		t.Errorf("the turn: %s", asked.Body)
	}
	events := s.streamTurn(id, `/tool order_status {"number":"7"}`)
	if got := types(events); got[0] != "turn.started" || !slices.Contains(got, "turn.tool_call") || got[len(got)-1] != "turn.done" {
		t.Errorf("the streamed turn's events: %v", got)
	}
	if last := events[len(events)-1]; !strings.Contains(fmt.Sprint(harness.Path(last, "turn", "text")), "shipped") {
		t.Errorf("turn.done: %v", last)
	}
	data := s.finish(id)
	if status := harness.Path(data, "status"); status != "done" || !strings.Contains(fmt.Sprint(data["transcript"]), "fourteen days") {
		t.Errorf("the webhook's data: %v", data)
	}
	s.checkTranscript(id, 2)
	if closed := s.Do(t, "POST", "/v1/sessions/"+id+"/turns", `{"text":"And now?"}`); closed.Status != 409 ||
		closed.Code() != "session-closed" {
		t.Errorf("a turn in a closed session: %d %s", closed.Status, closed.Body)
	}
}

// checkTranscript looks for the greeting and n turns of the user, in order and completed.
func (s *slice) checkTranscript(sessionID string, n int) {
	s.t.Helper()
	transcript := s.Do(s.t, "GET", "/v1/sessions/"+sessionID+"/transcript", nil).Must(s.t, 200)
	turns := transcript.List("turns")
	if len(turns) != n+1 || transcript.Text("turns", 0, "agent_text") != "Hello Eva!" {
		s.t.Fatalf("the transcript: %s", transcript.Body)
	}
	for i := range turns {
		if transcript.At("turns", i, "index") != float64(i) || transcript.Text("turns", i, "status") != "completed" {
			s.t.Errorf("turn %d: %v", i, turns[i])
		}
	}
	calls := s.Do(s.t, "GET", "/v1/sessions/"+sessionID+"/tool-calls", nil).Must(s.t, 200)
	if len(calls.List("tool_calls")) != 1 || calls.Text("tool_calls", 0, "slug") != "order_status" ||
		calls.At("tool_calls", 0, "error") != nil {
		s.t.Errorf("the session's tool calls: %s", calls.Body)
	}
}

// streamTurn takes a turn as Server-Sent Events.
func (s *slice) streamTurn(sessionID, text string) []map[string]any {
	s.t.Helper()
	answer := s.Do(s.t, "POST", "/v1/sessions/"+sessionID+"/turns", map[string]string{"text": text},
		harness.Header("Accept", "text/event-stream")).Must(s.t, 200)
	if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		s.t.Fatalf("Content-Type %q", kind)
	}
	return parseEvents(s.t, bytes.NewReader(answer.Body))
}

// parseEvents reads Server-Sent Events to the end; their names must be the types in their data.
func parseEvents(t *testing.T, r io.Reader) []map[string]any {
	t.Helper()
	var events []map[string]any
	name := ""
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = value
		}
		if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var event map[string]any
			if err := json.Unmarshal([]byte(value), &event); err != nil || event["type"] != name {
				t.Fatalf("event %q with the data %s: %v", name, value, err)
			}
			events = append(events, event)
		}
	}
	return events
}

func types(events []map[string]any) []string {
	kinds := make([]string, len(events))
	for i, event := range events {
		kinds[i], _ = event["type"].(string)
	}
	return kinds
}

func TestSliceWithModelOverSocket(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	llm := openaichat.New(t,
		openaichat.Reply{Calls: []openaichat.Call{{ID: "call_1", Name: "order_status", Arguments: []string{`{"num`, `ber":"7"}`}}}},
		openaichat.Reply{Text: []string{"It has ", "been shipped; ", "a refund takes fourteen days."}, Gate: gate})
	s := newSlice(t, map[string]string{"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model})
	s.learn(s.upload("handbook.md", "text/markdown", handbook).Must(t, 202).Text("id"))
	s.addTool()
	made := s.createSession()
	socket, answer, err := websocket.Dial(t.Context(), made.Text("chat_url"), &websocket.DialOptions{Subprotocols: []string{"realtime"}})
	if err != nil {
		t.Fatalf("dial: %v %v", err, answer)
	}
	defer func() { _ = socket.CloseNow() }()
	if socket.Subprotocol() != "realtime" {
		t.Errorf("sub-protocol %q", socket.Subprotocol())
	}
	greeting := readUntil(t, socket, "response.done")
	if types(greeting)[0] != "session.created" || greeting[len(greeting)-1]["type"] != "response.done" {
		t.Errorf("the greeting: %v", types(greeting))
	}
	write(t, socket, `{"type":"conversation.item.create","item":{"type":"message","role":"user",`+
		`"content":[{"type":"input_text","text":"Where is order 7, and when is a refund paid?"}]}}`)
	write(t, socket, `{"type":"response.create"}`)
	gate <- struct{}{}
	// The first piece is here while the model still holds back the rest: it streams.
	if piece := readUntil(t, socket, "response.output_text.delta"); piece[len(piece)-1]["delta"] != "It has " {
		t.Errorf("the first piece: %v", piece[len(piece)-1])
	}
	close(gate)
	rest := readUntil(t, socket, "response.done")
	done := rest[len(rest)-1]
	if text := fmt.Sprint(harness.Path(done, "response", "output")); !strings.Contains(text,
		"It has been shipped; a refund takes fourteen days.") || !strings.Contains(text, "mcp_call") {
		t.Errorf("response.done: %v", done)
	}
	s.checkPrompt(llm)
	if err := socket.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("close: %v", err)
	}
	data := s.finish(made.Text("id"))
	if text := fmt.Sprint(data["transcript"]); !strings.Contains(text, "order_status") || !strings.Contains(text, "fourteen days") {
		t.Errorf("the webhook's transcript: %s", text)
	}
	s.checkTranscript(made.Text("id"), 1)
}

// checkPrompt looks at what the model was given: the passage, the tool, then the tool's result.
func (s *slice) checkPrompt(llm *openaichat.Server) {
	s.t.Helper()
	asked := llm.Requests()
	if len(asked) != 2 {
		s.t.Fatalf("the model was asked %d times", len(asked))
	}
	if !bytes.Contains(asked[0].Body, []byte("fourteen days")) || !bytes.Contains(asked[0].Body, []byte("order_status")) {
		s.t.Errorf("the first request lacks passage or tool: %s", asked[0].Body)
	}
	if !bytes.Contains(asked[1].Body, []byte("shipped")) {
		s.t.Errorf("the second request lacks the tool's result: %s", asked[1].Body)
	}
	for _, request := range asked {
		if bytes.Contains(request.Body, []byte("shop-secret")) {
			s.t.Error("the model was shown the auth_header")
		}
	}
}

func write(t *testing.T, socket *websocket.Conn, frame string) {
	t.Helper()
	if err := socket.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		t.Fatal(err)
	}
}

// readUntil reads frames to the first of that type, which is the last it returns.
func readUntil(t *testing.T, socket *websocket.Conn, kind string) []map[string]any {
	t.Helper()
	var frames []map[string]any
	for {
		_, data, err := socket.Read(t.Context())
		if err != nil {
			t.Fatalf("waiting for %s after %v: %v", kind, types(frames), err)
		}
		var frame map[string]any
		if err := json.Unmarshal(data, &frame); err != nil {
			t.Fatalf("frame %s: %v", data, err)
		}
		if frames = append(frames, frame); frame["type"] == kind {
			return frames
		}
		if frame["type"] == "error" {
			t.Fatalf("error event: %s", data)
		}
	}
}

func (s *slice) upload(filename, mediaType, content string) harness.Response {
	s.t.Helper()
	body, contentType := form(s.t, part{name: "file", filename: filename, mediaType: mediaType, content: content})
	return s.Do(s.t, "POST", s.Tenant.In("/knowledge-base/sources/upload"), body, harness.Header("Content-Type", contentType))
}

// part is a part of a form.
type part struct{ name, filename, mediaType, content string }

func form(t *testing.T, parts ...part) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	writer := multipart.NewWriter(&out)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", p.name)}}
		if p.filename != "" {
			header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", p.name, p.filename))
		}
		if p.mediaType != "" {
			header.Set("Content-Type", p.mediaType)
		}
		w, err := writer.CreatePart(header)
		if err == nil {
			_, err = io.WriteString(w, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), writer.FormDataContentType()
}

// TestGuardIsClosed shows that both outbound paths refuse loopback unless the operator opens it.
func TestGuardIsClosed(t *testing.T) {
	t.Parallel()
	shop := httptool.New(t)
	env := harness.Start(t, harness.Options{Guarded: true})
	literal := env.Do(t, "POST", env.Tenant.In("/tools"), map[string]any{
		"slug": "a", "description": "A.",
		"kind": "http", "webhook_url": shop.URL,
	})
	if literal.Status != http.StatusBadRequest || !slices.Contains(literal.Problem.Fields(), "webhook_url") {
		t.Errorf("a literal loopback address: %d %s", literal.Status, literal.Body)
	}
	tool := env.Do(t, "POST", env.Tenant.In("/tools"), map[string]any{
		"slug": "b", "description": "B.",
		"kind": "http", "webhook_url": "https://shop.example/b",
	}).Must(t, 201)
	// As if the name's address had changed since.
	env.Exec(t, `UPDATE tools SET config = replace(config::text, 'https://shop.example/b', $1)::jsonb`, shop.URL)
	run := env.Do(t, "POST", env.Tenant.In("/tools/"+tool.Text("id")+"/run"), `{}`).Must(t, 200)
	if run.At("error") == nil || len(shop.Requests("")) != 0 || !strings.Contains(run.Text("request", "url"), shop.URL) {
		t.Errorf("the guard let a call through to loopback: %s", run.Body)
	}
	hook := env.Do(t, "POST", env.Tenant.In("/webhooks"), `{"url":"https://localhost:9/x","events":["invoice.paid"]}`)
	if hook.Status != http.StatusBadRequest || hook.Code() != "webhook-url-not-public" {
		t.Errorf("a webhook on loopback: %d %s", hook.Status, hook.Body)
	}
}
