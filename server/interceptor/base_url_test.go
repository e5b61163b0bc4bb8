package interceptor_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/server/interceptor"
)

// TestBaseURL sends requests by hand: clients never leave Host empty, but HTTP allows it.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, interceptor.BaseURL(r.Context()))
	})
	for name, row := range map[string]struct{ public, host, want string }{
		"as called":  {host: "talk.example:8443", want: "http://talk.example:8443"},
		"empty host": {want: "http://ADDRESS"},
		"public URL": {public: "https://api.example", host: "talk.example", want: "https://api.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(interceptor.WithCaller(echo, interceptor.CallerConfig{PublicURL: row.public}))
			t.Cleanup(server.Close)
			address := server.Listener.Addr().String()
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", row.host); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = answer.Body.Close() })
			got, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(row.want, "ADDRESS", address); string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
