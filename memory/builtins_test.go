package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/workspaces"
)

// answer is what a tool tells the model.
func (f *fixture) answer(t testing.TB, user, tool, arguments string) memory.Answer {
	t.Helper()
	said, err := f.call(t, user, tool, arguments)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	var answer memory.Answer
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestTools: a model writes, finds, replaces and forgets; whose memory it is says the session.
func TestTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	name := f.answer(t, "u", memory.ToolStatement, `{"statement":"My name is Ada."}`)
	lamp := f.answer(t, "u", memory.ToolNote, `{"text":"Ordered a green lamp.","tags":["order"]}`)
	if name.Status != memory.StatusRemembered || lamp.Status != memory.StatusRemembered || name.ID == "" {
		t.Errorf("%+v, %+v", name, lamp)
	}
	item, err := f.Get(t.Context(), f.ref, "u", lamp.ID)
	if err != nil || item.CreatedBy != memory.ByModel || item.SessionID != "ses_1" || item.TurnID != "turn_1" ||
		item.AgentID != string(f.agent.ID) {
		t.Errorf("where it comes from: %+v, %v", item, err)
	}
	if again := f.answer(t, "u", memory.ToolNote, `{"text":"ordered a green lamp"}`); again.Status != memory.StatusKnown ||
		again.ID != lamp.ID {
		t.Errorf("again: %+v", again)
	}
	renamed := f.answer(t, "u", memory.ToolStatement, `{"statement":"My name is Grace."}`)
	if renamed.Status != memory.StatusReplaced || renamed.Replaces != "My name is Ada." {
		t.Errorf("replaced: %+v", renamed)
	}
	found := f.answer(t, "u", memory.ToolSearch, `{"query":"which lamp was ordered?","top_k":1}`)
	if len(found.Memories) != 1 || found.Memories[0].ID != lamp.ID {
		t.Errorf("found: %+v", found)
	}
	if all := f.answer(t, "u", memory.ToolSearch, `{"query":"What do you know about me?"}`); len(all.Memories) != 2 ||
		all.Memories[0].Text != "My name is Grace." {
		t.Errorf("all: %+v", all)
	}
	if other := f.answer(t, "v", memory.ToolSearch, `{"query":"lamp name Grace"}`); len(other.Memories) != 0 || other.Advice == "" {
		t.Errorf("another user finds: %+v", other)
	}
	if other := f.answer(t, "v", memory.ToolNote, `{"forget":["`+string(lamp.ID)+`"]}`); other.Status != memory.StatusNothing {
		t.Errorf("another user forgets: %+v", other)
	}
	if gone := f.answer(t, "u", memory.ToolNote, `{"forget":["`+string(renamed.ID)+`"]}`); gone.Status != memory.StatusForgotten ||
		len(gone.IDs) != 2 {
		t.Errorf("forgotten with its history: %+v", gone)
	}
	if gone := f.answer(t, "u", memory.ToolStatement, `{"forget":["all"]}`); gone.Status != memory.StatusForgotten ||
		!slices.Equal(gone.IDs, []memory.ID{lamp.ID}) {
		t.Errorf("all forgotten: %+v", gone)
	}
	if gone := f.answer(t, "u", memory.ToolStatement, `{"forget":["all"]}`); gone.Status != memory.StatusNothing {
		t.Errorf("again: %+v", gone)
	}
	for _, arguments := range []string{`{}`, `{"text":"x","forget":["all"]}`, `{"tags":["x"]}`} {
		if _, err := f.call(t, "u", memory.ToolNote, arguments); !fault.IsReason(err, fault.ToolArgumentsInvalid) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	if _, err := f.call(t, "", memory.ToolSearch, `{"query":"x"}`); !fault.IsReason(err, fault.InvalidRequest) {
		t.Errorf("without a user: %v", err)
	}
}

// TestConsent: what is of a category that has to be confirmed is not read before the user has said
// yes.
func TestConsent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, agents.Memory{Enabled: true, ConfirmCategories: []string{"Health", "identity"}})
	yes := false
	f.SetAgreed(func(_ context.Context, _ workspaces.Ref, session, turn string) (bool, error) {
		return yes && session == "ses_1" && turn == "turn_1", nil
	})
	asked := f.answer(t, "u", memory.ToolStatement, `{"statement":"I am allergic to nuts.","category":"health"}`)
	tagged := f.answer(t, "u", memory.ToolNote, `{"text":"Takes pills.","tags":["health"]}`)
	named := f.answer(t, "u", memory.ToolStatement, `{"statement":"My name is Ada.","category":"greeting"}`)
	free := f.answer(t, "u", memory.ToolStatement, `{"statement":"I like tea."}`)
	if asked.Status != memory.StatusNeedsConsent || tagged.Status != memory.StatusNeedsConsent || free.Status != memory.StatusRemembered {
		t.Errorf("%+v, %+v, %+v", asked, tagged, free)
	}
	_ = named
	if found := f.answer(t, "u", memory.ToolSearch, `{"query":"allergic nuts pills health"}`); slices.ContainsFunc(
		found.Memories, func(m memory.AnswerMemory) bool { return m.ID != free.ID && m.ID != named.ID },
	) {
		t.Errorf("found before it was confirmed: %+v", found)
	}
	if refused := f.answer(t, "u", memory.ToolStatement, `{"confirm":["`+string(asked.ID)+`"]}`); refused.Status != memory.StatusNeedsConsent {
		t.Errorf("confirmed without the user: %+v", refused)
	}
	yes = true
	if done := f.answer(t, "u", memory.ToolStatement, `{"confirm":["`+string(asked.ID)+`"]}`); done.Status != memory.StatusConfirmed ||
		!slices.Equal(done.IDs, []memory.ID{asked.ID}) {
		t.Errorf("confirmed: %+v", done)
	}
	if found := f.answer(t, "u", memory.ToolSearch, `{"query":"allergic nuts","top_k":1}`); len(found.Memories) != 1 ||
		found.Memories[0].ID != asked.ID {
		t.Errorf("found after: %+v", found)
	}
	if _, err := f.call(t, "v", memory.ToolNote, `{"confirm":["`+string(tagged.ID)+`"]}`); !fault.IsReason(err, fault.ResourceNotFound) {
		t.Errorf("another user confirms: %v", err)
	}
}

