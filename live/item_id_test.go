package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// lastTexts returns the texts of the messages in the last request.
func (s *script) lastTexts() []string {
	asked := s.requests()
	var texts []string
	for _, m := range asked[len(asked)-1].Messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func wantTexts(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the model saw %q, want %q", got, want)
	}
}

// TestItemIDReused: a client changes an item by removing it and adding another with its id.
func TestItemIDReused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	script := &script{steps: []step{say("Noted."), say("Changed."), say("Elsewhere."), say("HTTP.")}}
	f.model = script
	other := f.node(t)
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	here, there := f.join(t, f.Node, made), f.joinChannel(t, other, made, sessions.VoiceChannel)
	here.do(live.UserMessage{ItemID: "x", Text: "first"})
	here.do(live.Respond{})
	until[turns.ResponseDone](here)
	here.do(live.Remove{ItemID: "x"})
	here.do(live.Insert{ItemID: "note", Kind: sessions.SystemItem, Text: "Between."})
	until[live.ItemAdded](here)
	until[live.ItemRemoved](there)

	here.do(live.UserMessage{CommandID: "c", ItemID: "x", After: sessions.AtFront, Text: "second"})
	if added, _ := until[live.ItemAdded](here); added.CommandID != "c" || added.Item.ID != "x" ||
		added.Item.Text != "second" || added.PreviousItemID != "" {
		t.Errorf("taken again: %+v", added)
	}
	here.do(live.UserMessage{CommandID: "d", ItemID: "x", Text: "third"})
	if failed, _ := until[live.Failed](here); failed.CommandID != "d" || !errors.Is(failed.Err, live.ErrItemTaken) {
		t.Errorf("taken while it is there: %+v", failed)
	}
	here.do(live.Respond{})
	until[turns.ResponseDone](here)
	wantTexts(t, script.lastTexts(), "second", "Noted.",
		"[A note of the application, not of the user. It is context, and no answer to it is expected.]\nBetween.")

	// This node sees an item that another node removed and added again.
	there.do(live.Remove{ItemID: "x"})
	there.do(live.UserMessage{ItemID: "x", Text: "third"})
	until[live.ItemRemoved](here)
	there.do(live.Respond{})
	until[turns.ResponseDone](there)
	wantTexts(t, script.lastTexts(), "Noted.",
		"[A note of the application, not of the user. It is context, and no answer to it is expected.]\nBetween.", "Changed.", "third")
	here.do(live.Retrieve{ItemID: "x"})
	if found, _ := until[live.ItemRetrieved](here); found.Item.Text != "third" {
		t.Errorf("retrieved %+v", found.Item)
	}

	// The transcript has all three.
	var removed []string
	for _, turn := range f.transcript(t, made.Session.ID) {
		for _, item := range turn.Items {
			if item.ID == "x" && item.Removed {
				removed = append(removed, item.Text)
			}
		}
	}
	wantTexts(t, removed, "first", "second")

	// A returning socket gets the present item, in its place.
	here.Leave(live.Dropped)
	back := f.join(t, other, made)
	var texts []string
	for _, item := range back.History() {
		texts = append(texts, item.Text)
	}
	wantTexts(t, texts, "Noted.", "Between.", "Changed.", "third", "Elsewhere.")
	f.turn(t, made.Session.ID, "And?")
	if said := script.lastTexts(); said[3] != "third" || len(said) != 6 {
		t.Errorf("over HTTP the model saw %q", said)
	}
}

// TestItemIDReusedWhileAnswering: the item is removed when its answer is recorded, and the item
// that gets its id follows.
func TestItemIDReusedWhileAnswering(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	going := make(chan struct{})
	script := &script{steps: []step{
		func(ctx context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
			if err := emit(model.TextDelta{Text: "Long ago"}); err != nil {
				return model.Result{}, err
			}
			select {
			case <-going:
			case <-ctx.Done():
			}
			return model.Result{Text: "Long ago", FinishReason: model.FinishStop}, nil
		},
		say("Well."),
	}}
	f.model = script
	s := f.join(t, f.Node, f.create(t))
	s.do(live.UserMessage{ItemID: "asked", Text: "When?"})
	s.do(live.Respond{})
	started, _ := until[turns.MessageStarted](s)
	s.do(live.Remove{ItemID: started.ItemID})
	s.do(live.Insert{CommandID: "c", ItemID: started.ItemID, Kind: sessions.AssistantItem, Text: "Yesterday."})
	s.do(live.Remove{ItemID: "asked"}) // this item is recorded already
	until[live.ItemRemoved](s)
	s.do(live.UserMessage{ItemID: "asked", After: sessions.AtFront, Text: "Since when?"})
	until[live.ItemAdded](s)
	close(going)
	if removed, _ := until[live.ItemRemoved](s); removed.ItemID != started.ItemID {
		t.Errorf("removed %+v", removed)
	}
	if added, _ := until[live.ItemAdded](s); added.CommandID != "c" || added.Item.Text != "Yesterday." {
		t.Errorf("in its place: %+v", added)
	}
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	wantTexts(t, script.lastTexts(), "Since when?", "Yesterday.", "(The user has said nothing new. Go on.)")
}

// TestOldItemIDTaken: an id is taken however old its item is, and whichever node knows it.
func TestOldItemIDTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{ItemID: "old", Text: "first"})
	until[live.ItemAdded](s)
	_, err := f.db.ExecContext(t.Context(), `
		INSERT INTO turns
		SELECT (jsonb_populate_record(t, jsonb_build_object(
			'id', t.id || n, 'index', n, 'status', 'completed',
			'messages', jsonb_build_array(jsonb_build_object('role', 'system', 'item_id', 'note_' || n, 'text', 'x'))))).*
		FROM turns AS t, generate_series(1, 60) AS n WHERE t.session_id = ?`, made.Session.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.Leave(live.Dropped)
	await(t, "the engine's end", func() bool { return !f.Lives(made.Session.ID) })
	s = f.join(t, f.Node, made) // which reads the newest turns
	for i, id := range []string{"old", "note_2", "note_60"} {
		s.do(live.UserMessage{CommandID: fmt.Sprint(i), ItemID: id, Text: "second"})
		if failed, ok := s.next().(live.Failed); !ok || failed.CommandID != fmt.Sprint(i) || !errors.Is(failed.Err, live.ErrItemTaken) {
			t.Errorf("%s: %+v", id, failed)
		}
	}
}
