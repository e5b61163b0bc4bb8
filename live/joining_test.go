package live_test

import (
	"context"
	"slices"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestChangesWhileJoining: a second socket is joining while an answer ends and an item is removed.
// It gets both, and the first socket gets nothing twice.
func TestChangesWhileJoining(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, on := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		_ = emit(model.TextDelta{Text: "First."})
		close(said)
		<-on
		return model.Result{FinishReason: model.FinishStop}, nil
	}, say("Second.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	here := f.join(t, f.Node, made)
	here.do(live.UserMessage{ItemID: "mine", Text: "one"})
	here.do(live.Respond{})
	received(t, "the answer", said)

	admission, err := f.Admit(t.Context(), live.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: sessions.VoiceChannel})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := f.JoinAfter(t.Context(), admission, func() {
		close(on)
		until[turns.ResponseDone](here)
		here.do(live.Remove{ItemID: "mine"})
		until[live.ItemRemoved](here)
	})
	if err != nil {
		t.Fatal(err)
	}
	there := &socket{t: t, Live: joined}
	t.Cleanup(func() { there.Leave(live.Dropped) })
	added, _ := until[live.ItemAdded](there)
	if added.Item.Kind != sessions.AssistantItem || added.Item.Text != "First." {
		t.Errorf("the second socket got %+v", added.Item)
	}
	here.do(live.UserMessage{Text: "two", After: "mine"})
	if failed, _ := until[live.Failed](here); !fault.IsReason(failed.Err, fault.InvalidRequest) {
		t.Errorf("put after what is removed: %v", failed.Err)
	}
	here.do(live.UserMessage{Text: "two"})
	here.do(live.Respond{})
	done, before := until[turns.ResponseDone](here)
	if done.Text != "Second." || slices.ContainsFunc(before, func(e turns.Event) bool { _, again := e.(live.AnswerEnded); return again }) {
		t.Errorf("%+v, before it %+v", done, before)
	}
}
