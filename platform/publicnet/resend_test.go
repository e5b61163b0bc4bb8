package publicnet_test

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"parlance.dev/parlance/platform/publicnet"
)

// status200 is the header block of an answer without a body.
var status200 = []byte{0x88}

// h2 speaks HTTP/2 as badly as it is told to.
type h2 struct {
	url    string
	caFile string
	// conns and requests count what came.
	conns, requests atomic.Int32
}

// newH2 answers each connection with greet and each request on it with reply; false ends the
// connection.
func newH2(t *testing.T, greet func(*http2.Framer) bool, reply func(fr *http2.Framer, stream uint32) bool) *h2 {
	t.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(certified.Close)
	s := &h2{caFile: filepath.Join(t.TempDir(), "ca.pem")}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})
	if err := os.WriteFile(s.caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s.url = "https://" + listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			s.conns.Add(1)
			go s.serve(conn, greet, reply)
		}
	}()
	return s
}

func (s *h2) serve(conn net.Conn, greet func(*http2.Framer) bool, reply func(*http2.Framer, uint32) bool) {
	defer func() { _ = conn.Close() }()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	if framer.WriteSettings() != nil || !greet(framer) {
		return
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() {
			s.requests.Add(1)
			if !reply(framer, frame.Header().StreamID) {
				return
			}
		}
	}
}

func (s *h2) post(client *http.Client, t *testing.T) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	return err
}

func answered(fr *http2.Framer, stream uint32) bool {
	return fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: status200, EndHeaders: true, EndStream: true}) == nil
}

// TestSentAFewTimes: a server that says of each request that it was not processed gets it a few
// times, not as often as a connection can be made.
func TestSentAFewTimes(t *testing.T) {
	t.Parallel()
	welcome := func(*http2.Framer) bool { return true }
	for name, row := range map[string]struct {
		greet func(*http2.Framer) bool
		reply func(*http2.Framer, uint32) bool
	}{
		"GoneAfterEach": {welcome, func(fr *http2.Framer, _ uint32) bool { return fr.WriteGoAway(0, http2.ErrCodeNo, nil) != nil }},
		"GoneAtOnce":    {func(fr *http2.Framer) bool { return fr.WriteGoAway(0, http2.ErrCodeNo, nil) != nil }, answered},
		"Refused": {welcome, func(fr *http2.Framer, stream uint32) bool {
			return fr.WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newH2(t, row.greet, row.reply)
			client := newGuard(t, publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}, CAFile: server.caFile}).Client(publicnet.ClientOptions{})
			err := server.post(client, t)
			if err == nil || strings.Contains(err.Error(), "deadline") {
				t.Errorf("post: %v", err)
			}
			if conns, requests := server.conns.Load(), server.requests.Load(); conns > 4 || requests > 3 {
				t.Errorf("%d connections, %d requests", conns, requests)
			}
		})
	}
}

// TestGoneWithGrace: a server that ends each connection after an answer is served on new ones.
func TestGoneWithGrace(t *testing.T) {
	t.Parallel()
	server := newH2(t, func(*http2.Framer) bool { return true }, func(fr *http2.Framer, stream uint32) bool {
		return answered(fr, stream) && fr.WriteGoAway(stream, http2.ErrCodeNo, nil) == nil
	})
	client := newGuard(t, publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}, CAFile: server.caFile}).Client(publicnet.ClientOptions{})
	for range 10 {
		if err := server.post(client, t); err != nil {
			t.Error(err)
		}
	}
	if n := server.requests.Load(); n < 10 {
		t.Errorf("%d requests, want 10", n)
	}
}
