package dev

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// get asks a server that shows the certificate, as a client that trusts caFile.
func get(t *testing.T, ca localCA, caFile, host string) error {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(ca.CertFile, ca.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are wanted
	srv.StartTLS()
	defer srv.Close()
	content, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(content)
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host}}).DialContext(t.Context(), "tcp",
		srv.Listener.Addr().String())
	if err == nil {
		_ = conn.Close() // the handshake is all that was wanted
	}
	return err
}

func TestLocalCA(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	now := time.Now()
	made, err := openLocalCA(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", net.IPv4(127, 0, 0, 1).String(), net.IPv6loopback.String()} {
		if err := get(t, made, made.CAFile, host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := get(t, made, made.CAFile, "example.com"); err == nil {
		t.Error("the certificate is good for example.com")
	}
	for _, name := range []string{"ca-key.pem", "localhost-key.pem"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", name, info.Mode(), err)
		}
	}
	before := readFile(t, made.CAFile) + readFile(t, made.CertFile)
	if _, err := openLocalCA(dir, now.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if before != readFile(t, made.CAFile)+readFile(t, made.CertFile) {
		t.Error("a second start made new certificates")
	}
	authority := readFile(t, made.CAFile)
	if _, err := openLocalCA(dir, now.Add(localCertLife)); err != nil {
		t.Fatal(err)
	}
	if readFile(t, made.CAFile) != authority || readFile(t, made.CertFile) == before[len(authority):] {
		t.Error("when the certificate expires it, and only it, should be made anew")
	}
}

func TestEgressTrustsTheOperatorsCAToo(t *testing.T) {
	t.Parallel()
	ours, err := openLocalCA(filepath.Join(t.TempDir(), "ours"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := openLocalCA(filepath.Join(t.TempDir(), "theirs"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	both, err := ours.egressCAFile(theirs.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, ca := range map[string]localCA{"ours": ours, "theirs": theirs} {
		if err := get(t, ca, both, "localhost"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
