// Package quicknet reads and writes connections without letting Go's scheduler know.
//
// Whoever calls the kernel through package syscall tells the scheduler first, in case the call should take long. Where a
// process rests between small pieces of work, as one does that passes a model's words on, the first call after each rest
// wakes the runtime's monitor (sysmon), which then looks after it every 20 µs until the process rests again. The
// monitor took 14 % of a server's CPU that way, and two thirds of its context switches. Reads and writes of sockets
// never wait, because sockets are non-blocking: here they are made without a word.
package quicknet

import (
	"context"
	"net"
)

// Dial is how a connection is made.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Quick is the same, and has the connection wrapped.
func (d Dial) Quick(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return Wrap(conn), nil
}
