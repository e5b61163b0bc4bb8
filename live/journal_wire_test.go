package live_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
)

// wire is a connection to Postgres that a test can break (connections are refused) or silence.
type wire struct {
	address string
	target  string
	running sync.WaitGroup

	mu   sync.Mutex
	cut  bool
	held chan struct{} // closed: bytes pass
	// losing, when set, is a text of the next query whose reply is dropped, together with its
	// connection.
	losing string
	lost   map[net.Conn]bool
	conns  map[net.Conn]bool
}

func newWire(t *testing.T, socket string) *wire {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{
		address: listener.Addr().String(), target: socket, conns: map[net.Conn]bool{}, lost: map[net.Conn]bool{},
		held: make(chan struct{}),
	}
	close(w.held)
	w.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.running.Go(func() { w.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.mend()
		w.sever()
		w.running.Wait()
	})
	return w
}

func (w *wire) serve(caller net.Conn) {
	defer func() { _ = caller.Close() }()
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return
	}
	target, err := (&net.Dialer{}).DialContext(context.Background(), "unix", w.target)
	if err != nil {
		w.mu.Unlock()
		return
	}
	w.conns[caller], w.conns[target] = true, true
	w.mu.Unlock()
	defer func() { _ = target.Close() }()
	var there sync.WaitGroup
	there.Go(func() { w.pass(target, caller) })
	w.pass(caller, target)
	there.Wait()
}

func (w *wire) pass(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		<-held
		if w.loses(to, from, buffer[:n]) {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// lose drops Postgres' reply to the next query that contains words.
func (w *wire) lose(words string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losing = words
}

// loses reports whether data is a reply to drop. The whole reply is dropped, so that the query is
// carried out.
func (w *wire) loses(to, from net.Conn, data []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.losing != "" && bytes.Contains(data, []byte(w.losing)) {
		w.lost[to], w.losing = true, ""
	}
	if !w.lost[from] {
		return false
	}
	for !bytes.HasSuffix(data, []byte("Z\x00\x00\x00\x05I")) { // ready for the next query
		next := make([]byte, 32<<10)
		n, err := from.Read(next)
		if data = append(bytes.Clone(data), next[:n]...); err != nil {
			break
		}
	}
	return true
}

// sever breaks all connections.
func (w *wire) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.conns {
		_ = conn.Close()
		delete(w.conns, conn)
	}
}

// down refuses and breaks connections until mend.
func (w *wire) down() {
	w.mu.Lock()
	w.cut = true
	w.mu.Unlock()
	w.sever()
}

// hold drops every byte until mend.
func (w *wire) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = make(chan struct{})
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = false
	select {
	case <-w.held:
	default:
		close(w.held)
	}
}
