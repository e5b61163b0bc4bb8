package parlance_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
)

// ways are the ways in which a client asks something.
var ways = map[string]func(*testing.T, *parlance.Client, string) error{
	"Call": func(t *testing.T, client *parlance.Client, _ string) error {
		_, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{AgentId: "agt_1"})
		return err
	},
	"Stream": func(t *testing.T, client *parlance.Client, _ string) (last error) {
		for _, err := range client.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{SessionId: "ses_1", Text: "x"}) {
			last = err
		}
		return last
	},
	"Upload": func(t *testing.T, client *parlance.Client, _ string) error {
		_, err := client.Upload(t.Context(), strings.NewReader("x"), parlance.UploadParams{WorkspaceID: "ws_1", Filename: "a.md"})
		return err
	},
	"Socket": func(t *testing.T, client *parlance.Client, url string) error {
		_, err := client.ConnectURL(t.Context(), url+"/v1/realtime/chat/ses_1?token=x")
		return err
	},
}

// TestForeignAnswers gets answers that are not the service's.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status  int
		kind    string
		body    string
		want    parlance.Reason
		retried bool
	}{
		{200, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{200, "application/json", `[]`, parlance.ReasonNotParlance, false},
		{200, "application/json", `{"ok": true}`, parlance.ReasonNotParlance, false},
		{200, "application/proto", "\xff\xff", parlance.ReasonNotParlance, false},
		{204, "", "", parlance.ReasonNotParlance, false},
		{302, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{307, "", "", parlance.ReasonNotParlance, false},
		{400, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{400, "application/json", `{"code": 17}`, parlance.ReasonNotParlance, false},
		{401, "text/plain", "no", parlance.ReasonAuthInvalidKey, false},
		{402, "text/plain", "no", parlance.ReasonNotParlance, false},
		{403, "application/json", `{"message": "Forbidden"}`, parlance.ReasonAuthScope, false},
		{404, "text/html", "<html>", parlance.ReasonNotFound, false},
		{405, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{407, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{413, "text/html", "<html>", parlance.ReasonBodyTooLarge, false},
		{415, "text/html", "<html>", parlance.ReasonUnsupportedMediaType, false},
		{500, "text/html", "<html>", parlance.ReasonNotParlance, false},
		{408, "text/html", "<html>", parlance.ReasonDeadlineExceeded, true},
		{429, "text/plain", "slowly", parlance.ReasonRateLimited, true},
		{502, "text/html", "<html>", parlance.ReasonUnavailable, true},
		{503, "application/json", `{"code": "SLOW"}`, parlance.ReasonUnavailable, true},
		{504, "text/html", "<html>", parlance.ReasonUnavailable, true},
	} {
		for name, ask := range ways {
			t.Run(fmt.Sprint(row.status, " ", row.kind, " ", name), func(t *testing.T) {
				t.Parallel()
				var came atomic.Int32
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					came.Add(1)
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header()["Content-Type"] = []string{row.kind}
					w.Header().Set("Location", "/elsewhere")
					w.Header().Set("Retry-After", "0.001")
					w.WriteHeader(row.status)
					_, _ = io.WriteString(w, row.body)
				}))
				defer s.Close()
				client := open(t, s.URL, "k", func(o *parlance.Options) { o.MaxRetries = 1 })
				err := ask(t, client, s.URL)
				got, ok := errors.AsType[*parlance.Error](err)
				if !ok || got.Reason != row.want || got.HTTPStatus != row.status || !got.Answered() {
					t.Fatalf("got %v, %#v", err, got)
				}
				if !strings.Contains(err.Error(), fmt.Sprintf("HTTP %d", row.status)) {
					t.Errorf("it says %v", err)
				}
				repeats := row.retried && name != "Socket"
				if want := map[bool]int32{false: 1, true: 2}[repeats]; came.Load() != want {
					t.Errorf("it was tried %d times, want %d", came.Load(), want)
				}
			})
		}
	}
}

// TestPackedRefusal reads the refusals of the service behind a proxy that packs them.
func TestPackedRefusal(t *testing.T) {
	t.Parallel()
	for kind, body := range map[string]string{
		"application/json":         `{"code": "not_found", "message": "No such agent."}`,
		"application/problem+json": `{"code": "route-not-found", "detail": "No such agent."}`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("X-Request-Id", "req_1")
			w.WriteHeader(http.StatusNotFound)
			packed := gzip.NewWriter(w)
			_, _ = io.WriteString(packed, body)
			_ = packed.Close()
		}))
		defer s.Close()
		err := ways["Call"](t, open(t, s.URL, "k"), s.URL)
		if !parlance.IsReason(err, parlance.ReasonNotFound, parlance.ReasonRouteNotFound) ||
			!strings.HasSuffix(err.Error(), ": No such agent. (request req_1)") || connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

