package quicknet_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/nettest"

	"parlance.dev/parlance/platform/quicknet"
)

// pair are the two ends of a connection, both wrapped.
func pair(t testing.TB, network string) (one, other net.Conn) {
	t.Helper()
	one, other = plainPair(t, network)
	return quicknet.Wrap(one), quicknet.Wrap(other)
}

func plainPair(t testing.TB, network string) (one, other net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	one, err = new(net.Dialer).DialContext(t.Context(), network, listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = one.Close(), other.Close() })
	return one, other
}

// TestConn holds connections to what Go's own suite asks of every one.
func TestConn(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			nettest.TestConn(t, func() (one, other net.Conn, stop func(), err error) {
				one, other = pair(t, network)
				return one, other, func() { _, _ = one.Close(), other.Close() }, nil
			})
		})
	}
}

// TestWritesStayWhole has many write at once what does not fit the socket: each arrives whole, and in one piece.
func TestWritesStayWhole(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 200
	one, other := pair(t, "tcp")
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			block := bytes.Repeat([]byte{byte('a' + w)}, 16<<10-w)
			for range each {
				if n, err := one.Write(block); n != len(block) || err != nil {
					t.Errorf("wrote %d: %v", n, err)
				}
			}
		})
	}
	go func() { writing.Wait(); _ = one.Close() }()
	count := [writers]int{}
	first := make([]byte, 1)
	for {
		_, err := io.ReadFull(other, first)
		if errors.Is(err, io.EOF) {
			break
		}
		w := int(first[0] - 'a')
		rest := make([]byte, 16<<10-w-1)
		if _, err := io.ReadFull(other, rest); err != nil || len(bytes.Trim(rest, string(first))) > 0 {
			t.Fatal("a block was mixed with another", err)
		}
		count[w]++
	}
	for w, n := range count {
		if n != each {
			t.Errorf("%d blocks of writer %d came, want %d", n, w, each)
		}
	}
}

// TestErrors are told as package net tells them: what others look for in them is there.
func TestErrors(t *testing.T) {
	t.Parallel()
	var told *net.OpError
	check := func(what, op string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || !errors.As(err, &told) || told.Op != op || told.Addr == nil {
			t.Errorf("%s: %v, want %v of a %s", what, err, want, op)
		}
	}
	p := make([]byte, 100)

	one, other := pair(t, "tcp")
	_ = one.SetReadDeadline(time.Now().Add(-time.Second))
	_, err := one.Read(p)
	check("a read past its deadline", "read", err, os.ErrDeadlineExceeded)
	_ = one.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	for err = nil; err == nil; { // until the socket is full
		_, err = one.Write(make([]byte, 16<<10))
	}
	check("a write that nobody reads", "write", err, os.ErrDeadlineExceeded)

	// Bytes that were not read when a connection is closed make that a reset.
	_ = other.Close()
	_ = one.SetDeadline(time.Time{})
	_, err = one.Read(p)
	check("a read of a reset connection", "read", err, syscall.ECONNRESET)
	_, err = one.Write(p)
	check("a write to it", "write", err, syscall.EPIPE)

	one, other = pair(t, "unix")
	_ = other.Close()
	if n, err := one.Read(p); n != 0 || err != io.EOF { //nolint:errorlint // readers compare it
		t.Errorf("a read of a connection that ended: %d, %v", n, err)
	}
	_ = one.Close()
	_, err = one.Read(p)
	check("a read of a closed connection", "read", err, net.ErrClosed)
	_, err = one.Write(p)
	check("a write to it", "write", err, net.ErrClosed)
}

// TestOthersStay has connections that are not the kernel's, and none, returned as they are.
func TestOthersStay(t *testing.T) {
	t.Parallel()
	one, other := net.Pipe()
	defer func() { _, _ = one.Close(), other.Close() }()
	if quicknet.Wrap(one) != one {
		t.Error("a pipe was wrapped")
	}
	refused := errors.New("refused")
	dial := quicknet.Dial(func(context.Context, string, string) (net.Conn, error) { return nil, refused })
	if conn, err := dial.Quick(t.Context(), "tcp", ""); conn != nil || !errors.Is(err, refused) {
		t.Error(conn, err)
	}
}

// TestNoMemory reads and writes without taking memory for it.
func TestNoMemory(t *testing.T) {
	one, other := pair(t, "tcp")
	p := make([]byte, 100)
	took := testing.AllocsPerRun(1000, func() {
		if _, err := one.Write(p); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(other, p); err != nil {
			t.Fatal(err)
		}
	})
	if took != 0 {
		t.Errorf("%v allocations for a write and a read", took)
	}
}

// TestOrder: what was done before a write is seen after its read, whichever end is quick. It is the race detector that
// would not agree.
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]struct{ writer, reader func(net.Conn) net.Conn }{
		"QuickToPlain": {quicknet.Wrap, func(c net.Conn) net.Conn { return c }},
		"PlainToQuick": {func(c net.Conn) net.Conn { return c }, quicknet.Wrap},
		"QuickToQuick": {quicknet.Wrap, quicknet.Wrap},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := plainPair(t, "tcp")
			done := false
			go func() {
				done = true
				_, _ = wrap.writer(one).Write([]byte("x")) // else nothing can be read
			}()
			if _, err := wrap.reader(other).Read(make([]byte, 1)); err != nil || !done {
				t.Errorf("%v, done %v", err, done)
			}
		})
	}
}
