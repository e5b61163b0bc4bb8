package webhooks_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/nameserver"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
)

// observedReceiver counts connections and notes protocols.
type observedReceiver struct {
	*httptest.Server

	connections atomic.Int32
	mu          sync.Mutex
	protocols   []string
}

func newObserved(t *testing.T, http2 bool, answer http.HandlerFunc) *observedReceiver {
	t.Helper()
	w := &observedReceiver{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.protocols = append(w.protocols, r.Proto)
		w.mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its caller hung up when it has read all
		if answer != nil {
			answer(rw, r)
		}
	}))
	w.EnableHTTP2 = http2
	w.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			w.connections.Add(1)
		}
	}
	w.StartTLS()
	t.Cleanup(func() { w.CloseClientConnections(); w.Close() })
	return w
}

// hooked registers an ordered endpoint, which gets one request after the other.
func (f *fixture) hooked(w *observedReceiver) webhooks.Endpoint {
	f.t.Helper()
	minted, err := f.hooks.Create(f.t.Context(), f.ref, webhooks.CreateParams{URL: w.URL, Events: []string{"fatigue.alert"}, Ordered: true})
	if err != nil {
		f.t.Fatal(err)
	}
	return minted.Endpoint
}

// TestConnectionsAreKept sends many events over one connection, by HTTP/2 where the receiver has
// it.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(strings.ReplaceAll(protocol, "/", "_"), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := newObserved(t, http2, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(bytes.Repeat([]byte("x"), 8<<10)) })
			f.hooked(w)
			f.happen(20)
			f.deliver(f.relay())
			if len(w.protocols) != 20 || w.protocols[0] != protocol || w.connections.Load() != 1 {
				t.Errorf("%d requests by %v over %d connections; want 20, %s, 1", len(w.protocols), w.protocols[:1], w.connections.Load(), protocol)
			}
		})
	}
}

// TestAnswersAreCaptured shows that any answer is stored as text of at most 4 KiB.
func TestAnswersAreCaptured(t *testing.T) {
	t.Parallel()
	packed := func(plain []byte) []byte {
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		_, _ = writer.Write(plain) // into memory
		_ = writer.Close()
		return out.Bytes()
	}
	for name, one := range map[string]struct {
		encoding string
		body     []byte
		want     string
	}{
		"Compressed":   {"gzip", packed([]byte("received")), "received"},
		"Bomb":         {"gzip", packed(make([]byte, 8<<20)), strings.Repeat("\uFFFD", 4096/len("\uFFFD"))},
		"NotGzip":      {"gzip", []byte("plain"), ""},
		"Strange":      {"br", []byte("\x8b\x00\xff"), "\uFFFD\uFFFD\uFFFD"},
		"NotUTF8":      {"", []byte("caf\xe9\x00"), "caf\uFFFD\uFFFD"},
		"CutCharacter": {"", []byte(strings.Repeat("x", 4095) + "é"), strings.Repeat("x", 4095)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := newObserved(t, false, func(rw http.ResponseWriter, _ *http.Request) {
				if one.encoding != "" {
					rw.Header().Set("Content-Encoding", one.encoding)
				}
				_, _ = rw.Write(one.body)
			})
			endpoint := f.hooked(w)
			f.happen(1)
			f.deliver(f.relay())
			attempts := f.attempts(endpoint.ID)
			if len(attempts) != 1 || attempts[0].Status != webhooks.AttemptSucceeded || attempts[0].ResponseBody != one.want {
				t.Errorf("%d attempts, %s, %d bytes: %.40q", len(attempts), attempts[0].Status, len(attempts[0].ResponseBody), attempts[0].ResponseBody)
			}
		})
	}
}

// hang sends nothing more until the client gives up.
func hang(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// TestTimeIsBounded shows that an attempt ends in time when the receiver withholds the answer or
// the rest of its body. A status that was received is the answer.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *webhooks.Deps) { d.Policy.Timeout = 6 * time.Second }) // for the status to come, however busy the machine is
	for name, one := range map[string]struct {
		answer http.HandlerFunc
		status webhooks.AttemptStatus
		code   int
	}{
		"NoAnswer": {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, webhooks.AttemptFailed, 0},
		"HalfABody": {func(rw http.ResponseWriter, r *http.Request) {
			_, _ = rw.Write([]byte("half"))
			_ = http.NewResponseController(rw).Flush()
			hang(r)
		}, webhooks.AttemptSucceeded, 200},
	} {
		endpoint := f.hooked(newObserved(t, false, one.answer))
		f.happen(1)
		f.deliver(f.relay())
		attempts := f.attempts(endpoint.ID)
		if len(attempts) != 1 || attempts[0].Status != one.status || attempts[0].StatusCode != one.code {
			t.Errorf("%s: %+v", name, attempts)
		}
		if err := f.hooks.Delete(t.Context(), f.ref, endpoint.ID); err != nil {
			t.Error(err)
		}
	}
}

