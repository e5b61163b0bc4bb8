package websocket_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/server/realtime/websocket"
)

// TestNextIsBuffered: a message that came along with the one before is there, a part of one is not.
func TestNextIsBuffered(t *testing.T) {
	t.Parallel()
	read := make(chan string, 3)
	buffered := make(chan bool, 3)
	rest := make(chan struct{})
	host := serve(t, limits(), func(c *websocket.Conn) {
		for range 3 {
			message, err := c.Read()
			if err != nil {
				t.Error(err)
				return
			}
			read <- string(message.Data)
			buffered <- c.NextIsBuffered()
		}
	})
	client := open(t, host, nil)
	long, third := strings.Repeat("long", 40), frame(0x81, "three")
	if _, err := client.Write(join(frame(0x81, "one"), frame(0x81, long), third[:3])); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-rest
		_, _ = client.Write(third[3:]) // Read reports what fails
	}()
	for i, want := range []string{"one", long, "three"} {
		if got := <-read; got != want {
			t.Fatalf("message %d is %q", i, got)
		}
		if got, whole := <-buffered, i == 0; got != whole {
			t.Errorf("behind message %d: buffered %t, want %t", i, got, whole)
		}
		if i == 1 {
			close(rest)
		}
	}
}
