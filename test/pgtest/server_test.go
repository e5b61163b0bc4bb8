package pgtest_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parlance.dev/parlance/test/pgtest"
)

// TestServer kills a server in both ways: what was committed is there when it is back.
func TestServer(t *testing.T) {
	t.Parallel()
	s := pgtest.NewServer(t)
	for i, end := range []func(){s.Kill, s.Stop} {
		conn, err := pgx.Connect(t.Context(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "INSERT INTO tenants VALUES ('ten_'||$1::int, 'a', 'free', now(), now())", i); err != nil {
			t.Fatal(err)
		}
		end()
		// A killed server's children notice by themselves, soon.
		noticed, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		for conn.Ping(noticed) == nil {
			runtime.Gosched()
		}
		if noticed.Err() != nil {
			t.Error("the connection is alive after the end")
		}
		cancel()
		_ = conn.Close(t.Context()) // it is broken
		s.Start()
	}
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // only read
	var n int
	var synced string
	if err := conn.QueryRow(t.Context(), "SELECT count(*), current_setting('fsync') FROM tenants").Scan(&n,
		&synced); err != nil || n != 2 || synced != "on" {
		t.Errorf("%d rows, fsync %s, %v", n, synced, err)
	}
}
