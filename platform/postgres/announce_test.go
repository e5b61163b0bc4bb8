package postgres_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

// TestAnnounce: what a process says is known to the others while it listens, and gone with it.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	url := newURL(t)
	theirs, mine := open(t, url), open(t, url)
	theirs.Announce("has a", "has b")
	ctx, stop := context.WithCancel(t.Context())
	listening, ended := make(chan struct{}), make(chan struct{})
	go func() {
		_ = theirs.Listen(ctx, "any", func(string) { close(listening) })
		close(ended)
	}()
	<-listening
	processes, err := mine.Processes(t.Context())
	if err != nil || len(processes) != 1 {
		t.Fatalf("%v, %v", processes, err)
	}
	if p := processes[0]; !p.HasAnnounced("has a") || !p.HasAnnounced("has b") || p.HasAnnounced("has c") || p.Backend == 0 || p.Address == "" || p.Since.IsZero() {
		t.Errorf("%+v", p)
	}
	stop()
	<-ended
	for {
		processes, err := mine.Processes(t.Context())
		if err != nil {
			t.Fatal(err) // also when Postgres never notices
		}
		if len(processes) == 0 {
			return
		}
	}
}

// TestLockIdle: whoever holds a lock and says no more, being stopped, does not hold up the others.
func TestLockIdle(t *testing.T) {
	t.Parallel()
	db := open(t, newURL(t))
	setting := func(db bun.IDB) (value string) {
		if err := db.NewRaw("SHOW idle_in_transaction_session_timeout").Scan(t.Context(), &value); err != nil {
			t.Error(err)
		}
		return value
	}
	err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
		if err := postgres.LockTx(ctx, tx, "relay"); err != nil {
			return err
		}
		if got := setting(tx); got != "15s" {
			t.Errorf("a transaction with a lock may be idle for %s, want 15s", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got := setting(db); got != "0" {
		t.Errorf("after the transaction: %s, want it as it was", got)
	}
}