// TestEmbedderAway: what is accepted then is kept, found by its words, and embedded later.
func TestEmbedderAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.note(t, "u", "Lives in Rome.")
	f.embedder.set(true)
	lamp := f.note(t, "u", "Ordered a green lamp.")
	if found, err := f.Search(t.Context(), f.ref, "u", "lamp", 5); err != nil || len(found) != 1 || found[0].ID != lamp.ID {
		t.Errorf("while it is away: %v, %v", found, err)
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err == nil {
		t.Error("the sweep says nothing of an embedder that is away")
	}
	f.embedder.set(false)
	if found, err := f.Search(t.Context(), f.ref, "u", "which lamp", 1); err != nil || len(found) != 1 || found[0].ID != lamp.ID {
		t.Errorf("when it is back: %v, %v", found, err)
	}
	if item, err := f.Get(t.Context(), f.ref, "u", lamp.ID); err != nil || item.EmbeddingModel != "" {
		t.Errorf("it has a vector of %q, %v", item.EmbeddingModel, err)
	}
	f.clock.advance(time.Hour)
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if item, err := f.Get(t.Context(), f.ref, "u", lamp.ID); err != nil || item.EmbeddingModel != f.embedder.Model().Name {
		t.Errorf("after the sweep it has a vector of %q, %v", item.EmbeddingModel, err)
	}
	// Another model: found by words until the sweep has made the vectors anew.
	next := f.node(memory.Deps{Embedder: &embedder{Embedder: f.embedder, name: "next"}})
	if found, err := next.Search(t.Context(), f.ref, "u", "lamp", 5); err != nil || len(found) != 1 {
		t.Errorf("by another model: %v, %v", found, err)
	}
	f.clock.advance(time.Hour)
	if err := next.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	if item, err := f.Get(t.Context(), f.ref, "u", lamp.ID); err != nil || item.EmbeddingModel != "next" {
		t.Errorf("after the change it has a vector of %q, %v", item.EmbeddingModel, err)
	}
}

// TestExpiry: what has expired is read no more, and is deleted.
func TestExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	kept, err := f.Add(t.Context(), f.ref, memory.AddParams{UserID: "u", Text: "Is on holiday.", ExpiresAt: f.clock.now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	f.note(t, "u", "Likes lamps.")
	f.clock.advance(2 * time.Hour)
	if recalled, err := f.Recall(t.Context(), f.ref, "u", 0); err != nil || len(recalled.Items) != 1 {
		t.Errorf("recalled %v, %v", recalled.Items, err)
	}
	if found, err := f.Search(t.Context(), f.ref, "u", "holiday", 5); err != nil ||
		slices.ContainsFunc(found, func(one memory.Found) bool { return one.ID == kept.ID }) {
		t.Errorf("found %v, %v", found, err)
	}
	if texts := f.texts(t, f.ref, "u", ""); len(texts) != 1 {
		t.Errorf("listed %q", texts)
	}
	if err := f.Sweep(t.Context(), f.clock.now()); err != nil {
		t.Fatal(err)
	}
	_, err = f.Get(t.Context(), f.ref, "u", kept.ID)
	wantFault(t, err, fault.ResourceNotFound)
	if user, err := f.User(t.Context(), f.ref, "u"); err != nil || user.Memories != 1 {
		t.Errorf("counted %+v, %v", user, err)
	}
	// The same again is remembered anew, although nothing has swept.
	for range 2 {
		if again, err := f.Add(
			t.Context(), f.ref, memory.AddParams{UserID: "w", Text: "Is on holiday.", ExpiresAt: f.clock.now().Add(time.Hour)},
		); err != nil || again.Outcome != memory.Added {
			t.Errorf("%s, %v", again.Outcome, err)
		}
		f.clock.advance(2 * time.Hour)
	}
}

// TestRecall: what fits the budget, statements first; what another node changes is out at once.
func TestRecall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(memory.Deps{})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- f.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ran })
	name := f.state(t, "u", "My name is Ada.")
	for i := range 30 {
		f.note(t, "u", fmt.Sprint("Fact number ", i, " ", strings.Repeat("x", 100)))
	}
	recalled, err := f.Recall(t.Context(), f.ref, "u", 100)
	if err != nil || len(recalled.Items) != 3 || recalled.Items[0].ID != name.ID || !recalled.More ||
		!strings.HasPrefix(recalled.Items[1].Text, "Fact number 29") {
		t.Errorf("within 100 tokens: %v, more %v, %v", recalled.Items, recalled.More, err)
	}
	if all, err := f.Recall(t.Context(), f.ref, "u", 8000); err != nil || len(all.Items) != 31 || all.More {
		t.Errorf("within 8000 tokens: %d, more %v, %v", len(all.Items), all.More, err)
	}
	if _, err := other.Delete(t.Context(), f.ref, "u", name.ID); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		recalled, err := f.Recall(t.Context(), f.ref, "u", 100)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("another node's change is not seen: %v", err)
		}
		if recalled.Items[0].ID != name.ID {
			return
		}
		select { // until NOTIFY is here
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}
