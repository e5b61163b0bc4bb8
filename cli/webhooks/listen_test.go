package webhooks_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/capture"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/harness"
)

// cutter breaks off running requests when cut is called.
type cutter struct {
	mu  sync.Mutex
	now chan struct{}
}

func (c *cutter) wrap(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		now := c.now
		c.mu.Unlock()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-now:
				cancel()
			case <-ctx.Done():
			}
		}()
		service.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.now)
	c.now = make(chan struct{})
}

// TestListen receives signed events in order. Refusals are shown, and a connection that breaks
// loses and repeats nothing.
func TestListen(t *testing.T) {
	t.Parallel()
	cut := &cutter{now: make(chan struct{})}
	w := clitest.Start(t, clitest.Options{Between: cut.wrap})
	type came struct {
		header http.Header
		body   []byte
	}
	var mu sync.Mutex
	var got []came
	program := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a caller that is gone sent nothing
		mu.Lock()
		defer mu.Unlock()
		got = append(got, came{r.Header, body})
		if len(got) == 2 {
			rw.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(program.Close)
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(got)
	}

	ctx, stop := context.WithCancel(t.Context())
	out, done := &capture.Buffer{}, make(chan int, 1)
	go func() {
		done <- cli.Execute(ctx, cli.IO{In: strings.NewReader(""), Out: out, Err: out}, []string{
			"listen", "--data-dir",
			w.DataDir, "--forward-to", program.URL + "/hook", "--events", "kb.source_ingested",
		})
	}()
	harness.Await(t, harness.Patience, "it listens", func() bool { return strings.Contains(out.String(), "Ctrl-C") })
	cut.cut() // before anything has happened
	w.AddText(t, "first")
	harness.Await(t, harness.Patience, "the first event", func() bool { return count() == 1 })
	w.AddText(t, "second")
	harness.Await(t, harness.Patience, "the second event", func() bool { return count() == 2 })
	cut.cut()
	w.AddText(t, "third")
	harness.Await(t, harness.Patience, "the third event", func() bool { return strings.Count(out.String(), "kb.source_ingested  ") == 3 })
	stop()
	if code := <-done; code != command.ExitDone {
		t.Errorf("exit code %d: %s", code, out)
	}

	_, after, _ := strings.Cut(out.String(), "Signing secret of this run: ")
	secret, _, _ := strings.Cut(after, "\n")
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatalf("the secret %q: %v in\n%s", secret, err, out)
	}
	for i, name := range []string{"first", "second", "third"} {
		if err := verifier.Verify(got[i].body, got[i].header); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		var body struct {
			Type string `json:"type"`
			ID   string `json:"event_id"`
			Data struct {
				Name string `json:"name"`
			} `json:"data"`
		}
		if err := json.Unmarshal(got[i].body, &body); err != nil || body.Type != "kb.source_ingested" ||
			body.Data.Name != name || body.ID != got[i].header.Get("X-Parlance-Event-Id") {
			t.Errorf("event %d: %s, %v", i, got[i].body, err)
		}
	}
	for _, text := range []string{
		"kb.source_ingested of " + w.Env.Tenant.WorkspaceID + " go to " + program.URL, "418",
		"200", "the connection broke", "connected again",
	} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the output lacks %q:\n%s", text, out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours without a terminal")
	}
}

func TestListenIsRefused(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	for name, row := range map[string]struct {
		args  []string
		code  int
		words string
	}{
		"no target": {nil, command.ExitUsage, "--forward-to is missing"},
		"no URL":    {[]string{"--forward-to", "localhost:3000"}, command.ExitUsage, "is a URL such as"},
		"unknown event": {
			[]string{"--forward-to", "http://localhost:1", "--events", "kb.ingested"},
			command.ExitUsage,
			"the events are dsar.ready, ",
		},
		"no cursor": {[]string{"--forward-to", "http://localhost:1", "--after", "x"}, command.ExitFailed, "after must be the cursor"},
		"wrong key": {[]string{"--forward-to", "http://localhost:1", "--api-key", "prl_x", "--base-url", w.Env.URL +
			"/v1"}, command.ExitFailed, "give --api-key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Execute(t, "", append([]string{"listen", "--data-dir", w.DataDir}, row.args...)...).Wants(t, row.code, row.words)
		})
	}
}