// TestBrokenAnswers gets answers of which only the status and the header can be read.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]parlance.Reason{
		200: parlance.ReasonNotParlance, 403: parlance.ReasonAuthScope, 503: parlance.ReasonUnavailable,
	} {
		for _, name := range []string{"Call", "Stream", "Upload"} {
			if status == 200 && name != "Call" {
				continue // such an upload may have been taken
			}
			var came atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				came.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/proto")
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "this is not packed")
			}))
			defer s.Close()
			err := ways[name](t, open(t, s.URL, "k", func(o *parlance.Options) { o.MaxRetries = 1 }), s.URL)
			got, ok := errors.AsType[*parlance.Error](err)
			if !ok || got.Reason != want || !got.Answered() || got.HTTPStatus != status {
				t.Errorf("%s, %d: got %v", name, status, err)
			}
			if tries := map[int]int32{503: 2}[status]; came.Load() != max(1, tries) {
				t.Errorf("%s, %d: %d tries", name, status, came.Load())
			}
		}
	}
}

// TestRefusedStream gets a refusal in the form of a call's for a stream.
func TestRefusedStream(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"code": "permission_denied", "message": "No."}`)
	}))
	defer s.Close()
	err := ways["Stream"](t, open(t, s.URL, "k"), s.URL)
	refused, ok := errors.AsType[*parlance.Error](err)
	if !ok || refused.Reason != parlance.ReasonAuthScope || !refused.Answered() || refused.Message != "No." {
		t.Errorf("got %v", err)
	}
}

// TestAsksToWait reads each form of Retry-After.
func TestAsksToWait(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"":    0,
		"7":   7 * time.Second,
		"0.5": time.Second / 2,
		"-1":  0, "NaN": 0, "1e99": 0, "1e999": 0, "soon": 0,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  time.Hour,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			http.Error(w, "<html>", http.StatusTooManyRequests)
		}))
		defer s.Close()
		client := open(t, s.URL, "k", func(o *parlance.Options) { o.MaxRetries = -1 })
		for _, name := range []string{"Call", "Upload"} {
			refused, ok := errors.AsType[*parlance.Error](ways[name](t, client, s.URL))
			if !ok || refused.RetryAfter > want || refused.RetryAfter < want-time.Minute {
				t.Errorf("%s: Retry-After: %s is %#v", name, value, refused)
			}
		}
	}
}

// TestCallersFaults come out at once: nothing is sent, or sent again.
func TestCallersFaults(t *testing.T) {
	t.Parallel()
	var came atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	oops := errors.New("oops")
	broken := func(o *parlance.Options) {
		o.ConnectOptions = append(o.ConnectOptions, connect.WithInterceptors(connect.UnaryInterceptorFunc(
			func(connect.UnaryFunc) connect.UnaryFunc {
				return func(_ context.Context, _ connect.AnyRequest) (connect.AnyResponse, error) { return nil, oops }
			})))
	}
	for _, oops = range []error{oops, connect.NewError(connect.CodeInvalidArgument, oops)} {
		err := ways["Call"](t, open(t, s.URL, "k", broken), s.URL)
		if !errors.Is(err, oops) || parlance.IsReason(err, parlance.ReasonNotParlance) {
			t.Errorf("an interceptor that fails: %v", err)
		}
	}
	client := open(t, s.URL, "k")
	_, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{AgentId: "\xff"})
	if !parlance.IsReason(err, parlance.ReasonInvalidRequest) {
		t.Errorf("a text that is not UTF-8: %v", err)
	}
	for _, err := range client.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{Text: "\xff"}) {
		if !parlance.IsReason(err, parlance.ReasonInvalidRequest) {
			t.Errorf("words that are not UTF-8: %v", err)
		}
	}
	for want, p := range map[string]parlance.UploadParams{
		"WorkspaceID": {Filename: "a.md"},
		"Filename":    {WorkspaceID: "ws_1"},
		"comma":       {WorkspaceID: "ws_1", Filename: "a.md", Tags: []string{"a,b"}},
	} {
		if _, err := client.Upload(t.Context(), strings.NewReader("x"), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("an upload without %s: %v", want, err)
		}
	}
	if _, err := client.ConnectURL(t.Context(), "ftp://host/?token=pass1"); err == nil || strings.Contains(err.Error(), "pass1") {
		t.Errorf("no WebSocket: %v", err)
	}
	if came.Load() != 0 {
		t.Errorf("%d requests were sent", came.Load())
	}
}
