package scenario

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/test/harness"
)

// loopbackCertificate writes a certificate of 127.0.0.1 and its key, and gives who believes it.
func loopbackCertificate(t *testing.T) (certFile, keyFile string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	written := errors.Join(os.WriteFile(certFile, certificate, 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if written != nil {
		t.Fatal(written)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return certFile, keyFile, roots
}

// endless is a body that says how much of it was read.
type endless struct {
	head io.Reader
	sent atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.head.Read(p)
	if errors.Is(err, io.EOF) {
		n, err = len(p), nil
		for i := range p {
			p[i] = 'x'
		}
	}
	e.sent.Add(int64(n))
	return n, err
}

// TestRefusedUploadOverTLS: a client of HTTP/2, and one of HTTP/1.1, reads why its upload is
// refused, however much it still had to send.
func TestRefusedUploadOverTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, roots := loopbackCertificate(t)
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(`{"edge": {"kb_storage_bytes": 4194304, "kb_upload_bytes": 1048576},
		"enterprise": {"kb_storage_bytes": 107374182400, "kb_upload_bytes": 1073741824}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := harness.Start(t, harness.Options{WithoutServer: true, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_TLS_CERT_FILE": certFile, "PARLANCE_TLS_KEY_FILE": keyFile, "PARLANCE_PLANS_FILE": plans,
	}})
	tenant := env.NewTenant(t, "edge")
	env.StartProcess(t, "server")
	base := strings.Replace(env.URL, "http://", "https://", 1)
	clientOf := func(http2 bool) *http.Client {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP2(http2)
		transport.Protocols.SetHTTP1(!http2)
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	harness.Await(t, harness.Patience, "the server answers", func() bool {
		answer, err := clientOf(false).Get(base + "/healthz")
		if err == nil {
			_ = answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	})
	for protocol, client := range map[int]*http.Client{1: clientOf(false), 2: clientOf(true)} {
		for name, row := range map[string]struct {
			tenant              harness.Tenant
			filename, key, code string
			length              int64
			status              int
		}{
			"a program, whole":       {env.Tenant, "a.exe", env.Tenant.Operator, "kb-unsupported-media-type", 24 << 20, 415},
			"a program, endless":     {env.Tenant, "a.exe", env.Tenant.Operator, "kb-unsupported-media-type", -1, 415},
			"over the plan, whole":   {tenant, "a.txt", tenant.Operator, "quota-exceeded-kb-upload-size", 24 << 20, 402},
			"over the plan, endless": {tenant, "a.txt", tenant.Operator, "quota-exceeded-kb-upload-size", -1, 402},
			"a stranger's":           {tenant, "a.txt", "pk_nobody", "auth-invalid-key", 24 << 20, 401},
		} {
			t.Run(fmt.Sprintf("HTTP %d, %s", protocol, name), func(t *testing.T) {
				t.Parallel()
				head := fmt.Sprintf("--b\r\n%s", wirePart(`name="file"; filename="`+row.filename+`"`, ""))
				body := &endless{head: strings.NewReader(head)}
				request, err := http.NewRequestWithContext(t.Context(), "POST", base+row.tenant.In(uploadPath), body)
				if err != nil {
					t.Fatal(err)
				}
				if request.ContentLength = row.length; row.length > 0 {
					request.Body = io.NopCloser(io.LimitReader(body, row.length))
				}
				request.Header.Set("Authorization", "Bearer "+row.key)
				request.Header.Set("Content-Type", "multipart/form-data; boundary=b")
				answer, err := client.Do(request)
				if err != nil {
					t.Fatalf("no answer after %d bytes: %v", body.sent.Load(), err)
				}
				defer func() { _ = answer.Body.Close() }()
				var problem harness.Problem
				text, err := io.ReadAll(answer.Body)
				if err == nil {
					err = json.Unmarshal(text, &problem)
				}
				if err != nil || answer.ProtoMajor != protocol || answer.StatusCode != row.status || problem.Code != row.code ||
					answer.Header.Get("Content-Type") != "application/problem+json" {
					t.Errorf("got HTTP/%d %d %s, %v", answer.ProtoMajor, answer.StatusCode, text, err)
				}
				if sent := body.sent.Load(); sent > 256<<20 {
					t.Errorf("%d bytes of a refused upload were read", sent)
				}
			})
		}
	}
}
