package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// unixScheme begins addresses of Unix sockets: unix:///run/parlance.sock.
	unixScheme = "unix://"
	// writeStall is how long a caller may read nothing of what is written to it.
	writeStall = 30 * time.Second
)

// Listen listens on an address: host:port, or unix:///path for a socket that a proxy on this
// machine uses with the rights of its group. A socket that no process listens on is replaced.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, unixScheme)
	if !isUnix {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return stallListener{listener, writeStall}, nil
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return stallListener{listener, writeStall}, nil
}

// removeStale removes a socket that a dead process has left.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close() // a process listens
		return fmt.Errorf("%s: %w", path, syscall.EADDRINUSE)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// WithTLS serves TLS 1.2 or newer on a listener, with HTTP/2 for gRPC.
func WithTLS(listener net.Listener, certificate *Certificate) net.Listener {
	return tls.NewListener(listener, &tls.Config{
		GetCertificate: certificate.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	})
}

// stallListener makes connections whose writes fail when the other side reads nothing for a while.
// An answer may take as long as it needs, but not because nobody reads it.
type stallListener struct {
	net.Listener
	within time.Duration
}

// Accept implements net.Listener.
func (l stallListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stallConn{Conn: conn, within: l.within}, nil
}

// maxStallPiece is the most bytes that must be written within stallConn.within.
const maxStallPiece = 256 << 10

// stallConn sets a write deadline for each write, unless the user of the connection has set one, as
// HTTP/2 and WebSockets do.
type stallConn struct {
	net.Conn
	within time.Duration
	// hasDeadline is set while a write deadline of the connection's user is in force.
	hasDeadline atomic.Bool
}

// Write implements net.Conn. A large write is split, and each piece has the whole time.
func (c *stallConn) Write(p []byte) (written int, err error) {
	for piece := range slices.Chunk(p, maxStallPiece) {
		if !c.hasDeadline.Load() {
			if err := c.Conn.SetWriteDeadline(time.Now().Add(c.within)); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(piece)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// SetDeadline implements net.Conn.
func (c *stallConn) SetDeadline(t time.Time) error {
	c.hasDeadline.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *stallConn) SetWriteDeadline(t time.Time) error {
	c.hasDeadline.Store(!t.IsZero())
	return c.Conn.SetWriteDeadline(t)
}
