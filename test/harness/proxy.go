package harness

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// dialTimeout bounds reaching a target, all of which are on this machine.
const dialTimeout = 2 * time.Second

// Target is an address behind a Proxy: Network "tcp" or "unix".
type Target struct {
	Network, Address string
	// DialFunc connects to the address if net.Dial cannot, as into another network namespace.
	DialFunc func(ctx context.Context, network, address string) (net.Conn, error)
}

// Proxy forwards connections to its targets in turn, and to the next one when a target refuses. It
// stands for a load balancer, and for a network that can be cut.
type Proxy struct {
	// Address is host:port on loopback.
	Address string

	listener net.Listener
	targets  []Target
	running  sync.WaitGroup

	mu    sync.Mutex
	next  int
	down  bool
	conns map[net.Conn]struct{}
}

// NewProxy starts a proxy that ends with the test.
func NewProxy(t testing.TB, targets ...Target) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return NewProxyAt(t, listener, targets...)
}

// NewProxyAt is NewProxy on a listener, which the proxy closes.
func NewProxyAt(t testing.TB, listener net.Listener, targets ...Target) *Proxy {
	t.Helper()
	p := &Proxy{Address: listener.Addr().String(), listener: listener, targets: targets, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Cut resets every connection; new ones are forwarded as before.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it this would be an orderly end
		}
		_ = conn.Close() // the point of it
	}
}

// Down resets every connection, and closes new ones at once, until Up.
func (p *Proxy) Down() {
	p.setDown(true)
	p.Cut()
}

// Up forwards new connections again.
func (p *Proxy) Up() { p.setDown(false) }

func (p *Proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(conn) })
	}
}

// serve forwards one connection until either end closes it.
func (p *Proxy) serve(caller net.Conn) {
	defer func() { _ = caller.Close() }() // the other way has gone
	target := p.dial()
	if target == nil {
		return
	}
	defer func() { _ = target.Close() }() // as above
	defer p.forget(caller, target)
	if !p.hold(caller, target) {
		return
	}
	var there sync.WaitGroup
	there.Go(func() { pass(target, caller) })
	pass(caller, target)
	there.Wait()
}

// pass copies to the end and forwards the end.
func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err != nil || !ok || half.CloseWrite() != nil {
		_ = to.Close() // broken either way
		_ = from.Close()
	}
}

// dial connects to the next target that answers; nil if none does.
func (p *Proxy) dial() net.Conn {
	p.mu.Lock()
	first := p.next
	p.next++
	down := p.down
	p.mu.Unlock()
	for i := range p.targets {
		if down {
			return nil
		}
		at := p.targets[(first+i)%len(p.targets)]
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		dial := at.DialFunc
		if dial == nil {
			dial = new(net.Dialer).DialContext
		}
		conn, err := dial(ctx, at.Network, at.Address)
		cancel()
		if err == nil {
			return conn
		}
	}
	return nil
}

// hold registers a pair for Cut; it reports false if the network went down meanwhile.
func (p *Proxy) hold(pair ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range pair {
		p.conns[conn] = struct{}{}
	}
	return !p.down
}

func (p *Proxy) forget(pair ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range pair {
		delete(p.conns, conn)
	}
}
