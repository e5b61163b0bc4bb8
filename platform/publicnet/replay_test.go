package publicnet_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/platform/publicnet"
)

// onceServer answers the first request of each connection. It reads the second and closes the
// connection: the request has arrived, and its sender cannot know.
type onceServer struct {
	url      string
	requests atomic.Int32
	keys     chan string // the header X-Idempotency-Key of each request
}

func newOnceServer(t *testing.T) *onceServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &onceServer{url: "http://" + listener.Addr().String(), keys: make(chan string, 8)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *onceServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for first := true; ; first = false {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		s.requests.Add(1)
		s.keys <- request.Header.Get("X-Idempotency-Key")
		if !first {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
}

// TestNoReplay: a request that is not idempotent arrives once, whatever headers its owner gave it.
// One that is idempotent is sent again on a new connection.
func TestNoReplay(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	for _, header := range []string{"Idempotency-Key", "X-Idempotency-Key", "x-idempotency-KEY"} {
		for method, arrivals := range map[string]int32{"POST": 2, "PATCH": 2, "PUT": 3, "DELETE": 3} {
			t.Run(method+header, func(t *testing.T) {
				t.Parallel()
				server := newOnceServer(t)
				client := guard.Client(publicnet.ClientOptions{})
				for i := range 2 {
					request, err := http.NewRequestWithContext(t.Context(), method, server.url, strings.NewReader("{}"))
					if err != nil {
						t.Fatal(err)
					}
					request.Header.Set(header, "k")
					response, err := client.Do(request)
					if err == nil {
						_ = response.Body.Close()
					}
					if failed := err != nil; failed != (i == 1 && arrivals == 2) {
						t.Errorf("request %d: %v", i+1, err)
					}
					if request.Header.Get(header) != "k" {
						t.Error("the caller's request was changed")
					}
				}
				if n := server.requests.Load(); n != arrivals {
					t.Errorf("%d requests arrived, want %d", n, arrivals)
				}
				if key := <-server.keys; strings.HasPrefix(strings.ToLower(header), "x-") && key != "k" {
					t.Errorf("the header arrived as %q", key)
				}
			})
		}
	}
}
