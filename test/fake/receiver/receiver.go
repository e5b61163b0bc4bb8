package receiver

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// CIDRs are the ranges that a guard must open for receivers.
func CIDRs() []string { return []string{"127.0.0.0/8", "::1/128"} }

// Answer is what a receiver does with one request. The zero value is 200 with an empty body.
type Answer struct {
	// Status 0 means 200.
	Status int
	Header map[string]string
	Body   string
	// Hold keeps the answer back until it is closed, or the caller hangs up; nil does not.
	Hold <-chan struct{}
	// Reset breaks the connection off instead of answering.
	Reset bool
}

// Request is what came.
type Request struct {
	// EventID and Type are of the body; the headers must say the same. The look-up of a caller has
	// the id of its call.
	EventID string
	Type    string
	Method  string
	Path    string
	Header  http.Header
	Body    []byte
	At      time.Time
	// Status is what was answered; 0 when nothing was, or has not been yet.
	Status int
	// Err says why a customer would have refused the request; nil when it was in order.
	Err error
}

// Receiver is one endpoint. Safe for concurrent use.
type Receiver struct {
	// URL is https on loopback.
	URL string

	server *httptest.Server

	mu       sync.Mutex
	secrets  []string
	script   []Answer
	standing func() Answer
	requests []Request
	arrived  chan struct{} // closed and replaced when a request was recorded
}

// New starts a receiver that ends with the test. It answers 200 until that is changed.
func New(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{arrived: make(chan struct{}), standing: func() Answer { return Answer{} }}
	r.server = httptest.NewTLSServer(http.HandlerFunc(r.serve))
	r.URL = r.server.URL
	t.Cleanup(func() {
		r.server.CloseClientConnections() // nobody waits for what is held back
		r.server.Close()
	})
	return r
}

// CAFile writes a file with the certificate all receivers have, for publicnet.Options.CAFile.
func (r *Receiver) CAFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		t.Fatalf("receiver: %v", err)
	}
	return path
}

// Expect makes the receiver verify signatures made with any of these secrets. Without secrets
// it verifies nothing.
func (r *Receiver) Expect(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// Script sets the answers to the next requests, one each; Always' follow.
func (r *Receiver) Script(answers ...Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = answers
}

// Always sets the answer to requests without a scripted one.
func (r *Receiver) Always(answer Answer) { r.Each(func() Answer { return answer }) }

// Each makes an answer for every request without a scripted one.
func (r *Receiver) Each(answer func() Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.standing = answer
}

// Requests returns what came so far, in order of arrival.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}

// Await waits until n requests have come and returns all that have; it fails the test when ctx
// ends before.
func (r *Receiver) Await(ctx context.Context, t testing.TB, n int) []Request {
	t.Helper()
	for {
		r.mu.Lock()
		requests, arrived := append([]Request(nil), r.requests...), r.arrived
		r.mu.Unlock()
		if len(requests) >= n {
			return requests
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			t.Fatalf("receiver: %d of %d requests came", len(requests), n)
		}
	}
}

// serve records a request and answers it.
func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the caller is gone
	}
	got := Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body, At: time.Now()}
	answer, number := r.record(got)
	if answer.Hold != nil {
		select {
		case <-answer.Hold:
		case <-req.Context().Done():
			// To return would be to answer 200, which a caller that is just hanging up may still
			// read.
			panic(http.ErrAbortHandler)
		}
	}
	if answer.Reset {
		reset(w)
		return
	}
	for name, value := range answer.Header {
		w.Header().Set(name, value)
	}
	answer.Status = cmp.Or(answer.Status, http.StatusOK)
	r.answered(number, answer.Status)
	w.WriteHeader(answer.Status)
	_, _ = io.WriteString(w, answer.Body) // the caller may be gone
}

// answered keeps what the request of a number gets.
func (r *Receiver) answered(number, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[number].Status = status
}

// record verifies and keeps a request, and takes its answer off the script: 401 to a wrong one.
func (r *Receiver) record(got Request) (answer Answer, number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got.EventID, got.Type, got.Err = check(got, r.secrets)
	r.requests = append(r.requests, got)
	close(r.arrived)
	r.arrived = make(chan struct{})
	number = len(r.requests) - 1
	if got.Err != nil {
		return Answer{Status: http.StatusUnauthorized}, number
	}
	if len(r.script) == 0 {
		return r.standing(), number
	}
	answer = r.script[0]
	r.script = r.script[1:]
	return answer, number
}

// check is what a careful customer does before believing a request.
func check(got Request, secrets []string) (eventID, eventType string, err error) {
	var body struct {
		EventID string `json:"event_id"`
		Type    string `json:"type"`
		CallID  string `json:"call_id"`
	}
	if err := json.Unmarshal(got.Body, &body); err != nil {
		return "", "", fmt.Errorf("body: %w", err)
	}
	if body.Type == "call.lookup" { // a question, which has the id of its call
		body.EventID = body.CallID
	}
	var wrong []error
	for name, want := range map[string]string{
		"X-Parlance-Event": body.Type, "X-Parlance-Event-Id": body.EventID, "Webhook-Id": body.EventID,
		"X-Parlance-Timestamp": got.Header.Get("Webhook-Timestamp"), "Content-Type": "application/json",
	} {
		if is := got.Header.Get(name); is != want || want == "" {
			wrong = append(wrong, fmt.Errorf("%s is %q, want %q", name, is, want))
		}
	}
	if len(secrets) > 0 {
		wrong = append(wrong, verify(got, secrets))
	}
	return body.EventID, body.Type, errors.Join(wrong...)
}

// verify requires X-Parlance-Signature by the first secret and webhook-signature by each.
func verify(got Request, secrets []string) error {
	hash := hmac.New(sha256.New, []byte(secrets[0]))
	hash.Write(got.Body)
	if want := "sha256=" + hex.EncodeToString(hash.Sum(nil)); got.Header.Get("X-Parlance-Signature") != want {
		return errors.New("X-Parlance-Signature does not match")
	}
	for _, secret := range secrets {
		standard, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return err
		}
		if err := standard.Verify(got.Body, got.Header); err != nil {
			return err
		}
	}
	return nil
}

// reset sends a TCP reset in place of an answer.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it this would be an orderly end
	}
	_ = conn.Close() // the point of it
}
