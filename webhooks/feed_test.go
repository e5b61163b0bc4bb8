package webhooks_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

func TestFeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var want []string
	for range 5 {
		want = append(want, f.append(f.ref, events.FatigueAlert))
	}
	want = append(want, f.append(workspaces.Ref{TenantID: f.ref.TenantID}, events.InvoicePaid))
	f.append(f.tenant(), events.FatigueAlert)
	f.appendEvent(events.Event{
		TenantID: string(f.ref.TenantID), WorkspaceID: string(f.ref.ID), Type: events.SourceQueued,
		Subject: "src", CreatedAt: f.clock.now(),
	})
	f.relay()
	var got []string
	params := webhooks.FeedParams{Size: 2}
	for pages := 1; ; pages++ {
		page, next, err := f.hooks.Feed(t.Context(), f.ref, params)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			got = append(got, e.EventID)
			params.After = e.Cursor
		}
		if next == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		if next != params.After {
			t.Errorf("next is %q, the last cursor %q", next, params.After)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	if again, _, err := f.hooks.Feed(t.Context(), f.ref, params); err != nil || len(again) != 0 {
		t.Errorf("after the last: %+v, %v", again, err)
	}
	f.append(f.ref, events.FatigueAlert)
	f.relay()
	ahead := webhooks.FeedParams{After: f.cursor(f.ref)}
	if _, err := f.db.ExecContext(t.Context(), "DELETE FROM events WHERE position = (SELECT max(position) FROM events)"); err != nil {
		t.Fatal(err) // the database was restored from a backup
	}
	_, _, err := f.hooks.Feed(t.Context(), f.ref, ahead)
	wantReason(t, err, fault.InvalidRequest)
	err = f.hooks.Watch(t.Context(), f.ref, ahead, func(webhooks.FeedEvent) error { return nil })
	wantReason(t, err, fault.InvalidRequest)
	_, _, err = f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{After: "nonsense"})
	wantReason(t, err, fault.InvalidRequest)
	_, _, err = f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{Size: 201})
	wantReason(t, err, fault.InvalidRequest)
}