// TestRebindingOfAnEndpoint has a host name that was public when the endpoint was made and is not
// when it is dialled: it gets no request, and the attempt fails and is retried.
func TestRebindingOfAnEndpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	port := r.URL[strings.LastIndex(r.URL, ":")+1:]
	const name = "example.com." // which the certificate is for
	opened, shut := netip.MustParseAddr("127.0.0.1"), "127.0.0.2"
	names := nameserver.New(t, map[string][][]netip.Addr{name: {{opened}}})
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{opened.String() + "/32"}, CAFile: f.caFile, Resolver: names.Resolver()})
	if err != nil {
		t.Fatal(err)
	}
	var inside atomic.Int32
	if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(shut, port)); err == nil {
		var group sync.WaitGroup
		group.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				inside.Add(1)
				_ = conn.Close() // it was enough to come
			}
		})
		t.Cleanup(func() { _ = listener.Close(); group.Wait() })
	}
	// A process that begins keeps no connection of before.
	restart := func() { f.hooks = f.service(func(d *webhooks.Deps) { d.Guard = guard }) }
	restart()
	minted, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{
		URL:    "https://example.com:" + port + "/hook",
		Events: []string{"fatigue.alert"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Expect(minted.Secret.Reveal())
	failures := 0
	for _, address := range []string{
		shut, "10.0.0.1", "169.254.169.254", "100.64.0.1", "::ffff:" + shut, "::1", "fd00::1",
		"64:ff9b::7f00:2",
	} {
		names.Move(name, netip.MustParseAddr(address))
		restart()
		f.happen(1)
		f.deliver(f.relay())
		failures++
		attempts := f.attempts(minted.ID)
		last := attempts[len(attempts)-1]
		if len(attempts) != failures || last.Error != "The host does not resolve to a public address." ||
			last.NextAttemptAt.IsZero() || f.get(minted.ID).ConsecutiveFailures != failures {
			t.Errorf("%s: %d attempts, the last %+v", address, len(attempts), last)
		}
		_, err := f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: "https://example.com:" + port})
		wantReason(t, err, fault.WebhookURLNotPublic)
	}
	// One public address among others that are not: the name is refused when it is registered, and
	// only the public one is dialled.
	names.Move(name, netip.MustParseAddr(shut), opened)
	_, err = f.hooks.Create(t.Context(), f.ref, webhooks.CreateParams{URL: "https://example.com:" + port})
	wantReason(t, err, fault.WebhookURLNotPublic)
	names.Move(name, opened)
	restart()
	r.Script(receiver.Answer{Status: 302, Header: map[string]string{"Location": "https://" + shut + ":" + port + "/"}})
	f.clock.advance(time.Minute)
	if f.sweep() != failures {
		t.Error("what was refused was not sent when the name was public again")
	}
	requests := r.Requests()
	inOrder(t, requests)
	if len(requests) != failures || inside.Load() != 0 {
		t.Errorf("%d requests, want %d; %d connections inside, want none", len(requests), failures, inside.Load())
	}
}

// TestDeleteWithPending deletes an endpoint: requests under way end without an error, and its
// pending deliveries are deleted.
func TestDeleteWithPending(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r, other := receiver.New(t), receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	f.endpoint(f.ref, other, "fatigue.alert")
	hold := make(chan struct{})
	r.Always(receiver.Answer{Hold: hold, Status: 500})
	f.happen(3)
	due := f.relay()
	var group sync.WaitGroup
	group.Go(func() { f.deliver(due) })
	r.Await(t.Context(), t, 3)
	if err := f.hooks.Delete(t.Context(), f.ref, endpoint.ID); err != nil {
		t.Error(err)
	}
	close(hold)
	group.Wait()
	f.happen(1)
	f.deliver(f.relay())
	f.clock.advance(time.Hour)
	if f.sweep() != 0 || len(r.Requests()) != 3 || len(other.Requests()) != 4 {
		t.Errorf("%d and %d requests, want 3 and 4", len(r.Requests()), len(other.Requests()))
	}
	for _, table := range []bun.Ident{"webhook_deliveries", "webhook_attempts"} {
		if left := f.number("SELECT count(*) FROM ? WHERE tenant_id = ? AND endpoint_id = ?", table, f.ref.TenantID, endpoint.ID); left != 0 {
			t.Errorf("%d rows of %s are left", left, table)
		}
	}
	if _, err := f.hooks.Get(t.Context(), f.ref, endpoint.ID); err == nil {
		t.Error("the endpoint is still there")
	}
}
