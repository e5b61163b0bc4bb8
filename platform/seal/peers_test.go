package seal_test

import (
	"context"
	"testing"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
)

// TestLacking changes the master key while a process runs that does not have the new one.
func TestLacking(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t).URL
	// process runs, listening, until the returned function is called.
	process := func(keys string) (*seal.Keyring, func()) {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		ring, err := seal.New(seal.Deps{DB: db, Masters: masters(t, keys)})
		if err != nil {
			t.Fatal(err)
		}
		ring.Announce()
		ctx, cancel := context.WithCancel(t.Context())
		listening, ended := make(chan struct{}), make(chan struct{})
		go func() {
			_ = db.Listen(ctx, "any", func(string) { close(listening) })
			close(ended)
		}()
		<-listening
		stop := func() { cancel(); <-ended; _ = db.Close() }
		t.Cleanup(stop)
		return ring, stop
	}
	a, b := sealtest.Key("a"), sealtest.Key("b")
	old, stopOld := process(a)
	both, _ := process(b + a)
	lacking, err := both.Lacking(t.Context())
	if err != nil || len(lacking) != 1 {
		t.Fatalf("lacking the new key: %v, %v; want the old process", lacking, err)
	}
	// While it runs nothing is wrapped with the key it does not have.
	opens(t, "the old process", old, sealed(t, both, "early", place), place, "early")
	stopOld()
	for len(lacking) > 0 {
		if lacking, err = both.Lacking(t.Context()); err != nil {
			t.Fatal(err) // also when Postgres never notices
		}
	}
	if err := both.RotateDataKey(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	wrapped, err := both.Wrapped(t.Context())
	if err != nil || wrapped[both.Masters()[0]] != 1 {
		t.Errorf("wrapped: %v, %v; want the new data key under the new master key", wrapped, err)
	}
}
