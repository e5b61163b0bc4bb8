package webhooks_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

const day = 24 * time.Hour

// keeping is a fixture with a retention of 30 days.
func keeping(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, func(d *webhooks.Deps) { d.Retention = 30 * day })
}

// tidy runs Sweep.
func (f *fixture) tidy() {
	f.t.Helper()
	if err := f.hooks.Sweep(f.t.Context(), f.clock.now()); err != nil {
		f.t.Fatal(err)
	}
}

// sent appends an event and makes the deliveries that are due.
func (f *fixture) sent() string {
	f.t.Helper()
	id := f.append(f.ref, events.FatigueAlert)
	f.deliver(f.relay())
	return id
}

func (f *fixture) number(query string, args ...any) (n int) {
	f.t.Helper()
	if err := f.db.NewRaw(query, args...).Scan(f.t.Context(), &n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// feed reads the events after a cursor.
func (f *fixture) feed(ref workspaces.Ref, after string) (ids []string, err error) {
	f.t.Helper()
	page, _, err := f.hooks.Feed(f.t.Context(), ref, webhooks.FeedParams{After: after})
	for _, event := range page {
		ids = append(ids, event.EventID)
	}
	return ids, err
}

// cursor is an event's, which is the newest of its feed.
func (f *fixture) cursor(ref workspaces.Ref) string {
	f.t.Helper()
	page, _, err := f.hooks.Feed(f.t.Context(), ref, webhooks.FeedParams{Size: 200})
	if err != nil || len(page) == 0 {
		f.t.Fatalf("feed: %+v, %v", page, err)
	}
	return page[len(page)-1].Cursor
}

// partitionCount is how many partitions webhook_attempts has.
const partitionCount = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass"

// TestRetention shows that what is older than 30 days is deleted with its partition, and that
// pending deliveries are kept and delivered, however old they are.
func TestRetention(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r, held := receiver.New(t), receiver.New(t)
	kept := f.endpoint(f.ref, r, "fatigue.alert")
	var ids, cursors []string
	send := func() {
		ids = append(ids, f.sent())
		cursors = append(cursors, f.cursor(f.ref))
	}
	r.Expect() // times are not the receivers'
	send()
	send()
	f.tidy()
	f.clock.advance(day)
	f.tidy() // moves deliveries to the next partition
	late := f.endpoint(f.ref, held, "fatigue.alert")
	held.Expect()
	held.Always(receiver.Answer{Status: 503})
	send()
	none := []string{}
	if _, err := f.hooks.Update(t.Context(), f.ref, late.ID, webhooks.UpdateParams{Events: &none}); err != nil {
		t.Fatal(err)
	}
	f.clock.advance(day)
	f.tidy()
	send()
	if got := f.number("SELECT count(DISTINCT tableoid) FROM webhook_attempts"); got != 3 {
		t.Errorf("attempts of three days are in %d partitions", got)
	}
	f.clock.advance(29*day + day/2)
	f.tidy()
	f.tidy() // its double
	if diff := cmp.Diff(eventsOf(f.attempts(kept.ID)), ids[3:]); diff != "" {
		t.Errorf("attempts of the endpoint that has all: %s", diff)
	}
	if got := f.attempts(late.ID); len(got) != 1 || got[0].EventID != ids[2] {
		t.Errorf("attempts of what is still to be delivered: %+v", got)
	}
	if got := f.number("SELECT count(*) FROM webhook_deliveries"); got != 2 {
		t.Errorf("%d deliveries are left, want one that is pending and one that is young", got)
	}
	for _, after := range []struct {
		cursor string
		want   []string
	}{{"", ids[2:]}, {cursors[1], ids[2:]}, {cursors[3], nil}} {
		got, err := f.feed(f.ref, after.cursor)
		if diff := cmp.Diff(got, after.want); err != nil || diff != "" {
			t.Errorf("feed after %q: %v %s", after.cursor, err, diff)
		}
	}
	if _, err := f.feed(f.ref, cursors[0]); fault.From(err).Reason != fault.EventsCursorExpired {
		t.Errorf("feed after what has been removed: %v", err)
	}
	if got := f.enable(kept.ID, f.clock.now().Add(-90*day)); got.Requeued != 0 {
		t.Errorf("%d events are sent again that were received and whose deliveries have been deleted", got.Requeued)
	}
	again := []string{"fatigue.alert"}
	if _, err := f.hooks.Update(t.Context(), f.ref, late.ID, webhooks.UpdateParams{Events: &again}); err != nil {
		t.Fatal(err)
	}
	held.Always(receiver.Answer{})
	f.sweep()
	if got := held.Requests(); len(got) != 2 || got[1].EventID != ids[2] {
		t.Errorf("what was held came as %+v", got)
	}
	f.tidy()
	if got := f.number("SELECT count(*) FROM events WHERE event_id = ?", ids[2]); got != 0 {
		t.Error("an event stayed that has been delivered and is past its time")
	}
}

func eventsOf(attempts []webhooks.Attempt) (ids []string) {
	for _, a := range attempts {
		ids = append(ids, a.EventID)
	}
	return ids
}

// TestRetentionOfAnother shows that a feed that lost no events accepts every cursor.
func TestRetentionOfAnother(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	other := f.tenant()
	f.append(other, events.FatigueAlert)
	f.relay()
	cursor := f.cursor(other)
	f.append(f.ref, events.FatigueAlert)
	f.relay()
	f.clock.advance(31 * day)
	f.tidy()
	if got := f.number("SELECT count(*) FROM events"); got != 0 {
		t.Errorf("%d old events are left", got)
	}
	if got, err := f.feed(other, cursor); err != nil || len(got) != 0 {
		t.Errorf("feed of a workspace whose last event was read: %v, %v", got, err)
	}
}

// TestUnrelayedEventsStay shows that events without deliveries yet are kept.
func TestUnrelayedEventsStay(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	f.append(f.ref, events.FatigueAlert)
	f.clock.advance(90 * day)
	f.tidy()
	if got := f.number("SELECT count(*) FROM events"); got != 1 {
		t.Errorf("%d events, want the one that nobody has relayed", got)
	}
}

// TestKeptForEver shows that nothing is deleted without a retention.
func TestKeptForEver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := receiver.New(t)
	kept := f.endpoint(f.ref, r, "fatigue.alert")
	f.sent()
	f.clock.advance(1000 * day)
	f.tidy()
	if got := f.attempts(kept.ID); len(got) != 1 {
		t.Errorf("%d attempts, want the one", len(got))
	}
}

// TestPartitionsAhead shows that each day has a partition that was created before it.
func TestPartitionsAhead(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r := receiver.New(t)
	kept := f.endpoint(f.ref, r, "fatigue.alert")
	r.Expect()
	const days = 6
	for range days {
		f.sent()
		f.clock.advance(day)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := f.hooks.Sweep(t.Context(), f.clock.now()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	if got := len(f.attempts(kept.ID)); got != days {
		t.Errorf("%d attempts, want %d", got, days)
	}
	if got := f.number("SELECT count(DISTINCT tableoid) FROM webhook_attempts"); got != days {
		t.Errorf("%d days are in %d partitions", days, got)
	}
	// Each day's, the one that is in use, and three beyond it.
	if got := f.number(partitionCount); got != days+1+3 {
		t.Errorf("%d partitions, want %d", got, days+1+3)
	}
}

// TestPartitionsByNeed shows that partitions are created when deliveries fill them within a day.
func TestPartitionsByNeed(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r := receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	const width = 10_000_000
	for range 6 {
		f.sent()
		f.tidy()
		if _, err := f.db.ExecContext(t.Context(),
			"SELECT setval('webhook_deliveries_id_seq', last_value + ?) FROM webhook_deliveries_id_seq", width); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.number("SELECT count(*) FROM webhook_attempts WHERE status = 'succeeded'"); got != 6 {
		t.Errorf("%d attempts succeeded, want 6", got)
	}
	inOrder(t, r.Requests())
}

// TestSweepBesideTheRelay shows that a sweep after a quiet month leaves the partition of a delivery
// that the relay is inserting.
func TestSweepBesideTheRelay(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r := receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	r.Expect() // times are not the receiver's
	f.tidy()
	f.sent()
	f.clock.advance(31 * day)
	f.append(f.ref, events.FatigueAlert)
	var due []webhooks.Due
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		if due, err = f.relayIn(ctx, tx); err != nil {
			return err
		}
		return f.hooks.Sweep(t.Context(), f.clock.now()) // another process does, meanwhile
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := f.deliver(due); n != 1 || len(r.Requests()) != 2 {
		t.Errorf("%d attempts, %d requests, want 1 and 2", n, len(r.Requests()))
	}
	before := f.number(partitionCount)
	f.clock.advance(31 * day)
	f.tidy()
	if got := f.number(partitionCount); got != before-1 {
		t.Errorf("%d partitions of %d are left, want one less", got, before)
	}
}

// TestSweepBesideEnable shows that a sweep leaves an event that Enable is making a delivery of.
func TestSweepBesideEnable(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r := receiver.New(t)
	endpoint := f.endpoint(f.ref, r, "fatigue.alert")
	r.Expect() // times are not the receiver's
	r.Script(receiver.Answer{Status: 410})
	f.sent()
	f.clock.advance(time.Second)
	since := f.clock.now()
	missed := f.append(f.ref, events.FatigueAlert)
	f.relay()
	f.clock.advance(30*day - time.Second)
	done := make(chan struct{})
	err := postgres.InTx(t.Context(), f.db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		go func() {
			defer close(done)
			if got, err := f.hooks.Enable(t.Context(), f.ref, endpoint.ID, since); err != nil || got.Requeued != 1 {
				t.Errorf("%d sent anew, %v; want 1", got.Requeued, err)
			}
		}()
		if err := f.awaitLock(ctx, done); err != nil { // Enable waits for the relay, and has not committed
			return err
		}
		f.clock.advance(2 * time.Second) // now the event is too old
		return f.hooks.Sweep(t.Context(), f.clock.now())
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	f.sweep()
	if got := r.Requests(); len(got) != 2 || got[1].EventID != missed {
		t.Errorf("requests %v, want the missed event too", eventIDs(got))
	}
}

// TestSweepWaitsBriefly shows that a sweep gives up when a partition stays locked.
func TestSweepWaitsBriefly(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	r := receiver.New(t)
	f.endpoint(f.ref, r, "fatigue.alert")
	f.sent()
	f.clock.advance(day)
	f.tidy()
	f.clock.advance(30 * day)
	tx, err := f.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT count(*) FROM webhook_attempts WHERE tenant_id = ?", f.ref.TenantID); err != nil {
		t.Fatal(err)
	}
	if err := f.hooks.Sweep(t.Context(), f.clock.now()); err == nil {
		t.Error("a partition was removed that a transaction reads")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.tidy()
	if got := f.number("SELECT count(*) FROM webhook_deliveries"); got != 0 {
		t.Errorf("%d deliveries are left", got)
	}
}
