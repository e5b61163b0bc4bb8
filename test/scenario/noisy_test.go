package scenario

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestNoisyTenant has a tenant take all it can: turns until they are refused, sockets until they
// are, answers that do not end on each of them, and frames until it is cut off. Meanwhile every
// turn of another tenant is answered, before any of the noisy one's.
func TestNoisyTenant(t *testing.T) {
	t.Parallel()
	const sockets, flooding, turns, mayWait, quietTurns = 12, 4, 24, 17, 8
	gate := make(chan struct{}) // nothing passes before the end
	endless := make([]openaichat.Reply, sockets+mayWait)
	for i := range endless {
		endless[i] = openaichat.Reply{Text: []string{"At last."}, Gate: gate}
	}
	slow, quick := openaichat.New(t, endless...), openaichat.New(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": quick.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_SOCKET_MAX_PER_TENANT": fmt.Sprint(sockets),
	}})
	noisy := env.NewTenant(t, "")
	as := harness.Key(noisy.Admin)
	env.Do(t, "POST", noisy.In("/provider-credentials"), map[string]any{
		"kind": "model", "provider": "openai", "base_url": slow.BaseURL, "api_key": "k", "default_model": openaichat.Model,
	}, as).Must(t, 201)
	agent := env.Do(t, "POST", noisy.In("/agents"), `{"name":"Ada","model":{"provider":"openai"}}`, as).Must(t, 201).Text("id")
	open := func() harness.Response {
		return env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`, as).Must(t, 201)
	}

	// More turns of a session than may wait for the one that runs.
	path := "/v1/sessions/" + open().Text("id") + "/turns"
	answers := make(chan harness.Response, turns)
	for range turns {
		go func() {
			got, err := env.Send(t, "POST", path, `{"text":"Hello?"}`, as)
			if err != nil {
				t.Errorf("a noisy turn: %v", err)
			}
			answers <- got
		}()
	}
	for range turns - mayWait {
		if got := <-answers; got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
			t.Errorf("a turn too many: %d %s", got.Status, got.Body)
		}
	}

	// More sockets than it may have, each with an answer that does not end; some send without an end,
	// too.
	address := strings.TrimPrefix(env.URL, "http://")
	clients := make([]*caller, sockets)
	for i := range clients {
		clients[i] = &caller{t: t, made: open()}
		clients[i].dial(address)
		clients[i].say("Hello?")
		clients[i].until("response.created")
	}
	if got := env.Do(t, "GET", chatPath(t, open()), nil, harness.Header("Connection", "Upgrade"), harness.Header("Upgrade", "websocket"),
		harness.Header("Sec-WebSocket-Version", "13"), harness.Header("Sec-WebSocket-Key",
			"AAECAwQFBgcICQoLDA0ODw==")); got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("a socket too many: %d %s", got.Status, got.Body)
	}
	harness.Await(t, harness.Patience, "all answers that can begin", func() bool { return len(slow.Requests()) == sockets+1 })
	var noise sync.WaitGroup
	for _, c := range clients[:flooding] {
		noise.Go(func() {
			for c.socket.Write(t.Context(), websocket.MessageText, []byte(`{"type":"input_audio_buffer.clear"}`)) == nil {
			}
		})
		noise.Go(func() {
			_, _, err := c.socket.Read(t.Context())
			for err == nil {
				_, _, err = c.socket.Read(t.Context())
			}
			if closed, ok := errors.AsType[websocket.CloseError](err); ok && (closed.Code != 4429 || closed.Reason != "flood") {
				t.Errorf("a flood is closed with %d %q", closed.Code, closed.Reason)
			}
		})
	}

	// The other tenant, over a socket and over HTTP.
	c := talking(t, env)
	for i := range quietTurns {
		c.say(fmt.Sprintf("word %d", i))
		c.until("response.done")
		if got := c.answers[i]; got.status != "completed" || !strings.Contains(got.text, fmt.Sprintf("word %d", i)) {
			t.Errorf("turn %d of the quiet tenant is %+v", i, got)
		}
		got := env.Do(t, "POST", "/v1/sessions/"+c.made.Text("id")+"/turns", `{"text":"over HTTP"}`).Must(t, 200)
		if got.Text("status") != "completed" {
			t.Errorf("a turn of the quiet tenant over HTTP: %s", got.Body)
		}
	}
	if left := len(answers); left != 0 || len(slow.Requests()) != sockets+1 {
		t.Errorf("%d of the noisy tenant's turns have been answered, the model was asked %d times", left, len(slow.Requests()))
	}
	noise.Wait() // each has been cut off

	close(gate)
	for range mayWait {
		if got := <-answers; got.Status != http.StatusOK || got.Text("text") != "At last." {
			t.Errorf("a noisy turn that waited: %d %s", got.Status, got.Body)
		}
	}
}

// chatPath is a session's chat_url without its host.
func chatPath(t *testing.T, made harness.Response) string {
	t.Helper()
	published, err := url.Parse(made.Text("chat_url"))
	if err != nil {
		t.Fatal(err)
	}
	return published.RequestURI()
}
