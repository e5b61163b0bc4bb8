package publicnet_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parlance.dev/parlance/platform/publicnet"
)

// TestHeaderTimeout ends a request whose answer does not begin, as one that took too long.
func TestHeaderTimeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	guard := newGuard(t, publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := guard.Client(publicnet.ClientOptions{HeaderTimeout: 10 * time.Millisecond}).Do(req)
	if err == nil {
		_ = resp.Body.Close() // nothing is read
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
