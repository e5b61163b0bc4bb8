package quicknet

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// longest is up to how many bytes are read or written at once without the scheduler's knowing: more are copied for so
// long that others should go on meanwhile.
const longest = 16 << 10

// Wrap makes a TCP or a Unix connection quick. Others are returned as they are; those of TLS gain by what is below them.
// What it returns behaves as a net.Conn has to, and has SyscallConn, but no other methods of what it wraps.
func Wrap(c net.Conn) net.Conn {
	var below syscall.Conn
	switch c := c.(type) {
	case *net.TCPConn:
		below = c
	case *net.UnixConn:
		below = c
	default:
		return c
	}
	raw, err := below.SyscallConn()
	if err != nil {
		return c
	}
	q := &conn{Conn: c, raw: raw}
	q.reading.try, q.reading.attempt = raw.Read, q.tryRead
	q.writing.try, q.writing.attempt = raw.Write, q.tryWrite
	return q
}

// conn is a connection whose socket does not block.
type conn struct {
	net.Conn
	raw              syscall.RawConn
	reading, writing transfer
}

// transfer is the read or the write that is being made. One at a time: as package net has it.
type transfer struct {
	mu   sync.Mutex
	p    []byte
	done int
	err  error
	// try calls attempt until it is true, and waits in between. Both are kept because making them takes memory.
	try     func(attempt func(fd uintptr) bool) error
	attempt func(fd uintptr) bool
}

// SyscallConn implements syscall.Conn: pools of connections look through it whether the other side has gone.
func (c *conn) SyscallConn() (syscall.RawConn, error) { return c.raw, nil }

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 || len(p) > longest {
		return c.Conn.Read(p)
	}
	n, err := c.reading.run(p)
	switch {
	case err != nil:
		return n, c.fault("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if len(p) == 0 || len(p) > longest {
		return c.Conn.Write(p)
	}
	n, err := c.writing.run(p)
	if err != nil {
		return n, c.fault("write", err)
	}
	return n, nil
}

// run transfers p.
func (t *transfer) run(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p, t.done, t.err = p, 0, nil
	err := t.try(t.attempt)
	t.p = nil
	if err == nil {
		err = t.err
	}
	return t.done, err
}

func (c *conn) tryRead(fd uintptr) (over bool) {
	t := &c.reading
	t.done, over, t.err = call(syscall.SYS_READ, fd, t.p)
	return over
}

func (c *conn) tryWrite(fd uintptr) (over bool) {
	t := &c.writing
	for t.done < len(t.p) {
		n, did, err := call(syscall.SYS_WRITE, fd, t.p[t.done:])
		t.done += n
		if !did || err != nil {
			t.err = err
			return did
		}
	}
	return true
}

// call reads or writes what can be at once; false: nothing could.
func call(number, fd uintptr, p []byte) (n int, did bool, err error) {
	for {
		done, errno := raw(number, fd, p)
		switch errno {
		case 0:
			return done, true, nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, false, nil
		default:
			return 0, true, errno
		}
	}
}

// fault is an error as package net tells it.
func (c *conn) fault(op string, err error) error {
	if told, ok := errors.AsType[*net.OpError](err); ok { // of the wait: past the deadline, closed
		told.Op = op
		return told
	}
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, err)}
}
