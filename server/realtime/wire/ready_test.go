package wire_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/server/realtime/wire"
)

// TestReady: a message that came along with the one before is ready, a part of one is not.
func TestReady(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(handshake)))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long", 40)
	third := frame(0x81, "three")
	go func() {
		_, _ = bufio.NewReader(client).ReadString('Z')
	}()
	go func() { // the pipe takes no write that nobody reads
		_, _ = client.Write(slicesOf(frame(0x81, "one"), frame(0x81, long), third[:3]))
		_, _ = client.Write(slicesOf(third[3:], frame(0x89, "ping")))
	}()
	c, err := wire.Accept(&hijacked{ResponseRecorder: httptest.NewRecorder(), conn: server}, r, nil, limits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseNow)
	if c.Ready() {
		t.Error("something is ready before anything came")
	}
	for i, want := range []string{"one", long, "three"} {
		m, err := c.Read()
		if err != nil || string(m.Data) != want {
			t.Fatalf("message %d: %q, %v", i, m.Data, err)
		}
		if got, ready := c.Ready(), i == 0; got != ready {
			t.Errorf("behind message %d: ready %t, want %t", i, got, ready)
		}
	}
}
