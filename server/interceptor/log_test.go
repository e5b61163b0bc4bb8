package interceptor_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/interceptor"
)

// TestLogOfUpgrade has a handler that takes the connection over and answers there, as that of
// sockets does.
func TestLogOfUpgrade(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
	var log bytes.Buffer
	logger := &interceptor.Logger{Log: slog.New(slog.NewJSONHandler(&log, nil)), Metrics: telemetry.NewMetrics("test"), Now: time.Now}
	logged := make(chan struct{})
	wrapped := logger.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, answer) // the client would tell
		_ = conn.Close()
	}), func(*http.Request) string { return "GET /x" })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(logged)
		wrapped.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	<-logged
	if response.StatusCode != 101 || !strings.Contains(log.String(), `"status":101`) {
		t.Errorf("answered %d, logged %s", response.StatusCode, log.String())
	}
}
