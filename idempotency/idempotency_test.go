package idempotency_test

import (
	"context"
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
	return idempotency.Request{Method: "POST", Path: "/v1/orders", Query: "a=b", Body: []byte(`{"n":1}`)}
}

func created() idempotency.Answer {
	return idempotency.Answer{Status: 201, ContentType: "application/json", Location: "/v1/orders/1", Body: []byte(`{"secret":"whsec_plain"}`)}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.begin(f.caller, "k", order())
	if first.Answer != nil {
		t.Fatalf("a new key has the answer %v", first.Answer)
	}
	f.refused("k", order(), fault.IdempotencyInFlight)
	f.must(first.Keep(t.Context(), created()))
	f.pass(24*time.Hour - time.Second)
	if diff := cmp.Diff(f.begin(f.caller, "k", order()).Answer, new(created())); diff != "" {
		t.Error(diff)
	}
	// A claim that has been settled changes nothing any more.
	f.must(first.Release(t.Context()))
	f.must(first.Extend(t.Context()))
	f.must(first.Keep(t.Context(), idempotency.Answer{Status: 500}))
	if got := f.begin(f.caller, "k", order()).Answer; got == nil || got.Status != 201 {
		t.Errorf("later the answer is %v", got)
	}
}

// TestReused: another query or body is another request under the key; another route is another key.
func TestReused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	claim := f.begin(f.caller, "k", order())
	others := map[string]func(*idempotency.Request){
		"query":                     func(r *idempotency.Request) { r.Query = "" },
		"body":                      func(r *idempotency.Request) { r.Body = []byte(`{"n":2}`) },
		"the same bytes, cut apart": func(r *idempotency.Request) { r.Query, r.Body = `a=b{`, []byte(`"n":1}`) },
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
	for name, change := range map[string]func(*idempotency.Request){
		"method": func(r *idempotency.Request) { r.Method = "PUT" }, "path": func(r *idempotency.Request) { r.Path = "/v1/others" },
	} {
		other := order()
		change(&other)
		if claim := f.begin(f.caller, "k", other); claim.Answer != nil {
			t.Errorf("another %s got %v", name, claim.Answer)
		}
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
	f.refused("k", order(), fault.IdempotencyInFlight)
	f.pass(time.Second)
	other := order()
	other.Body = nil
	f.refused("k", other, fault.IdempotencyReused)
	heir := f.begin(f.caller, "k", order())
	if heir.Answer != nil {
		t.Fatalf("there is the answer %v", heir.Answer)
	}
	f.must(dead.Keep(t.Context(), idempotency.Answer{Status: 409}))
	f.must(dead.Release(t.Context()))
	f.refused("k", order(), fault.IdempotencyInFlight)
	f.must(heir.Keep(t.Context(), created()))
	if got := f.begin(f.caller, "k", order()).Answer; got == nil || got.Status != 201 {
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
				case err == nil && claim.Answer == nil:
					won.Add(1)
				case fault.IsReason(err, fault.IdempotencyInFlight):
					refused.Add(1)
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
		status int
		reason fault.Reason
		want   bool
	}{
		{200, "", true},
		{201, "", true},
		{202, "", true},
		{204, "", true},
		{400, fault.InvalidRequest, false},
		{400, fault.WebhookURLNotPublic, true},
		{404, fault.ResourceNotFound, true},
		{409, fault.ToolSlugTaken, true},
		{409, fault.SessionClosed, true},
		{409, fault.Conflict, false},
		{409, fault.IdempotencyInFlight, false},
		{402, fault.QuotaKBStorage, true},
		{401, fault.AuthInvalidKey, false},
		{403, fault.AuthScope, false},
		{413, fault.BodyTooLarge, false},
		{415, fault.UnsupportedEncoding, false},
		{429, fault.RateLimitedReason, false},
		{499, fault.CallerCanceled, false},
		{500, fault.InternalError, false},
		{501, fault.NotImplemented, false},
		{502, fault.UpstreamFailed, false},
		{503, fault.ServiceUnavailable, false},
		{504, fault.DeadlineExceeded, false},
		{404, "", false},
		{400, "of-tomorrow", false},
	}
	for _, row := range rows {
		if got := idempotency.Keeps(row.status, row.reason); got != row.want {
			t.Errorf("%d %s: got %v", row.status, row.reason, got)
		}
	}
}
