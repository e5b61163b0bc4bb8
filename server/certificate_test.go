package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/server"
	"parlance.dev/parlance/test/capture"
)

// clock is moved by hand: certificates are looked at once a second at most.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// pair writes a self-signed certificate for localhost and its key into dir, under temporary names
// which are then renamed, as renewals do.
func pair(t *testing.T, dir, serial string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	number, _ := new(big.Int).SetString(serial, 10)
	template := x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	put(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	put(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	return certFile, keyFile
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// secured serves on loopback until the test ends.
func secured(t *testing.T, certificate *server.Certificate) (address string) {
	t.Helper()
	listener, err := server.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	serving.Go(func() {
		if err := server.Serve(ctx, server.WithTLS(listener, certificate), handler, 20*time.Second, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return listener.Addr().String()
}

// serial makes a new connection and says which certificate it was shown.
func serial(t *testing.T, address string) string {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestCertificateReload renews a certificate under a running server.
func TestCertificateReload(t *testing.T) {
	t.Parallel()
	dir, at, said := t.TempDir(), &clock{now: time.Now()}, &capture.Buffer{}
	certFile, keyFile := pair(t, dir, "1")
	certificate, err := server.LoadCertificate(server.CertificateConfig{
		CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.NewTextHandler(said, nil)), Now: at.read,
	})
	if err != nil {
		t.Fatal(err)
	}
	address := secured(t, certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	get(t, transport, address)
	expect := func(step, want string) {
		t.Helper()
		if got := serial(t, address); got != want {
			t.Errorf("%s: certificate %s, want %s", step, got, want)
		}
	}
	expect("at the start", "1")

	pair(t, dir, "2")
	expect("within a second", "1")
	at.advance(time.Second)
	expect("after a second", "2")

	put(t, certFile, []byte("not a certificate"))
	at.advance(time.Second)
	expect("broken", "2")
	at.advance(time.Second)
	expect("still broken", "2")
	if n := strings.Count(said.String(), "new TLS certificate is not valid"); n != 1 {
		t.Errorf("a broken pair was logged %d times", n)
	}
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	at.advance(time.Second)
	expect("without a key", "2")

	pair(t, dir, "3")
	certificate.Reload(t.Context())
	expect("after SIGHUP", "3")
	get(t, transport, address) // the first connection lives on
}

// get asks over HTTP/2, which ALPN chose.
func get(t *testing.T, transport *http.Transport, address string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if proto, err := io.ReadAll(resp.Body); err != nil || string(proto) != "HTTP/2.0" {
		t.Errorf("answered by %s, %v", proto, err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile := pair(t, t.TempDir(), "1")
	config := server.CertificateConfig{CertFile: certFile, KeyFile: keyFile, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	certificate, err := server.LoadCertificate(config)
	if err != nil {
		t.Fatal(err)
	}
	address := secured(t, certificate)
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}}
	if conn, err := dialer.DialContext(t.Context(), "tcp", address); err == nil {
		conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
	config.KeyFile = certFile
	if _, err := server.LoadCertificate(config); err == nil || !strings.Contains(err.Error(), certFile) {
		t.Errorf("a wrong pair at the start: %v", err)
	}
}

// TestListenUnix takes a socket over from a process that died, and from no other.
func TestListenUnix(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	first, err := server.Listen(t.Context(), "unix://"+path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := server.Listen(t.Context(), "unix://"+path); err == nil {
		t.Error("a socket in use was taken")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as kill -9 leaves it
	dead.Close()
	again, err := server.Listen(t.Context(), "unix://"+path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Listen(t.Context(), "unix://"+path); err == nil {
		t.Error("a file was replaced")
	}
}
