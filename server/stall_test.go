package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/server/realtime/websocket"
)

// TestWriteStall: a peer that takes nothing ends the connection, one that is slow does not.
func TestWriteStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, stalls)
}

// stalls runs in a bubble, whose time passes only while everybody waits: a busy machine is not a
// slow peer.
func stalls(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	conn := &stallConn{Conn: ours, within: 500 * time.Millisecond}
	const pieces = 8
	done := make(chan error, 1)
	go func() {
		_, err := conn.Write(make([]byte, pieces*256<<10))
		done <- err
	}()
	buffer := make([]byte, 256<<10)
	for range pieces { // in all longer than one piece may take
		time.Sleep(400 * time.Millisecond) // of the bubble
		for read := 0; read < len(buffer); {
			n, err := theirs.Read(buffer[read:])
			if err != nil {
				t.Fatal(err)
			}
			read += n
		}
	}
	if err := <-done; err != nil {
		t.Errorf("a slow reader: %v", err)
	}
	if _, err := conn.Write([]byte("nobody reads this")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("no reader: %v", err)
	}
}

// TestWriteStallLater: each write has the whole time, whatever time has passed since the last one.
// A deadline of the connection's user holds until the user removes it.
func TestWriteStallLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const within = 8 * time.Second
		ours, theirs := net.Pipe()
		defer ours.Close()
		defer theirs.Close()
		conn := &stallConn{Conn: ours, within: within}
		take := func(after time.Duration) {
			time.Sleep(after) // of the bubble
			if _, err := theirs.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}
		for _, rest := range []time.Duration{0, time.Second, within, time.Hour} {
			for _, after := range []time.Duration{0, within - time.Nanosecond} {
				go take(after)
				if _, err := conn.Write([]byte{1}); err != nil {
					t.Errorf("behind %s: %v", rest, err)
				}
				time.Sleep(rest) // of the bubble
			}
		}
		failsAfter := func(want time.Duration) {
			begun := time.Now()
			if _, err := conn.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("no reader: %v", err)
			}
			if took := time.Since(begun); took != want {
				t.Errorf("no reader was noticed after %s, want %s", took, want)
			}
		}
		failsAfter(within)
		for _, set := range []func(time.Time) error{conn.SetDeadline, conn.SetWriteDeadline} {
			for _, deadline := range []time.Duration{time.Second, 3 * within} {
				if err := set(time.Now().Add(deadline)); err != nil {
					t.Fatal(err)
				}
				failsAfter(deadline)
			}
			if err := set(time.Time{}); err != nil {
				t.Fatal(err)
			}
			failsAfter(within)
		}
	})
}

// TestSocketsAreLeft: a WebSocket has its own time for what it writes, also over TLS.
func TestSocketsAreLeft(t *testing.T) {
	t.Parallel()
	secured := httptest.NewTLSServer(nil)
	defer secured.Close()
	plain := func(c net.Conn) net.Conn { return c }
	serverTLS := &tls.Config{Certificates: secured.TLS.Certificates, MinVersion: tls.VersionTLS12}
	clientTLS := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	for name, wrap := range map[string]struct{ server, client func(net.Conn) net.Conn }{
		"Plain": {plain, plain},
		"TLS":   {func(c net.Conn) net.Conn { return tls.Server(c, serverTLS) }, func(c net.Conn) net.Conn { return tls.Client(c, clientTLS) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { leaves(t, wrap.server, wrap.client) })
		})
	}
}

// leaves runs in a bubble: a client of a WebSocket takes nothing for longer than a caller may, and
// all then.
func leaves(t *testing.T, serverSide, clientSide func(net.Conn) net.Conn) {
	const within = 10 * time.Second
	ours, theirs := net.Pipe()
	written := make(chan error, 1)
	served := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, "", websocket.Limits{
			MaxMessageBytes: 1 << 10, ReadTimeout: time.Minute, WriteTimeout: 6 * within,
		})
		if err != nil {
			written <- err
			return
		}
		defer socket.CloseNow()
		written <- socket.Write([][]byte{make([]byte, 1<<10)})
	})}
	accepted := make(chan net.Conn, 1)
	accepted <- serverSide(&stallConn{Conn: ours, within: within})
	go func() { _ = served.Serve(oneConn{accepted, ours.LocalAddr()}) }() // ends with the test
	client := clientSide(theirs)
	go func() {
		_, _ = client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")) // an answer tells
	}()
	reader := bufio.NewReader(client)
	if answer, err := http.ReadResponse(reader, nil); err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%+v %v", answer, err)
	}
	time.Sleep(3 * within) // of the bubble
	_, _ = reader.Discard(1 << 10)
	if err := <-written; err != nil {
		t.Errorf("a WebSocket was cut off after what others have: %v", err)
	}
	_ = theirs.Close()
	close(accepted)
}

// oneConn listens for what is in the channel.
type oneConn struct {
	conns   <-chan net.Conn
	address net.Addr
}

func (l oneConn) Accept() (net.Conn, error) {
	if conn, more := <-l.conns; more {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (l oneConn) Close() error   { return nil }
func (l oneConn) Addr() net.Addr { return l.address }
