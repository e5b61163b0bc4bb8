package events_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/events"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/workspaces"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

func open(t *testing.T) (*postgres.DB, workspaces.Ref) {
	t.Helper()
	db := pgtest.Open(t)
	made, err := workspaces.New(workspaces.Deps{DB: db}).CreateTenant(t.Context(), "acme", "free")
	if err != nil {
		t.Fatal(err)
	}
	return db, workspaces.Ref{TenantID: made.Tenant.ID, ID: made.Workspace.ID}
}

func event(ref workspaces.Ref, eventType events.Type) events.Event {
	return events.Event{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID), Type: eventType,
		Payload: events.Example(eventType), CreatedAt: at,
	}
}

// appendTo appends outside or inside of a transaction.
func appendTo(t *testing.T, db bun.IDB, e events.Event) string {
	t.Helper()
	id, err := events.Append(t.Context(), db, e)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func relay(t *testing.T, db *postgres.DB) (ids []string) {
	t.Helper()
	err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
		if err := events.LockRelay(ctx, tx); err != nil {
			return err
		}
		rows, err := events.UnrelayedPublic(ctx, tx, fair.Ask{Room: 100})
		for _, row := range rows {
			ids = append(ids, row.EventID)
		}
		if err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func feed(t *testing.T, db *postgres.DB, ref workspaces.Ref, after int64) (rows []events.Row, ids []string) {
	t.Helper()
	page, err := events.Feed(t.Context(), db, events.FeedParams{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID),
		After: after, Limit: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Rows {
		ids = append(ids, row.EventID)
	}
	return page.Rows, ids
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	types := events.PublicTypes()
	if len(types) != 11 || !slices.IsSorted(types) {
		t.Errorf("%d public types: %v", len(types), types)
	}
	for _, eventType := range types {
		payload := events.NewPayload(eventType)
		if said := proto.GetExtension(payload.ProtoReflect().Descriptor().Options(), parlancev1.E_Event); said != string(eventType) {
			t.Errorf("%s: its message says that it is the data of %q", eventType, said)
		}
		body, err := events.ExampleBody(eventType)
		if err != nil {
			t.Errorf("%s: %v", eventType, err)
		}
		var got struct {
			Workspace string         `json:"workspace_id"`
			Data      map[string]any `json:"data"`
		}
		if err := json.Unmarshal(body, &got); err != nil || len(got.Data) < 5 || (got.Workspace == "") != eventType.TenantWide() {
			t.Errorf("%s: %s, %v", eventType, body, err)
		}
		for name, value := range got.Data {
			if value == nil || value == "" && name != "transcript_url" && name != "workspace_id" || value == "example" {
				t.Errorf("%s: the example has no %s: write one in examples.json", eventType, name)
			}
		}
	}
	if events.SourceQueued.Public() || events.NewPayload(events.SourceQueued) != nil || events.Example("nonsense") != nil {
		t.Error("an internal event looks public")
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	body, err := events.Body(events.Event{
		ID: "evt_1", TenantID: "ten_1", WorkspaceID: "ws_1", Type: events.FatigueAlert, CreatedAt: at,
		Payload: &parlancev1.FatigueAlert{UserId: "u", Window: "30m", Measure: "turns", Value: 61, Limit: 60},
	})
	want := `{"type":"fatigue.alert","event_id":"evt_1","tenant_id":"ten_1","workspace_id":"ws_1",` +
		`"created_at":"2026-03-01T12:00:00.123456Z","event_timestamp":1772366400,` +
		`"data":{"user_id":"u","agent_id":"","session_id":"","window":"30m","measure":"turns","value":61,"limit":60}}`
	if err != nil || string(body) != want {
		t.Errorf("got %s, %v\nwant %s", body, err, want)
	}
}

// TestOlderFeedback reads what 0.2.0 stored: the feedback of an answer was a text.
func TestOlderFeedback(t *testing.T) {
	t.Parallel()
	read, err := events.ReadPayload(events.PostCallTranscription, []byte(`{"conversation_id":"ses_1","transcript":[
		{"role":"agent","message":"One.","feedback":"like","time_in_call_secs":7},{"role":"agent","message":"Two.","feedback":""}]}`))
	call, ok := read.(*parlancev1.PostCallTranscription)
	if err != nil || !ok || call.GetConversationId() != "ses_1" || len(call.GetTranscript()) != 2 {
		t.Fatalf("%v, %v", read, err)
	}
	liked, other := call.GetTranscript()[0], call.GetTranscript()[1]
	if liked.GetFeedback().GetScore() != "like" || liked.GetFeedback().GetTimeInCallSecs() != 7 || other.GetFeedback() != nil ||
		liked.GetMessage() != "One." || other.GetMessage() != "Two." {
		t.Errorf("%v, %v", liked, other)
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	db, ref := open(t)
	once := event(ref, events.FatigueAlert)
	once.ID = appendTo(t, db, once)
	appendTo(t, db, once) // changes nothing
	_ = postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
		appendTo(t, tx, event(ref, events.InvoicePaid))
		return context.Canceled // rolled back
	})
	if diff := cmp.Diff(relay(t, db), []string{once.ID}); diff != "" {
		t.Error(diff)
	}
	if again := relay(t, db); again != nil {
		t.Errorf("relayed again: %v", again)
	}
}

func TestAppendNotifiesAtCommit(t *testing.T) {
	t.Parallel()
	db, ref := open(t)
	listening, stop := context.WithCancel(t.Context())
	heard, done := make(chan struct{}, 2), make(chan struct{})
	go func() {
		defer close(done)
		_ = db.Listen(listening, events.Channel, func(string) { heard <- struct{}{} })
	}()
	<-heard // listens now
	appendTo(t, db, event(ref, events.FatigueAlert))
	<-heard
	stop()
	<-done
}

func TestInternalEventsStayInside(t *testing.T) {
	t.Parallel()
	db, ref := open(t)
	internal := event(ref, events.SourceQueued)
	internal.Payload, internal.Subject = nil, "src_1"
	id := appendTo(t, db, internal)
	if got := relay(t, db); got != nil {
		t.Errorf("relayed as public: %v", got)
	}
	err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
		rows, err := events.UnrelayedInternal(ctx, tx, []events.Type{events.SourceQueued}, fair.Ask{Room: 100})
		if err != nil {
			return err
		}
		if len(rows) != 1 || rows[0].EventID != id || rows[0].Subject != "src_1" {
			t.Errorf("internal events: %+v", rows)
		}
		return events.MarkRelayed(ctx, tx, rows, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ids := feed(t, db, ref, 0); ids != nil {
		t.Errorf("internal events in the feed: %v", ids)
	}
}

// TestPositionsWhateverThePlan shows that positions are unique and in order with every join plan.
func TestPositionsWhateverThePlan(t *testing.T) {
	t.Parallel()
	db, ref := open(t)
	var want []string
	for range 10 {
		want = append(want, appendTo(t, db, event(ref, events.FatigueAlert)))
	}
	err := postgres.InTx(t.Context(), db, func(ctx context.Context, tx bun.Tx) error {
		for _, way := range []string{"hashjoin", "mergejoin", "material", "indexscan", "bitmapscan"} {
			if _, err := tx.ExecContext(ctx, "SET LOCAL enable_"+way+" = off"); err != nil {
				return err
			}
		}
		rows, err := events.UnrelayedPublic(ctx, tx, fair.Ask{Room: 100})
		if err != nil {
			return err
		}
		return events.MarkRelayed(ctx, tx, rows, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, ids := feed(t, db, ref, 0)
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("the feed (-want +got)\n%s", diff)
	}
	if first, last := rows[0].Position, rows[len(rows)-1].Position; last-first != 9 {
		t.Errorf("the places of ten events go from %d to %d", first, last)
	}
}

// TestFeedNeverInsertsBefore shows that an event that was appended first and committed last comes
// after events that were already read.
func TestFeedNeverInsertsBefore(t *testing.T) {
	t.Parallel()
	db, ref := open(t)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	slow := appendTo(t, tx, event(ref, events.FatigueAlert))
	fast := appendTo(t, db, event(ref, events.FatigueAlert))
	relay(t, db)
	rows, ids := feed(t, db, ref, 0)
	if diff := cmp.Diff(ids, []string{fast}); diff != "" {
		t.Fatal(diff)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	relay(t, db)
	if _, ids := feed(t, db, ref, rows[0].Position); !slices.Equal(ids, []string{slow}) {
		t.Errorf("after the first came %v, want %v", ids, []string{slow})
	}
	last, err := events.LastPosition(t.Context(), db, string(ref.TenantID), string(ref.ID))
	if err != nil || last != rows[0].Position+1 {
		t.Errorf("last position %d, %v; want %d", last, err, rows[0].Position+1)
	}
}
