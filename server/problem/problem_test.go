package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/problem"
)

// TestEveryReasonSurvivesConnect sends each row of the error table through the RPC form.
func TestEveryReasonSurvivesConnect(t *testing.T) {
	t.Parallel()
	for _, entry := range fault.Table() {
		message := "Do this instead."
		if entry.Reason == fault.InternalError {
			message = "Internal error."
		}
		want := &fault.Error{
			Reason:     entry.Reason,
			Message:    message,
			Fields:     []fault.Field{{Field: "events[2]", Code: "max_len", Message: "Too long."}},
			Meta:       map[string]string{"limit": "5"},
			RetryAfter: 1500 * time.Millisecond,
		}
		wire := problem.ToConnect(want)
		if wire.Code() != entry.Kind.Code() {
			t.Errorf("%s: code %v, want %v", entry.Reason, wire.Code(), entry.Kind.Code())
		}
		got := problem.FromConnect(wire)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(fault.Error{})); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", entry.Reason, diff)
		}
	}
}

func TestFromConnectWithoutOurDetails(t *testing.T) {
	t.Parallel()
	rows := []struct {
		err    error
		reason fault.Reason
		detail string
	}{
		{connect.NewError(connect.CodeUnimplemented, errors.New("no such method")), fault.NotImplemented, "no such method"},
		{connect.NewError(connect.CodeResourceExhausted, errors.New("too large")), fault.BodyTooLarge, "too large"},
		{connect.NewError(connect.CodeUnknown, errors.New("password=hunter2")), fault.InternalError, "Internal error."},
		{connect.NewError(connect.CodeInternal, errors.New("password=hunter2")), fault.InternalError, "Internal error."},
		{errors.New("password=hunter2"), fault.InternalError, "Internal error."},
	}
	for _, row := range rows {
		got := problem.FromConnect(row.err)
		if got.Reason != row.reason || got.Message != row.detail {
			t.Errorf("%v: got %s %q, want %s %q", row.err, got.Reason, got.Message, row.reason, row.detail)
		}
	}
	if problem.FromConnect(nil) != nil {
		t.Error("FromConnect(nil) is not nil")
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	writer := problem.Writer{PublicURL: func(*http.Request) string { return "https://parlance.example" }}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("X-Request-Id", "req-1")
	refused := fault.InvalidField("name", "max_len", "At most %d <characters>.", 200)
	refused.Reason = fault.RateLimitedReason
	refused.RetryAfter = 1200 * time.Millisecond
	refused.Meta = map[string]string{"plan": "free", "status": "200"}
	writer.Write(recorder, httptest.NewRequest(http.MethodPost, "/v1/workspaces/a%2Fb/tools?x=1", http.NoBody), refused)

	if recorder.Code != http.StatusTooManyRequests {
		t.Errorf("status %d", recorder.Code)
	}
	if got := recorder.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q, want 2: rounded up", got)
	}
	var got map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatalf("body %s: %v", recorder.Body, err)
	}
	want := map[string]any{
		"type":       "https://parlance.example/errors/rate-limited",
		"title":      "Too many requests",
		"status":     429.0,
		"detail":     "name: At most 200 <characters>.",
		"code":       "rate-limited",
		"instance":   "/v1/workspaces/a%2Fb/tools",
		"request_id": "req-1",
		"plan":       "free",
		"errors":     []any{map[string]any{"field": "name", "code": "max_len", "message": "At most 200 <characters>."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got)\n%s", diff)
	}
}

// TestWriteHidesCauses gives the writer an error nobody decided about.
func TestWriteHidesCauses(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	problem.Write(recorder, httptest.NewRequest(http.MethodGet, "/v1/x", http.NoBody), errors.New("password=hunter2"))
	var got struct{ Detail, Code string }
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if recorder.Code != http.StatusInternalServerError || got.Detail != "Internal error." || got.Code != "internal" {
		t.Errorf("got %d %+v", recorder.Code, got)
	}
}

// TestLongRequestsGetShortProblems: what a caller sends much of is not sent back whole, twice.
func TestLongRequestsGetShortProblems(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/v1/"+strings.Repeat("%C3%A9", 10_000), nil)
	problem.Writer{}.Write(recorder, request, fault.New(fault.RouteNotFound, "No route %s.", strings.Repeat("é", 30_000)))
	var got struct{ Detail, Instance string }
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if size := recorder.Body.Len(); size > 10<<10 || !utf8.ValidString(got.Detail) || strings.ContainsRune(got.Detail, utf8.RuneError) {
		t.Errorf("%d bytes: %q…", size, got.Instance[:60])
	}
}

// TestChallenge: 401 says how to authenticate, over REST and Connect, and whether it was tried
// with a bad token.
func TestChallenge(t *testing.T) {
	t.Parallel()
	for reason, want := range map[fault.Reason]string{
		fault.AuthMissing: "Bearer", fault.AuthInvalidKey: `Bearer error="invalid_token"`,
		fault.SessionTokenInvalid: `Bearer error="invalid_token"`,
		fault.AuthScope:           "", fault.ResourceNotFound: "",
	} {
		refused := fault.New(reason, "No.")
		w := httptest.NewRecorder()
		problem.Write(w, httptest.NewRequest(http.MethodGet, "/v1/x", http.NoBody), refused)
		if got := w.Header().Get("WWW-Authenticate"); got != want {
			t.Errorf("%s over REST: %q, want %q", reason, got, want)
		}
		if got := problem.ToConnect(refused).Meta().Get("WWW-Authenticate"); got != want {
			t.Errorf("%s over Connect: %q, want %q", reason, got, want)
		}
	}
}

// TestUnavailableSaysWhen: whoever is told that the service is not available is told when to try
// again, in every form, also when nobody has decided what it means that a connection broke.
func TestUnavailableSaysWhen(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a broken connection": fmt.Errorf("reading sessions: %w", &net.OpError{Op: "read", Err: errors.New("reset")}),
		"a decision":          fault.New(fault.ServiceUnavailable, "Not now."),
	} {
		recorder := httptest.NewRecorder()
		problem.Write(recorder, httptest.NewRequest(http.MethodGet, "/v1/x", http.NoBody), err)
		if recorder.Code != http.StatusServiceUnavailable || recorder.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: got %d, Retry-After %q, %s", name, recorder.Code, recorder.Header().Get("Retry-After"), recorder.Body)
		}
	}
	if got := problem.FromConnect(problem.ToConnect(fault.New(fault.ServiceUnavailable, "Not now."))).RetryAfter; got != 2*time.Second {
		t.Errorf("over Connect: try again after %s", got)
	}
	if got := problem.FromConnect(problem.ToConnect(fault.New(fault.UpstreamFailed, "No."))).RetryAfter; got != 0 {
		t.Errorf("another's failure: try again after %s", got)
	}
}
