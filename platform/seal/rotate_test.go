package seal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/sealtest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := f.ring(t, sealtest.Key("a")).Check(t.Context()); err != nil {
		t.Fatalf("an empty database: %v", err)
	}
	if err := f.ring(t, sealtest.Key("a")).Check(t.Context()); err != nil {
		t.Errorf("the same key again: %v", err)
	}
	wrong := f.ring(t, sealtest.Key("b")).Check(t.Context())
	if !errors.Is(wrong, seal.ErrUnknownKey) || !strings.Contains(wrong.Error(), masters(t, sealtest.Key("a"))[0].ID()) {
		t.Errorf("another key: %v", wrong)
	}
	if err := f.ring(t, sealtest.Key("b"), sealtest.Key("a")).Check(t.Context()); err != nil {
		t.Errorf("another key with the old one behind it: %v", err)
	}
	if _, err := f.db.ExecContext(t.Context(), "UPDATE data_keys SET wrapped = set_byte(wrapped, 20, 0) || '\\x00'"); err != nil {
		t.Fatal(err)
	}
	if err := f.ring(t, sealtest.Key("a")).Check(t.Context()); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("a data key that was changed: %v", err)
	}
}

// TestRotateMaster moves every data key to a new master key while processes seal and open.
func TestRotateMaster(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := sealtest.Key("a"), sealtest.Key("b")
	before := f.ring(t, a)
	type kept struct {
		at   seal.Binding
		blob []byte
	}
	var stored []kept
	for i := range 25 {
		at := seal.Binding{TenantID: f.tenant(t, fmt.Sprintf("ten_%d", i)), Record: "r", Field: "f"}
		stored = append(stored, kept{at, sealed(t, before, at.TenantID, at)})
	}
	during := f.ring(t, b, a)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for worker := range 3 {
		load.Go(func() {
			for i := worker; ctx.Err() == nil; i++ {
				f.pass(6 * time.Minute) // nothing is remembered: each read is of the row as it is now
				one := stored[i%len(stored)]
				opens(t, "under way", during, one.blob, one.at, one.at.TenantID)
				opens(t, "sealed under way", during, sealed(t, during, "new", one.at), one.at, "new")
			}
		})
	}
	// The first run is cut off after seven keys; the second goes on where it was.
	cut, cancel := context.WithCancel(t.Context())
	err := during.RotateMaster(cut, func(done int) {
		if done == 7 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was cut off: %v", err)
	}
	if n := f.count(t, "master_key_id <> '"+before.Masters()[0]+"' AND retired_at IS NULL"); n < 7 || n > 24 {
		t.Errorf("%d keys are wrapped anew after the cut", n)
	}
	if err := during.RotateMaster(t.Context(), func(int) {}); err != nil {
		t.Error(err)
	}
	stop()
	load.Wait()
	after := f.ring(t, b)
	if err := after.Check(t.Context()); err != nil {
		t.Errorf("the new key alone: %v", err)
	}
	for _, one := range stored {
		opens(t, "afterwards", after, one.blob, one.at, one.at.TenantID)
	}
	if err := f.ring(t, a).Check(t.Context()); !errors.Is(err, seal.ErrUnknownKey) {
		t.Errorf("the old key alone: %v", err)
	}
}

// TestRotateGoesOnPastOne has a data key that no master key unwraps.
func TestRotateGoesOnPastOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := sealtest.Key("a"), sealtest.Key("b")
	one, two := seal.Binding{TenantID: f.tenant(t, "ten_1")}, seal.Binding{TenantID: f.tenant(t, "ten_2")}
	sealed(t, f.ring(t, a), "lost", one)
	blob := sealed(t, f.ring(t, a), "kept", two)
	if _, err := f.db.ExecContext(t.Context(), "UPDATE data_keys SET wrapped = wrapped || '\\x00' WHERE tenant_id = 'ten_1'"); err != nil {
		t.Fatal(err)
	}
	if err := f.ring(t, b, a).RotateMaster(t.Context(), func(int) {}); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("got %v, want %v", err, seal.ErrOpen)
	}
	opens(t, "the other", f.ring(t, b), blob, two, "kept")
}
