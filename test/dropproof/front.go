package main

import (
	"io"
	"net"
	"sync"
	"time"
)

// front is the load balancer. It forwards each connection to the preferred server, or to another
// one that answers, and can cut all connections.
type front struct {
	address  string
	listener net.Listener

	mu        sync.Mutex
	nodes     []string
	preferred int
	// down refuses connections.
	down bool
	// reached is the server that the last connection went to.
	reached int
	conns   map[net.Conn]bool
}

func newFront() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{address: listener.Addr().String(), listener: listener, conns: map[net.Conn]bool{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the program ends
			}
			go f.serve(conn)
		}
	}()
	return f, nil
}

func (f *front) leadTo(nodes ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = nodes
}

func (f *front) prefer(node int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.preferred = node
}

// refuse refuses connections until accept is called.
func (f *front) refuse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
}

func (f *front) accept() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = false
}

// cut resets every connection, as a failing network does.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it this would be an orderly end
		}
		_ = conn.Close() // the point of it
	}
}

// node is where the last connection went.
func (f *front) node() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reached
}

// dial reaches a server; nil when none answers.
func (f *front) dial() net.Conn {
	f.mu.Lock()
	nodes, first, down := f.nodes, f.preferred, f.down
	f.mu.Unlock()
	for i := range nodes {
		at := (first + i) % len(nodes)
		conn, err := net.DialTimeout("tcp", nodes[at], time.Second)
		if down || err != nil {
			continue
		}
		f.mu.Lock()
		f.reached = at
		f.mu.Unlock()
		return conn
	}
	return nil
}

func (f *front) serve(caller net.Conn) {
	defer func() { _ = caller.Close() }() // the other side has gone
	server := f.dial()
	if server == nil {
		return
	}
	defer func() { _ = server.Close() }() // as above
	f.hold(true, caller, server)
	defer f.hold(false, caller, server)
	var there sync.WaitGroup
	there.Go(func() { pass(server, caller) })
	pass(caller, server)
	there.Wait()
}

// pass copies until either side ends, and ends both.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close() // it is over either way
	_ = from.Close()
}

func (f *front) hold(held bool, conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		if held {
			f.conns[conn] = true
		} else {
			delete(f.conns, conn)
		}
	}
}
