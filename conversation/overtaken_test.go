package conversation_test

import (
	"context"
	"slices"
	"testing"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

// TestOvertakenSocket has a second socket on its way while an answer ends and an item is removed: it learns of
// both, and the first is not told again of what it has.
func TestOvertakenSocket(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	said, on := make(chan struct{}), make(chan struct{})
	f.model = &script{steps: []step{func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		_ = emit(model.TextDelta{Text: "First."})
		close(said)
		<-on
		return model.Result{FinishReason: model.FinishStop}, nil
	}, say("Second.")}}
	made := f.create(t, func(p *conversation.CreateParams) { p.Modality = conversation.VoiceAndText })
	here := f.join(t, f.Service, made)
	here.do(conversation.UserMessage{ItemID: "mine", Text: "one"})
	here.do(conversation.Respond{})
	received(t, "the answer", said)

	admission, err := f.Admit(t.Context(), conversation.AdmitParams{SessionID: made.Session.ID, Token: made.Token, Channel: conversation.VoiceChannel})
	if err != nil {
		t.Fatal(err)
	}
	live, err := f.JoinAfter(t.Context(), admission, func() {
		close(on)
		until[conversation.ResponseDone](here)
		here.do(conversation.Remove{ItemID: "mine"})
		until[conversation.ItemRemoved](here)
	})
	if err != nil {
		t.Fatal(err)
	}
	there := &socket{t: t, Live: live}
	t.Cleanup(func() { there.Leave(conversation.Dropped) })
	added, _ := until[conversation.ItemAdded](there)
	if added.Item.Kind != conversation.AssistantItem || added.Item.Text != "First." {
		t.Errorf("the second socket was told of %+v", added.Item)
	}
	here.do(conversation.UserMessage{Text: "two", After: "mine"})
	if failed, _ := until[conversation.Failed](here); !fault.IsReason(failed.Err, fault.InvalidRequest) {
		t.Errorf("put behind what is removed: %v", failed.Err)
	}
	here.do(conversation.UserMessage{Text: "two"})
	here.do(conversation.Respond{})
	done, before := until[conversation.ResponseDone](here)
	if done.Text != "Second." || slices.ContainsFunc(before, func(e conversation.Event) bool { _, again := e.(conversation.AnswerEnded); return again }) {
		t.Errorf("%+v, before it %+v", done, before)
	}
}