// TestCursorsAreOpaque shows that cursors do not tell how many events the installation has, are of
// one feed, and that the numbers which cursors were before are refused.
func TestCursorsAreOpaque(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.tenant()
	for _, ref := range []workspaces.Ref{f.ref, f.ref, other, f.ref} {
		f.append(ref, events.FatigueAlert)
		f.relay()
	}
	page, next, err := f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{Size: 2})
	if err != nil || len(page) != 2 || next != page[1].Cursor {
		t.Fatalf("feed: %+v, %q, %v", page, next, err)
	}
	seen := map[string]bool{f.cursor(f.ref): true, f.cursor(other): true, page[0].Cursor: true, page[1].Cursor: true}
	if len(seen) != 4 {
		t.Errorf("cursors are not of one event: %v", seen)
	}
	for cursor := range seen {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || len(raw) != 16 {
			t.Fatalf("cursor %q: %v", cursor, err)
		}
		for _, sign := range []byte{0, 1, 2, 3, 4} { // a position in the clear begins with zeros and ends with its number
			if bytes.Count(raw, []byte{sign}) > 4 {
				t.Errorf("cursor %q shows a position: %v", cursor, raw)
			}
		}
	}
	_, _, err = f.hooks.Feed(t.Context(), other, webhooks.FeedParams{After: page[0].Cursor})
	wantReason(t, err, fault.InvalidRequest)
	for _, number := range []string{"1", "2", "00", "9223372036854775807", "18446744073709551615"} {
		_, _, err = f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{After: number})
		wantReason(t, err, fault.EventsCursorExpired)
		err = f.hooks.Watch(t.Context(), f.ref, webhooks.FeedParams{After: number}, func(webhooks.FeedEvent) error { return nil })
		wantReason(t, err, fault.EventsCursorExpired)
	}
	if page, _, err := f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{After: "0"}); err != nil || len(page) != 3 {
		t.Errorf("after 0: %+v, %v", page, err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, second := f.append(f.ref, events.FatigueAlert), f.append(f.ref, events.FatigueAlert)
	f.relay()
	page, _, err := f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{Size: 1})
	if err != nil || len(page) != 1 || page[0].EventID != first {
		t.Fatalf("feed: %+v, %v", page, err)
	}
	errEnough := errors.New("enough")
	var got []string
	third := ""
	err = f.hooks.Watch(t.Context(), f.ref, webhooks.FeedParams{After: page[0].Cursor}, func(e webhooks.FeedEvent) error {
		got = append(got, e.EventID)
		if len(got) == 1 { // happens while somebody watches
			third = f.append(f.ref, events.FatigueAlert)
			f.relay()
			return nil
		}
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("watch ended with %v", err)
	}
	if diff := cmp.Diff(got, []string{second, third}); diff != "" {
		t.Error(diff)
	}
}

// A cursor that went past an event of a transaction which committed late would skip it.
func TestWatchMissesNoLateCommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := func() (bun.Tx, string) {
		tx, err := f.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		id, err := events.Append(t.Context(), tx, events.Event{
			TenantID: string(f.ref.TenantID), WorkspaceID: string(f.ref.ID), Type: events.FatigueAlert,
			Payload: events.Example(events.FatigueAlert), CreatedAt: f.clock.now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return tx, id
	}
	slow, slowID := open()
	fast, fastID := open()
	if err := fast.Commit(); err != nil {
		t.Fatal(err)
	}
	f.relay()
	errEnough := errors.New("enough")
	var got []string
	err := f.hooks.Watch(t.Context(), f.ref, webhooks.FeedParams{After: "0"}, func(e webhooks.FeedEvent) error {
		got = append(got, e.EventID)
		if len(got) == 1 { // the reader is past it, and only now it is committed
			if err := slow.Commit(); err != nil {
				t.Error(err)
			}
			f.relay()
			return nil
		}
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("watch ended with %v", err)
	}
	if diff := cmp.Diff(got, []string{fastID, slowID}); diff != "" {
		t.Error(diff)
	}
}

// What a filter leaves out moves the cursor, too, so that a rare event is reached in pages.
func TestFeedFilters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.db.ExecContext(t.Context(), `
INSERT INTO events (tenant_id, event_id, workspace_id, type, subject, body, created_at, relayed_at, position)
SELECT ?, 'evt_' || n, ?, CASE WHEN n % 3000 = 0 THEN 'dsar.ready' ELSE 'fatigue.alert' END, '', '{"data":{}}',
       now(), now(), nextval('events_position')
FROM generate_series(1, 7000) AS n`, f.ref.TenantID, f.ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	params := webhooks.FeedParams{Events: []string{"dsar.ready", "invoice.paid"}}
	pages := 0
	for more := true; more; pages++ {
		page, next, err := f.hooks.Feed(t.Context(), f.ref, params)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			got = append(got, e.EventID)
		}
		params.After, more = next, next != ""
	}
	if diff := cmp.Diff(got, []string{"evt_3000", "evt_6000"}); diff != "" {
		t.Error(diff)
	}
	if pages != 4 { // 2,000 at a time
		t.Errorf("%d pages, want 4", pages)
	}
	_, _, err = f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{Events: []string{"dsar"}})
	wantReason(t, err, fault.WebhookEventUnknown)
}

// Who has read everything that was deleted has missed nothing; who has not is told.
func TestFeedCursorExpires(t *testing.T) {
	t.Parallel()
	f := keeping(t)
	other := f.tenant()
	cursors := map[workspaces.ID][]string{}
	for range 2 {
		f.append(f.ref, events.FatigueAlert)
		f.append(other, events.FatigueAlert)
	}
	f.relay()
	for _, ref := range []workspaces.Ref{f.ref, other} {
		page, _, err := f.hooks.Feed(t.Context(), ref, webhooks.FeedParams{})
		if err != nil || len(page) != 2 {
			t.Fatalf("feed: %+v, %v", page, err)
		}
		cursors[ref.ID] = []string{page[0].Cursor, page[1].Cursor}
	}
	f.clock.advance(31 * day)
	f.tidy()
	kept := f.append(f.ref, events.FatigueAlert)
	f.relay()
	_, _, err := f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{After: cursors[f.ref.ID][0]})
	wantReason(t, err, fault.EventsCursorExpired)
	err = f.hooks.Watch(t.Context(), f.ref, webhooks.FeedParams{After: cursors[f.ref.ID][0]}, func(webhooks.FeedEvent) error { return nil })
	wantReason(t, err, fault.EventsCursorExpired)
	for _, after := range []string{cursors[f.ref.ID][1], ""} {
		page, _, err := f.hooks.Feed(t.Context(), f.ref, webhooks.FeedParams{After: after})
		if err != nil || len(page) != 1 || page[0].EventID != kept {
			t.Errorf("after %q: %+v, %v", after, page, err)
		}
	}
	// The other tenant has had nothing since; its last cursor lies before events of others.
	if _, _, err := f.hooks.Feed(t.Context(), other, webhooks.FeedParams{After: cursors[other.ID][1]}); err != nil {
		t.Error(err)
	}
}
