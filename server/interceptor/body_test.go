package interceptor_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"parlance.dev/parlance/server/interceptor"
)

// TestStalledBody: a caller that begins a chunked body and falls silent gets its refusal, and the
// connection back, although net/http would wait for the rest of the body for ever.
func TestStalledBody(t *testing.T) {
	t.Parallel()
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := httptest.NewServer(interceptor.WithBodyDeadlines(refuse, time.Now))
	t.Cleanup(server.Close)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal("no answer:", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

// TestBoundBody: reads after a decision end at the bound, however often the caller sends a little
// more.
func TestBoundBody(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	drain := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interceptor.BoundBody(r.Body, time.Now().Add(100*time.Millisecond))
		_, err := io.Copy(io.Discard, r.Body)
		read <- err
	})
	server := httptest.NewServer(interceptor.WithBodyDeadlines(drain, time.Now))
	t.Cleanup(server.Close)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-read:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the read ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the read goes on")
	}
}

// TestBodyDeadlinesEnd: what comes after the body may take as long as it likes.
func TestBodyDeadlinesEnd(t *testing.T) {
	t.Parallel()
	var ended error
	long := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "hello" {
			t.Errorf("read %q, %v", body, err)
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			ended = r.Context().Err()
		case <-time.After(4 * time.Second):
		}
	})
	// A clock whose deadlines pass soon after the body's reads, three seconds from their beginning,
	// would end the request.
	past := func() time.Time { return time.Now().Add(-27 * time.Second) }
	server := httptest.NewServer(interceptor.WithBodyDeadlines(long, past))
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, bufio.NewReader(io.LimitReader(repeated("hello"), 5)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Error(err)
	}
	_ = answer.Body.Close()
	if ended != nil {
		t.Errorf("the request was ended: %v", ended)
	}
}

type repeated string

func (r repeated) Read(p []byte) (int, error) { return copy(p, string(r)), nil }
