package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/port"
)

// caller is a client on a session's chat_url that knows what it has seen, and comes back to any
// node.
type caller struct {
	t       *testing.T
	made    harness.Response
	socket  *websocket.Conn
	seen    map[string]bool
	last    string
	answers []spoken
}

// spoken is an answer: what its deltas came to, and how it ended.
type spoken struct{ id, text, status string }

// dial joins at a node, with what was seen last.
func (c *caller) dial(address string) {
	c.t.Helper()
	published, err := url.Parse(c.made.Text("chat_url"))
	if err != nil {
		c.t.Fatal(err)
	}
	published.Scheme, published.Host = "ws", address
	if c.last != "" {
		published.RawQuery += "&last_event_id=" + url.QueryEscape(c.last)
	}
	socket, _, err := websocket.Dial(c.t.Context(), published.String(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = socket.CloseNow() })
	c.socket = socket
}

func (c *caller) say(text string) {
	c.t.Helper()
	quoted, _ := json.Marshal(text)
	write(c.t, c.socket,
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":`+string(quoted)+`}]}}`)
	write(c.t, c.socket, `{"type":"response.create"}`)
}

// next reads an event; false when the connection is lost or closed. An event that comes twice
// fails the test.
func (c *caller) next() (event map[string]any, err error) {
	c.t.Helper()
	_, data, err := c.socket.Read(c.t.Context())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &event); err != nil {
		c.t.Fatalf("frame %s: %v", data, err)
	}
	if event["type"] == "session.created" {
		return event, nil // of each connection
	}
	c.last, _ = event["event_id"].(string)
	if c.seen[c.last] {
		c.t.Errorf("twice: %s", data)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[c.last] = true
	switch event["type"] {
	case "response.created":
		id, _ := harness.Path(event, "response", "id").(string)
		c.answers = append(c.answers, spoken{id: id})
	case "response.output_text.delta":
		delta, _ := event["delta"].(string)
		c.answers[len(c.answers)-1].text += delta
	case "response.done":
		last := &c.answers[len(c.answers)-1]
		last.status, _ = harness.Path(event, "response", "status").(string)
		if id := harness.Path(event, "response", "id"); id != last.id {
			c.t.Errorf("%v has ended, %s has begun", id, last.id)
		}
	}
	return event, nil
}

// until reads to an event of the type.
func (c *caller) until(kind string) map[string]any {
	c.t.Helper()
	for {
		event, err := c.next()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if event["type"] == kind {
			return event
		}
	}
}

// lost reads until the connection is no more, and says with what code and reason; 0 without any.
func (c *caller) lost() (code websocket.StatusCode, reason string) {
	c.t.Helper()
	for {
		if _, err := c.next(); err != nil {
			closed, _ := errors.AsType[websocket.CloseError](err)
			return closed.Code, closed.Reason
		}
	}
}

// want compares the newest answer.
func (c *caller) want(status, text string) {
	c.t.Helper()
	if got := c.answers[len(c.answers)-1]; got.status != status || got.text != text {
		c.t.Errorf("the answer is %q, %s; want %q, %s", got.text, got.status, text, status)
	}
}

// wantTranscript compares a session's turns: status and text of each.
func wantTranscript(t *testing.T, env *harness.Env, session string, want ...[2]string) {
	t.Helper()
	got := env.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	turns := got.List("turns")
	if len(turns) != len(want) {
		t.Fatalf("%d turns, want %d: %s", len(turns), len(want), got.Body)
	}
	for i, turn := range turns {
		if status, text := harness.Path(turn, "status"), harness.Path(turn, "agent_text"); status != want[i][0] || text != want[i][1] {
			t.Errorf("turn %d is %v %q, want %v", i, status, text, want[i])
		}
	}
}

// TestNodesComeAndGo has clients in the middle of an answer while their node is deployed anew, and
// while it is killed: they go on at the other one. No turn is lost, no event comes twice.
func TestNodesComeAndGo(t *testing.T) {
	t.Parallel()
	gates := []chan struct{}{make(chan struct{}, 9), make(chan struct{}, 9), make(chan struct{}, 9)} // more than there are pieces
	pieces := []string{"One ", "two ", "three ", "four."}
	const whole = "One two three four."
	slow := func(gate chan struct{}) openaichat.Reply { return openaichat.Reply{Text: pieces, Gate: gate} }
	llm := openaichat.New(t, slow(gates[0]))
	addresses := []string{port.Reserve(t), port.Reserve(t)}
	env := harness.Start(t, harness.Options{WithoutServer: true, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	node := func(i int) *harness.Process {
		return env.With(map[string]string{"PARLANCE_LISTEN": addresses[i]}).StartProcess(t, "server")
	}
	at := func(i int) *harness.Env {
		there := *env
		there.URL = "http://" + addresses[i]
		return &there
	}
	ready := func(i int) {
		harness.Await(t, harness.Patience, "a node that is ready", func() bool {
			got, err := at(i).Send(t, "GET", "/readyz", nil)
			return err == nil && got.Status == http.StatusOK
		})
	}
	first, second := node(0), node(1)
	ready(0)
	ready(1)
	agent := at(0).Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	open := func() harness.Response {
		return at(0).Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201)
	}

	// A rolling deploy: the node says that it goes, finishes the answer for whoever comes back
	// elsewhere, and ends.
	c := &caller{t: t, made: open()}
	c.dial(addresses[0])
	c.say("Count.")
	gates[0] <- struct{}{}
	c.until("response.output_text.delta")
	stopped := make(chan struct{})
	go func() { defer close(stopped); first.Terminate() }()
	if code, reason := c.lost(); code != websocket.StatusServiceRestart || reason != "reconnect" {
		t.Errorf("the node that stops closes with %d %q", code, reason)
	}
	c.dial(addresses[1])
	for range 3 {
		gates[0] <- struct{}{}
	}
	c.until("response.done")
	c.want("completed", whole)
	<-stopped

	// kill -9 in the middle of the next answer, of another session's turn over HTTP too.
	first = node(0)
	ready(0)
	llm.Add(slow(gates[1]))
	c.say("Again.")
	gates[1] <- struct{}{}
	c.until("response.output_text.delta")
	llm.Add(slow(gates[2]))
	streamed := open()
	path := "/v1/sessions/" + streamed.Text("id") + "/turns"
	stream := openStream(t, at(1), path, `{"text":"Count."}`)
	gates[2] <- struct{}{}
	heard := stream.until("turn.delta")
	second.Kill()
	if code, _ := c.lost(); code != 0 && code != -1 {
		t.Errorf("a killed node closes with %d", code)
	}
	llm.Add(openaichat.Reply{Text: pieces}, openaichat.Reply{Text: pieces}, openaichat.Reply{Text: []string{"Here."}})
	c.dial(addresses[0])
	followed := make(chan harness.Response, 1)
	go func() {
		got, err := at(0).Send(t, "POST", path, `{}`, harness.Header("Accept", "text/event-stream"), harness.Header("Last-Event-ID", heard))
		if err != nil {
			t.Errorf("following: %v", err)
		}
		followed <- got
	}()
	if lost := c.until("response.done"); harness.Path(lost, "response", "status_details", "error", "code") != "unavailable" {
		t.Errorf("the open answer ended with %v", lost)
	}
	c.until("response.done")
	c.want("completed", whole)
	got := <-followed
	if body := string(got.Body); got.Status != 200 || strings.Count(body, "event: turn.started") != 1 ||
		!strings.Contains(body, "event: turn.done") || !strings.Contains(body, whole) {
		t.Errorf("following a lost turn: %d %s", got.Status, body)
	}
	c.say("Are you there?")
	c.until("response.done")
	c.want("completed", "Here.")
	wantTranscript(t, at(0), c.made.Text("id"), [2]string{"completed", whole}, [2]string{"completed", whole}, [2]string{"completed", "Here."})
	wantTranscript(t, at(0), streamed.Text("id"), [2]string{"completed", whole})
	first.Terminate()
}

// eventStream is a turn's stream that is being read.
type eventStream struct {
	t    *testing.T
	body *http.Response
	read bytes.Buffer
}

func openStream(t *testing.T, env *harness.Env, path, body string, with ...harness.With) *eventStream {
	t.Helper()
	request, err := env.NewRequest(t, "POST", path, body, append(with, harness.Header("Accept", "text/event-stream"))...)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return &eventStream{t: t, body: answer}
}

// until reads to an event of the type and returns its id.
func (s *eventStream) until(kind string) (id string) {
	s.t.Helper()
	piece := make([]byte, 4096)
	for {
		for _, event := range strings.Split(s.read.String(), "\n\n") {
			if _, after, found := strings.Cut(event, "event: "+kind+"\nid: "); found && strings.Contains(after, "\ndata: ") {
				id, _, _ = strings.Cut(after, "\n")
				return id
			}
		}
		n, err := s.body.Body.Read(piece)
		s.read.Write(piece[:n])
		if err != nil && n == 0 { // the last piece may come with the end
			s.t.Fatalf("waiting for %s after %s: %v", kind, &s.read, err)
		}
	}
}
