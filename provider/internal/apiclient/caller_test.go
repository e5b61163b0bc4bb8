package apiclient_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/provider/internal/apiclient"
)

const key = "sk-of-a-test-0123456789"

// server refuses with each status in turn, then answers 200; calls counts what arrived.
func server(t *testing.T, header http.Header, statuses ...int) (caller apiclient.Caller, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"n":1}` || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Api-Key") != key {
			t.Errorf("call %d: %q with %v", n, body, r.Header)
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		if n <= len(statuses) {
			w.WriteHeader(statuses[n-1])
			_, _ = io.WriteString(w, "because of "+r.Header.Get("X-Api-Key"))
			return
		}
		_, _ = io.WriteString(w, "answer")
	}))
	t.Cleanup(s.Close)
	return apiclient.Caller{
		Client: s.Client(), URL: s.URL, Header: http.Header{"X-Api-Key": {key}}, MaxRetries: 2, MaxRetryDelay: time.Millisecond,
	}, calls
}

func TestPost(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name     string
		header   http.Header
		statuses []int
		calls    int64
		status   int
	}{
		{"answers", nil, nil, 1, 0},
		{"408 and 409 pass", nil, []int{408, 409}, 3, 0},
		{"429 and 500 pass", nil, []int{429, 500}, 3, 0},
		{"twice only", nil, []int{500, 502, 503}, 3, 503},
		{"not 400", nil, []int{400}, 1, 400},
		{"not 401", nil, []int{401}, 1, 401},
		{"no redirect", http.Header{"Location": {"https://elsewhere.example/"}}, []int{307}, 1, 307},
		{"asked for longer", http.Header{"Retry-After": {"17"}}, []int{429}, 1, 429},
		{"asked for ever", http.Header{"Retry-After": {"1e300"}}, []int{429}, 1, 429},
		{"asked for less", http.Header{"Retry-After-Ms": {"0.5"}}, []int{429}, 2, 0},
		{"told not to", http.Header{"X-Should-Retry": {"false"}}, []int{429}, 1, 429},
		{"told to", http.Header{"X-Should-Retry": {"true"}}, []int{400}, 2, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			caller, calls := server(t, row.header, row.statuses...)
			res, err := caller.Post(t.Context(), []byte(`{"n":1}`))
			if got := calls.Load(); got != row.calls {
				t.Errorf("%d calls, want %d", got, row.calls)
			}
			if row.status == 0 {
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				if string(body) != "answer" || err != nil || res.Body.Close() != nil {
					t.Errorf("got %q, %v", body, err)
				}
				return
			}
			refusal, ok := errors.AsType[*apiclient.Refusal](err)
			if !ok || refusal.Status != row.status || refusal.Detail != "because of "+key {
				t.Fatalf("got %v, want a refusal with %d", err, row.status)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
}

func TestPostNever(t *testing.T) {
	t.Parallel()
	caller, calls := server(t, nil, 500)
	caller.MaxRetries = -1
	if _, err := caller.Post(t.Context(), []byte(`{"n":1}`)); err == nil || calls.Load() != 1 {
		t.Errorf("got %v after %d calls", err, calls.Load())
	}
}

// TestPostLosesConnections: a connection that is lost before an answer is made again, and the
// error that stays in the end does not tell the URL, in which a key may stand.
func TestPostLosesConnections(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(s.Close)
	caller := apiclient.Caller{Client: s.Client(), URL: s.URL + "/?key=" + key, MaxRetryDelay: time.Millisecond}
	_, err := caller.Post(t.Context(), []byte(`{}`))
	if err == nil || calls.Load() != 2 {
		t.Fatalf("got %v after %d calls, want an error after 2", err, calls.Load())
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the error holds the key: %v", err)
	}
}

// TestPostTimesOut: the time of an attempt ends it, and a server that has the work already is
// not given it again.
func TestPostTimesOut(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice the hang-up
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	caller := apiclient.Caller{
		Client: s.Client(), URL: s.URL, MaxRetryDelay: time.Millisecond,
		Timeout: 3 * time.Second, // enough to arrive on a busy machine
	}
	_, err := caller.Post(t.Context(), []byte(`{}`))
	if !errors.Is(err, context.DeadlineExceeded) || calls.Load() != 1 {
		t.Errorf("got %v after %d calls, want a deadline after 1", err, calls.Load())
	}
}

func TestPostWaitsNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	caller, calls := server(t, http.Header{"Retry-After": {"30"}}, 429)
	caller.MaxRetryDelay = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := caller.Post(ctx, []byte(`{"n":1}`)); !errors.Is(err, context.DeadlineExceeded) || calls.Load() != 1 {
		t.Errorf("got %v after %d calls", err, calls.Load())
	}
}

func TestParseBase(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "localhost:11434/v1", "ftp://host/v1", "http:///v1", "http://ho st/"} {
		if _, err := apiclient.ParseBase(raw); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
	if base, err := apiclient.ParseBase("http://localhost:11434/v1/"); err != nil || base.Host != "localhost:11434" {
		t.Errorf("got %v, %v", base, err)
	}
}
