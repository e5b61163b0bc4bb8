package realtime_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// TestFlood has clients that send more than they may: they get an error, then their sockets are
// closed, and their sessions wait for them.
func TestFlood(t *testing.T) {
	t.Parallel()
	slow := 1e-3 // a second: the buckets do not fill during the test, on any machine
	rows := []struct {
		name  string
		rates realtime.Rates
		frame string
	}{
		{"frames", realtime.Rates{FramesPerSecond: slow, FrameBurst: 10}, `{"type":"input_audio_buffer.clear"}`},
		{
			"bytes",
			realtime.Rates{BytesPerSecond: slow, ByteBurst: 4000},
			`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("A", 400) + `"}`,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, realtime.Limits{Rates: row.rates})
			made := f.create(t, sessions.Text)
			c := f.dial(t, made.ChatURL)
			c.want("session.created")
			for range 30 {
				if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(row.frame)); err != nil {
					break // the server has closed
				}
			}
			told := c.until("error")
			for path(told[len(told)-1], "error", "code") != "rate-limited" {
				told = c.until("error")
			}
			wantClose(t, c.closed(), 4429, "flood")
			f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
			if s := f.session(t, made.Session.ID); s.Status != sessions.InProgress {
				t.Errorf("the session is %s", s.Status)
			}
			returned := f.dial(t, made.ChatURL) // with full buckets
			returned.want("session.created")
		})
	}
}

// TestFloodOfPings has a client that sends only control frames.
func TestFloodOfPings(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{Rates: realtime.Rates{FramesPerSecond: 1e-3, FrameBurst: 20}})
	made := f.create(t, sessions.Text)
	conn := f.openAndIgnore(t, made.ChatURL)
	ping := []byte{0x89, 0x80, 0, 0, 0, 0}
	for range 100 {
		if _, err := conn.Write(ping); err != nil {
			break // the server has closed
		}
	}
	f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
}

// TestUnfinishedMessage has clients that begin a message and do not finish it.
func TestUnfinishedMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{ReadTimeout: 50 * time.Millisecond})
	for _, part := range [][]byte{{0x81}, {0x81, 0x85, 0, 0, 0, 0, '{'}, {0x01, 0x81, 0, 0, 0, 0, '{'}} {
		made := f.create(t, sessions.Text)
		conn := f.openAndIgnore(t, made.ChatURL)
		if _, err := conn.Write(part); err != nil {
			t.Fatal(err)
		}
		f.awaitSession(t, made.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
	}
}

// TestTooManySockets opens as many sockets as a server, or a tenant, may have.
func TestTooManySockets(t *testing.T) {
	t.Parallel()
	rows := []struct {
		limits realtime.Limits
		status int
	}{
		{realtime.Limits{MaxSockets: 1, MaxSocketsPerTenant: 5}, http.StatusServiceUnavailable},
		{realtime.Limits{MaxSockets: 5, MaxSocketsPerTenant: 1}, http.StatusTooManyRequests},
	}
	for _, row := range rows {
		t.Run(http.StatusText(row.status), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, agents.Config{}, row.limits)
			first, second := f.create(t, sessions.Text), f.create(t, sessions.Text)
			c := f.dial(t, first.ChatURL)
			c.want("session.created")
			if resp := f.get(t, http.MethodGet, f.url(second.ChatURL), upgrade()); resp.StatusCode != row.status ||
				resp.Header.Get("Retry-After") == "" {
				t.Errorf("one too many: %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
			}
			_ = c.conn.CloseNow()
			f.awaitSession(t, first.Session.ID, "the drop", func(s sessions.Session) bool { return !s.DroppedAt.IsZero() })
			deadline := time.Now().Add(patience)
			for f.get(t, http.MethodGet, f.url(second.ChatURL), upgrade()).StatusCode != http.StatusSwitchingProtocols {
				if time.Now().After(deadline) {
					t.Fatal("the place was not given back")
				}
			}
		})
	}
}

// openAndIgnore opens a socket without a library, and reads nothing from it.
func (f *fixture) openAndIgnore(t *testing.T, published string) net.Conn {
	t.Helper()
	target, err := url.Parse(f.url(published))
	if err != nil {
		t.Fatal(err)
	}
	dialling, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(dialling, "tcp", target.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	request := "GET " + target.RequestURI() + " HTTP/1.1\r\nHost: " + target.Host +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	return conn
}
