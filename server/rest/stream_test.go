package rest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rest/internal/resttestv1/resttestv1rest"
)

func routes() []route.Route { return resttestv1rest.Routes }

// cutShort is a body that ends before its time.
type cutShort struct{ read bool }

func (c *cutShort) Read(p []byte) (int, error) {
	if c.read {
		return 0, io.ErrUnexpectedEOF
	}
	c.read = true
	return copy(p, `{"text":`), nil
}

func TestEvents(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{})
	const one, two = "event: thing.counted\nid: 1\ndata: {\"type\":\"thing.counted\",\"event_id\":\"1\",\"number\":1}\n\n",
		"event: thing.counted\nid: 2\ndata: {\"type\":\"thing.counted\",\"event_id\":\"2\",\"number\":2}\n\n"
	rows := []struct {
		name, method, path, body, accept string
		status                           int
		want                             string
	}{
		{"each message an event", "GET", "/v1/count?to=2", "", "*/*", 200, one + two},
		{"no message at all", "GET", "/v1/count", "", "*/*", 200, ""},
		{
			"asked for by Accept", "POST", "/v1/turns/t", `{"text":"hello"}`,
			"application/json;q=0.5, Text/Event-Stream", 200,
			"event: turn.delta\ndata: {\"type\":\"turn.delta\",\"text\":\"t\"}\n\nevent: turn.delta\ndata: " +
				"{\"type\":\"turn.delta\",\"text\":\"hello\"}\n\n",
		},
	}
	for _, row := range rows {
		response, body := ask(t, server, row.method, row.path, row.body, "Accept: "+row.accept)
		if response.StatusCode != row.status || body != row.want || response.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: got %d %s\nwant %d %s", row.name, response.StatusCode, body, row.status, row.want)
		}
		if response.Header.Get("Ratelimit-Remaining") != "7" {
			t.Errorf("%s: the interceptors' headers are lost: %v", row.name, response.Header)
		}
	}

	for accept, events := range map[string]bool{
		"text/event-stream;q=0": false, "application/json, text/event-stream; charset=utf-8 ; Q=0.000": false, "text/event-stream;q=0.1": true,
		"text/event-stream;q=0, text/event-stream": true, "text/event-stream;q=x": true, "*/*": false,
	} {
		response, body := ask(t, server, http.MethodPost, "/v1/turns/t", `{"text":"hello"}`, "Accept: "+accept)
		if got := response.Header.Get("Content-Type") == "text/event-stream"; response.StatusCode != 200 || got != events {
			t.Errorf("Accept: %s: %d %s", accept, response.StatusCode, body)
		}
	}

	response, body := ask(t, server, http.MethodGet, "/v1/count?fail=session-closed", "")
	if response.StatusCode != http.StatusConflict || !strings.Contains(body, `"code":"session-closed"`) {
		t.Errorf("an error before the first event: %d %s", response.StatusCode, body)
	}
	response, body = ask(t, server, http.MethodGet, "/v1/count?too=1", "")
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("a request that does not decode: %d %s", response.StatusCode, body)
	}
	response, body = ask(t, server, http.MethodGet, "/v1/count?to=1&fail=session-closed", "")
	rest, found := strings.CutPrefix(body, one+"event: error\ndata: {\"type\":\"/errors/session-closed\"")
	if response.StatusCode != http.StatusOK || !found || !strings.HasSuffix(rest, "}\n\n") || !strings.Contains(rest, `"request_id":"req-1"`) {
		t.Errorf("an error after the first event: %d %s", response.StatusCode, body)
	}
}

// TestEventsWhileSilent reads an open stream: the event at once, then comments; hanging up ends
// the handler.
func TestEventsWhileSilent(t *testing.T) {
	t.Parallel()
	server, service := serve(t, rest.Config{KeepAlive: time.Millisecond})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/count?to=1&wait=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	var event, comment bool
	for (!event || !comment) && lines.Scan() {
		event = event || lines.Text() == "event: thing.counted"
		comment = comment || lines.Text() == ": keep-alive"
	}
	if !event || !comment {
		t.Fatalf("event %v, comment %v, then %v", event, comment, lines.Err())
	}
	hangUp()
	select {
	case <-service.hungUp:
	case <-time.After(time.Minute):
		t.Error("the handler did not see its caller go")
	}
}

// TestSilentStreamOpens has a handler that says nothing: the header arrives all the same.
func TestSilentStreamOpens(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{KeepAlive: time.Millisecond})
	ctx, hangUp := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("no header came"))
	defer hangUp()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/count?wait=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("got %d", response.StatusCode)
	}
}
