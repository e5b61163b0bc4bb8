//go:build pooled

package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pooler"
)

// TestPooled: what needs a session is refused behind a pooler that keeps none, also while others
// use it, and works when there is a way around.
func TestPooled(t *testing.T) {
	t.Parallel()
	for mode, keeps := range map[pooler.Mode]bool{pooler.Transaction: false, pooler.Statement: false, pooler.Session: true} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			direct := newURL(t)
			pooled := pooler.Start(t, direct, mode)
			db, err := postgres.Open(t.Context(), postgres.Config{URL: pooled, MaxConns: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if mode == pooler.Transaction {
				defer makeBusy(t, db)()
			}
			if err := db.CheckSessions(t.Context()); errors.Is(err, postgres.ErrPooled) == keeps || keeps && err != nil {
				t.Errorf("CheckSessions: %v", err)
			}
			around, err := postgres.Open(t.Context(), postgres.Config{URL: pooled, DirectURL: direct})
			if err != nil {
				t.Fatal(err)
			}
			defer around.Close()
			if err := around.CheckSessions(t.Context()); err != nil {
				t.Errorf("with a direct URL: %v", err)
			}
		})
	}
}

// makeBusy has statements run all the time until the returned function is called.
func makeBusy(t *testing.T, db *postgres.DB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() {
			for ctx.Err() == nil {
				_, _ = db.ExecContext(ctx, "SELECT pg_sleep(0.001)") // ends with ctx
			}
		})
	}
	return func() { cancel(); busy.Wait() }
}

// TestMigratePooled: two migrations at once would not exclude each other.
func TestMigratePooled(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"0001_create_one.tx.up.sql": {Data: []byte("CREATE TABLE one ()")}}
	direct := newURL(t)
	if err := postgres.Migrate(t.Context(), pooler.Start(t, direct, pooler.Transaction), files); !errors.Is(err, postgres.ErrPooled) {
		t.Errorf("through a pooler: %v", err)
	}
	if err := postgres.Migrate(t.Context(), direct, files); err != nil {
		t.Errorf("directly: %v", err)
	}
}
