package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteStall: a peer that takes nothing ends the connection, one that is slow does not.
func TestWriteStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, stalls)
}

// stalls runs in a bubble, whose time passes only while everybody waits: a busy machine is not a slow peer.
func stalls(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	conn := &stallConn{Conn: ours, within: 500 * time.Millisecond, accepted: time.Now()}
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

// TestWriteStallLater: a deadline that was set for an earlier write gives a later one its whole time, and one that
// others set does not stand in the way.
func TestWriteStallLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const within = 8 * time.Second
		ours, theirs := net.Pipe()
		defer ours.Close()
		defer theirs.Close()
		conn := &stallConn{Conn: ours, within: within, accepted: time.Now()}
		take := func(after time.Duration) {
			time.Sleep(after)
			if _, err := theirs.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}
		for _, rest := range []time.Duration{0, time.Second / 2, time.Second - time.Nanosecond, time.Second, 2 * time.Second, time.Hour} {
			for _, after := range []time.Duration{0, within - time.Nanosecond} {
				go take(after)
				if _, err := conn.Write([]byte{1}); err != nil {
					t.Errorf("behind %s: %v", rest, err)
				}
				time.Sleep(rest)
			}
		}
		for _, set := range []func(time.Time) error{conn.SetDeadline, conn.SetWriteDeadline} {
			if err := set(time.Now().Add(-time.Second)); err != nil {
				t.Fatal(err)
			}
			go take(0)
			if _, err := conn.Write([]byte{1}); err != nil {
				t.Errorf("behind another's deadline: %v", err)
			}
		}
		begun := time.Now()
		if _, err := conn.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("no reader: %v", err)
		}
		if took := time.Since(begun); took < within || took > within+within/sparedShare {
			t.Errorf("no reader was noticed after %s", took)
		}
	})
}
