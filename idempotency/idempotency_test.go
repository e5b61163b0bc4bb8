package idempotency_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/sealtest"
	"parlance.dev/parlance/workspaces"
)

// fixture is a service over a database of its own, with a clock that the test moves.
type fixture struct {
	t       *testing.T
	db      *postgres.DB
	service *idempotency.Service
	caller  workspaces.Principal
	clock   atomic.Pointer[time.Time]
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db := pgtest.Open(t)
	keys := sealtest.New(t, db)
	f := &fixture{t: t, db: db}
	f.clock.Store(new(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)))
	f.service = idempotency.New(idempotency.Deps{DB: db, Keys: keys, Now: func() time.Time { return *f.clock.Load() }})
	f.caller = f.newCaller("key_1")
	return f
}

// newCaller is an API key of a tenant of its own.
func (f *fixture) newCaller(key workspaces.KeyID) workspaces.Principal {
	f.t.Helper()
	made, err := workspaces.New(workspaces.Deps{DB: f.db}).CreateTenant(f.t.Context(), "acme", "free")
	if err != nil {
		f.t.Fatal(err)
	}
	return workspaces.Principal{TenantID: made.Tenant.ID, KeyID: key}
}

func (f *fixture) pass(d time.Duration) { f.clock.Store(new(f.clock.Load().Add(d))) }

// begin returns the claim of a request that must get one.
func (f *fixture) begin(caller workspaces.Principal, key string, r idempotency.Request) *idempotency.Claim {
	f.t.Helper()
	claim, err := f.service.Begin(f.t.Context(), caller, key, r)
	if err != nil {
		f.t.Fatal(err)
	}
	return claim
}

// running fails the test unless the first such request still runs, with the same seed.
func (f *fixture) running(first *idempotency.Claim, key string, r idempotency.Request) {
	f.t.Helper()
	again := f.begin(f.caller, key, r)
	if !again.Running || again.Answer != nil || !reflect.DeepEqual(again.Seed(), first.Seed()) {
		f.t.Errorf("%q: got %+v", key, again)
	}
}

// refused fails the test unless the request is refused for the reason.
func (f *fixture) refused(key string, r idempotency.Request, want fault.Reason) {
	f.t.Helper()
	if _, err := f.service.Begin(f.t.Context(), f.caller, key, r); fault.ReasonOf(err) != want {
		f.t.Errorf("%q: got %v, want %s", key, err, want)
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) rows() int {
	f.t.Helper()
	var n int
	f.must(f.db.NewRaw("SELECT count(*) FROM idempotency_keys").Scan(f.t.Context(), &n))
	return n
}

func order() idempotency.Request {
	return idempotency.Request{Operation: "/v1/orders", Body: []byte(`{"n":1}`)}
}

func created() idempotency.Answer {
	return idempotency.Answer{Messages: [][]byte{[]byte(`{"secret":"whsec_plain"}`)}}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.begin(f.caller, "k", order())
	if first.Answer != nil {
		t.Fatalf("a new key has the answer %v", first.Answer)
	}
	f.running(first, "k", order())
	f.must(first.Keep(t.Context(), created()))
	f.pass(24*time.Hour - time.Second)
	if diff := cmp.Diff(f.begin(f.caller, "k", order()).Answer, new(created())); diff != "" {
		t.Error(diff)
	}
	// A claim that has been settled changes nothing any more.
	f.must(first.Release(t.Context()))
	f.must(first.Extend(t.Context()))
	f.must(first.Keep(t.Context(), idempotency.Answer{}))
	if got := f.begin(f.caller, "k", order()).Answer; got == nil || len(got.Messages) != 1 {
		t.Errorf("later the answer is %v", got)
	}
}

// TestReused: another body or form is another request under the key; another operation is another
// key.
func TestReused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	claim := f.begin(f.caller, "k", order())
	others := map[string]func(*idempotency.Request){
		"form":                      func(r *idempotency.Request) { r.Form = "stream" },
		"body":                      func(r *idempotency.Request) { r.Body = []byte(`{"n":2}`) },
		"the same bytes, cut apart": func(r *idempotency.Request) { r.Body, r.Form = []byte(`{"n"`), `:1}` },
	}
	for name, change := range others {
		t.Run(name, func(t *testing.T) {
			other := order()
			change(&other)
			f.refused("k", other, fault.IdempotencyReused)
		})
	}
	f.must(claim.Keep(t.Context(), created()))
	other := order()
	other.Body = nil
	f.refused("k", other, fault.IdempotencyReused)
	another := order()
	another.Operation = "/v1/others"
	if claim := f.begin(f.caller, "k", another); claim.Answer != nil {
		t.Errorf("another operation got %v", claim.Answer)
	}
}

// TestCallersApart: the same words of another key, tenant or session are another key.
func TestCallersApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must(f.begin(f.caller, "k", order()).Keep(t.Context(), created()))
	colleague, session := f.caller, f.caller
	colleague.KeyID = "key_2"
	session.KeyID, session.SessionID = "", "ses_1"
	for name, caller := range map[string]workspaces.Principal{"key": colleague, "session": session, "tenant": f.newCaller("key_1")} {
		if claim := f.begin(caller, "k", order()); claim.Answer != nil {
			t.Errorf("another %s got %v", name, claim.Answer)
		}
	}
	if _, err := f.service.Begin(t.Context(), workspaces.Principal{TenantID: f.caller.TenantID}, "k", order()); err == nil {
		t.Error("nobody may have a key")
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must(f.begin(f.caller, "k", order()).Release(t.Context()))
	other := order()
	other.Body = []byte("mended")
	if claim := f.begin(f.caller, "k", other); claim.Answer != nil {
		t.Errorf("a released key has the answer %v", claim.Answer)
	}
}

