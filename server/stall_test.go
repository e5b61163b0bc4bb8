package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestWriteStall: a peer that takes nothing ends the connection, one that is slow does not.
func TestWriteStall(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	conn := stallConn{ours, 500 * time.Millisecond}
	const pieces = 8
	done := make(chan error, 1)
	go func() {
		_, err := conn.Write(make([]byte, pieces*256<<10))
		done <- err
	}()
	buffer := make([]byte, 256<<10)
	for range pieces { // in all longer than one piece may take
		timer := time.NewTimer(100 * time.Millisecond)
		<-timer.C
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
