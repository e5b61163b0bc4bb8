package seal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
)

// place is where most values of these tests belong. The tenant is the installation's own, so that
// no rows of other packages are needed.
var place = seal.Binding{Record: "tools/t1", Field: "auth_header"}

type fixture struct {
	db    *postgres.DB
	clock atomic.Pointer[time.Time]
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t).URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := &fixture{db: db}
	f.clock.Store(new(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)))
	return f
}

// ring is a process with these master keys, the first of which wraps.
func (f *fixture) ring(t testing.TB, keys ...string) *seal.Keyring {
	t.Helper()
	return f.ringOf(t, masters(t, strings.Join(keys, "")))
}

func (f *fixture) ringOf(t testing.TB, keys seal.Masters) *seal.Keyring {
	t.Helper()
	k, err := seal.New(seal.Deps{DB: f.db, Masters: keys, Now: func() time.Time { return *f.clock.Load() }})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (f *fixture) pass(d time.Duration) { f.clock.Store(new(f.clock.Load().Add(d))) }

// tenant makes a row that data keys can belong to.
func (f *fixture) tenant(t *testing.T, id string) string {
	t.Helper()
	_, err := f.db.ExecContext(t.Context(), "INSERT INTO tenants (id, name, plan, created_at, updated_at) VALUES "+
		"(?, 'n', 'free', now(), now())", id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (f *fixture) count(t *testing.T, where string) int {
	t.Helper()
	var n int
	if err := f.db.NewRaw("SELECT count(*) FROM data_keys WHERE "+where).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func sealed(t testing.TB, k *seal.Keyring, plaintext string, at seal.Binding) []byte {
	t.Helper()
	blob, err := k.Seal(t.Context(), []byte(plaintext), at)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// opens fails the test unless the blob holds want.
func opens(t *testing.T, what string, k *seal.Keyring, blob []byte, at seal.Binding, want string) {
	t.Helper()
	if got, err := k.Open(t.Context(), blob, at); err != nil || string(got) != want {
		t.Errorf("%s: %.20q, %v", what, got, err)
	}
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	k := f.ring(t, sealtest.Key("a"))
	for _, plaintext := range []string{"", "Bearer hunter2", strings.Repeat("x", 100_000)} {
		blob := sealed(t, k, plaintext, place)
		if len(plaintext) > 0 && bytes.Contains(blob, []byte(plaintext)) {
			t.Error("the blob shows the value")
		}
		if got, want := len(blob), len(plaintext)+seal.Overhead; got != want {
			t.Errorf("a blob of %d bytes, want %d", got, want)
		}
		opens(t, "here", k, blob, place, plaintext)
		opens(t, "another process", f.ring(t, sealtest.Key("a")), blob, place, plaintext)
		if bytes.Equal(blob, sealed(t, k, plaintext, place)) {
			t.Error("two blobs of one value are the same")
		}
	}
	if n := f.count(t, "true"); n != 1 {
		t.Errorf("%d data keys, want one", n)
	}
}

// TestOtherPlace moves a ciphertext to other rows, columns and tenants.
func TestOtherPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	k := f.ring(t, sealtest.Key("a"))
	one, two := f.tenant(t, "ten_1"), f.tenant(t, "ten_2")
	at := seal.Binding{TenantID: one, Record: "tools/t1", Field: "auth_header"}
	blob := sealed(t, k, "Bearer hunter2", at)
	sealed(t, k, "its own", seal.Binding{TenantID: two, Record: "tools/t1", Field: "auth_header"})
	for _, other := range []seal.Binding{
		{TenantID: two, Record: "tools/t1", Field: "auth_header"},
		{TenantID: one, Record: "tools/t2", Field: "auth_header"},
		{TenantID: one, Record: "tools/t1", Field: "headers"},
		{TenantID: one, Record: "tools/t1auth", Field: "_header"},
		{},
	} {
		if _, err := k.Open(t.Context(), blob, other); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%+v: opened, or %v", other, err)
		}
	}
	// A data key moved to the other tenant, or wrapped under the name of the other row, is no key.
	for _, theft := range []string{
		"UPDATE data_keys SET retired_at = now() WHERE tenant_id = 'ten_2'", "UPDATE data_keys SET tenant_id = 'ten_2' WHERE tenant_id = 'ten_1'",
	} {
		if _, err := f.db.ExecContext(t.Context(), theft); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.ring(t, sealtest.Key("a")).Open(t.Context(), blob, seal.Binding{TenantID: two, Record: "tools/t1", Field: "auth_header"})
	if !errors.Is(err, seal.ErrOpen) {
		t.Errorf("with the data key moved: %v", err)
	}
}

func TestChangedBlob(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	k := f.ring(t, sealtest.Key("a"))
	blob := sealed(t, k, "Bearer hunter2", place)
	for i := range blob {
		changed := bytes.Clone(blob)
		changed[i] ^= 0x40
		if _, err := k.Open(t.Context(), changed, place); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := k.Open(t.Context(), blob[:i], place); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	old := append([]byte{1}, blob[1:]...)
	if _, err := k.Open(t.Context(), old, place); !errors.Is(err, seal.ErrOldFormat) {
		t.Errorf("a blob of the old format: %v", err)
	}
}

// TestFirstKeys has many processes seal the first value of a tenant at once.
func TestFirstKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tenant := f.tenant(t, "ten_1")
	at := seal.Binding{TenantID: tenant, Record: "r", Field: "f"}
	var work sync.WaitGroup
	blobs := make([][]byte, 12)
	for i := range blobs {
		k := f.ring(t, sealtest.Key("a"))
		work.Go(func() {
			blob, err := k.Seal(t.Context(), []byte("v"), at)
			if err != nil {
				t.Error(err)
			}
			blobs[i] = blob
		})
	}
	work.Wait()
	if n := f.count(t, "tenant_id = 'ten_1'"); n != 1 {
		t.Errorf("%d data keys, want one", n)
	}
	for _, blob := range blobs {
		opens(t, "each", f.ring(t, sealtest.Key("a")), blob, at, "v")
	}
}

// TestDataKeyLife lets a data key come of age, and has one replaced by hand.
func TestDataKeyLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	k := f.ring(t, sealtest.Key("a"))
	old := sealed(t, k, "old", place)
	f.pass(seal.DataKeyLife)
	young := sealed(t, k, "young", place)
	if bytes.Equal(old[1:17], young[1:17]) || f.count(t, "retired_at IS NULL") != 1 || f.count(t, "true") != 2 {
		t.Error("the data key goes on after its time")
	}
	if err := k.RotateDataKey(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	third := sealed(t, k, "third", place)
	if bytes.Equal(third[1:17], young[1:17]) || f.count(t, "true") != 3 {
		t.Error("the data key goes on after it was replaced")
	}
	for blob, want := range map[string]string{string(old): "old", string(young): "young", string(third): "third"} {
		opens(t, want, k, []byte(blob), place, want)
	}
}

// TestTenantGone deletes a tenant: what is left of its secrets anywhere cannot be opened any more.
func TestTenantGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	k := f.ring(t, sealtest.Key("a"))
	at := seal.Binding{TenantID: f.tenant(t, "ten_1"), Record: "r", Field: "f"}
	blob := sealed(t, k, "value", at)
	if _, err := f.db.ExecContext(t.Context(), "DELETE FROM tenants WHERE id = 'ten_1'"); err != nil {
		t.Fatal(err)
	}
	f.pass(5 * time.Minute) // by then no process remembers the key
	if _, err := k.Open(t.Context(), blob, at); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("got %v, want %v", err, seal.ErrOpen)
	}
}

// silent is a master key in a service that can fall silent.
type silent struct {
	seal.MasterKey

	gone  atomic.Bool
	asked atomic.Int32
}

func (s *silent) Unwrap(ctx context.Context, wrapped, associated []byte) ([]byte, error) {
	s.asked.Add(1)
	if s.gone.Load() {
		return nil, errors.New("nobody answers")
	}
	return s.MasterKey.Unwrap(ctx, wrapped, associated)
}

// TestCache counts how often the master key is asked, and takes it away.
func TestCache(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	service := &silent{MasterKey: masters(t, sealtest.Key("a"))[0]}
	k := f.ringOf(t, seal.Masters{service})
	blob := sealed(t, k, "value", place)
	for range 10 {
		opens(t, "warm", k, blob, place, "value")
	}
	if n := service.asked.Load(); n != 2 { // once to seal and once to open
		t.Errorf("the master key was asked %d times, want 2", n)
	}
	f.pass(6 * time.Minute)
	opens(t, "after the cache", k, blob, place, "value")
	if n := service.asked.Load(); n != 3 {
		t.Errorf("the master key was asked %d times, want 3: it is remembered too long", n)
	}
	service.gone.Store(true)
	f.pass(30 * time.Minute)
	opens(t, "while nobody answers", k, blob, place, "value")
	f.pass(40 * time.Minute)
	if _, err := k.Open(t.Context(), blob, place); err == nil {
		t.Error("a data key is used for ever while the master key does not answer")
	}
	service.gone.Store(false)
	opens(t, "when it is back", k, blob, place, "value")
}

func FuzzOpen(f *testing.F) {
	fx := newFixture(f)
	k := fx.ring(f, sealtest.Key("a"))
	blob := sealed(f, k, "value", place)
	f.Add(blob)
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, mutated []byte) {
		if _, err := k.Open(t.Context(), mutated, place); err == nil && !bytes.Equal(mutated, blob) {
			t.Error("a blob we did not make opens")
		}
	})
}