// TestTakeover: a run that falls silent for a minute loses its key to the same request, and what
// it stores afterwards does not count.
func TestTakeover(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dead := f.begin(f.caller, "k", order())
	f.pass(idempotency.Lease - time.Second)
	f.must(dead.Extend(t.Context())) // not dead yet
	f.pass(idempotency.Lease - time.Second)
	f.running(dead, "k", order())
	f.pass(time.Second)
	other := order()
	other.Body = nil
	f.refused("k", other, fault.IdempotencyReused)
	heir := f.begin(f.caller, "k", order())
	if heir.Answer != nil {
		t.Fatalf("there is the answer %v", heir.Answer)
	}
	f.must(dead.Keep(t.Context(), idempotency.Answer{}))
	f.must(dead.Release(t.Context()))
	f.running(heir, "k", order())
	f.must(heir.Keep(t.Context(), created()))
	if got := f.begin(f.caller, "k", order()).Answer; got == nil || len(got.Messages) != 1 {
		t.Errorf("the answer is %v", got)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must(f.begin(f.caller, "old", order()).Keep(t.Context(), created()))
	f.pass(time.Hour)
	f.must(f.begin(f.caller, "young", order()).Keep(t.Context(), created()))
	f.pass(23 * time.Hour)
	other := order()
	other.Body = nil
	if claim := f.begin(f.caller, "old", other); claim.Answer != nil { // not swept, and yet gone
		t.Errorf("after a day: %v", claim.Answer)
	}
	f.pass(time.Hour)
	f.must(f.service.Sweep(t.Context(), *f.clock.Load()))
	if n := f.rows(); n != 1 {
		t.Errorf("%d rows after the sweep, want that of the second use of old", n)
	}
	f.pass(23 * time.Hour)
	f.must(f.service.Sweep(t.Context(), *f.clock.Load()))
	if n := f.rows(); n != 0 {
		t.Errorf("%d rows after everything expired", n)
	}
}

// TestOneWinner: of many at once, one gets to work, also when a dead run's key is taken over.
func TestOneWinner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, round := range []string{"new", "dead"} {
		var won, refused atomic.Int32
		var running sync.WaitGroup
		for range 20 {
			running.Go(func() {
				claim, err := f.service.Begin(t.Context(), f.caller, "k", order())
				switch {
				case err == nil && claim.Running:
					refused.Add(1)
				case err == nil && claim.Answer == nil:
					won.Add(1)
				default:
					t.Errorf("%s: %v, %v", round, claim, err)
				}
			})
		}
		running.Wait()
		if won.Load() != 1 || refused.Load() != 19 {
			t.Errorf("%s: %d won, %d refused", round, won.Load(), refused.Load())
		}
		f.pass(idempotency.Lease)
	}
}

// TestAtRest: neither the key nor the answer can be read in the table, and a row that is put in
// another's place does not open.
func TestAtRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must(f.begin(f.caller, "my-order-4711", order()).Keep(t.Context(), created()))
	var whole string
	f.must(f.db.NewRaw("SELECT string_agg(i::text || encode(i.answer, 'escape'), '') FROM idempotency_keys AS i").Scan(t.Context(), &whole))
	for _, secret := range []string{"whsec_plain", "my-order-4711", "/v1/orders"} {
		if strings.Contains(whole, secret) {
			t.Errorf("the table holds %q", secret)
		}
	}
	if !strings.Contains(whole, string(f.caller.KeyID)) {
		t.Error("this test reads the wrong thing")
	}
	_, err := f.db.NewRaw("UPDATE idempotency_keys SET caller_id = 'key_2'").Exec(t.Context())
	f.must(err)
	thief := f.caller
	thief.KeyID = "key_2"
	if claim, err := f.service.Begin(t.Context(), thief, "my-order-4711", order()); err == nil {
		t.Errorf("the row opened elsewhere: %v", claim.Answer)
	}
}

func TestKeyShape(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, key := range []string{"", strings.Repeat("x", 256), "tab\t", "line\n", "ünïcode", "\x7f", "nul\x00"} {
		f.refused(key, order(), fault.InvalidRequest)
	}
	for _, key := range []string{"!", "~", " ", "two words", strings.Repeat("x", 255), `"quoted"`} {
		f.begin(f.caller, key, order())
	}
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.service.Begin(ctx, f.caller, "k", order()); fault.From(err).Kind() != fault.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestKeeps(t *testing.T) {
	t.Parallel()
	rows := []struct {
		reason fault.Reason
		want   bool
	}{
		{fault.InvalidRequest, false},
		{fault.WebhookURLNotPublic, true},
		{fault.ResourceNotFound, true},
		{fault.ToolSlugTaken, false},
		{fault.SessionClosed, false},
		{fault.Conflict, false},
		{fault.IdempotencyInFlight, false},
		{fault.QuotaKBStorage, false},
		{fault.WebhookURLUnresolvable, false},
		{fault.AuthInvalidKey, false},
		{fault.AuthScope, false},
		{fault.BodyTooLarge, false},
		{fault.UnsupportedEncoding, false},
		{fault.RateLimitedReason, false},
		{fault.CallerCanceled, false},
		{fault.InternalError, false},
		{fault.NotImplemented, false},
		{fault.UpstreamFailed, false},
		{fault.ServiceUnavailable, false},
		{fault.DeadlineExceeded, false},
		{"of-tomorrow", false},
	}
	for _, row := range rows {
		if got := idempotency.Keeps(fault.New(row.reason, "No.")); got != row.want {
			t.Errorf("%s: got %v", row.reason, got)
		}
	}
}
