package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hookServer is where endpoints are: an HTTPS server that notes what comes and answers 200.
type hookServer struct {
	server *httptest.Server
	caFile string
	// hang says that endpoint 0 keeps its requests.
	hang atomic.Bool
	// closing ends what is kept.
	closing chan struct{}

	mu sync.Mutex
	// came is when each endpoint got an event first, by its path and the event's id.
	came map[string]time.Time
	// twice counts what came again.
	twice int
	// awaited is closed when so many have come as were asked for.
	awaited chan struct{}
	missing int
}

func newHookServer(dir string) (*hookServer, error) {
	h := &hookServer{closing: make(chan struct{}), caFile: filepath.Join(dir, "hooks.pem")}
	h.server = httptest.NewTLSServer(http.HandlerFunc(h.serve))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw})
	if err := os.WriteFile(h.caFile, certificate, 0o600); err != nil {
		return nil, fmt.Errorf("writing the receiver's certificate: %w", err)
	}
	return h, nil
}

func (h *hookServer) close() {
	if h != nil {
		close(h.closing)
		h.server.CloseClientConnections()
		h.server.Close()
	}
}

func (h *hookServer) serve(_ http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the caller is gone
	}
	now := time.Now()
	if h.hang.Load() && strings.HasSuffix(r.URL.Path, "/0") {
		select {
		case <-time.After(hangs):
		case <-r.Context().Done():
		case <-h.closing:
		}
		return
	}
	key := r.URL.Path + r.Header.Get("Webhook-Id")
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, again := h.came[key]; again {
		h.twice++
		return
	}
	h.came[key] = now
	if h.missing--; h.missing == 0 {
		close(h.awaited)
	}
}

// expect forgets what came and waits for so many from now on.
func (h *hookServer) expect(n int) (awaited <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.came, h.twice, h.missing, h.awaited = make(map[string]time.Time, n), 0, n, make(chan struct{})
	return h.awaited
}
