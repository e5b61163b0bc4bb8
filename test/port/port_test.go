package port_test

import (
	"net"
	"runtime"
	"slices"
	"testing"

	"parlance.dev/parlance/test/port"
)

// TestReserve: who asks for the address gets it, again and again; who asks for any gets another.
func TestReserve(t *testing.T) {
	t.Parallel()
	var reserved []string
	for range 50 {
		address := port.Reserve(t)
		if slices.Contains(reserved, address) {
			t.Errorf("%s is reserved twice", address)
		}
		reserved = append(reserved, address)
	}
	for range 2 {
		for _, address := range reserved {
			if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
				_ = conn.Close()
				t.Errorf("somebody listens on %s", address)
			}
			listen(t, address)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	// More than there are ports of the kernel's choice would say more, and take them from everybody.
	for range 2000 {
		if got := listen(t, "127.0.0.1:0"); slices.Contains(reserved, got) {
			t.Errorf("%s was given to somebody else", got)
		}
	}
}

// listen listens for a moment and returns where.
func listen(t *testing.T, address string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close() // nobody came
	return listener.Addr().String()
}
