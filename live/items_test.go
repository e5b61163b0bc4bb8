package live_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// speak marks the one message of the session's last turn as spoken.
func (f *fixture) speak(t *testing.T, id sessions.ID, lengthMS int) {
	t.Helper()
	_, err := f.db.ExecContext(t.Context(), `
		UPDATE turns
		SET messages = jsonb_set(CAST(messages AS jsonb), '{1,audio}', jsonb_build_object('length_ms', ?, 'transcribed', true))
		WHERE session_id = ? AND index = 0`, lengthMS, id)
	if err != nil {
		t.Fatal(err)
	}
}

// speakAnswer has a question answered aloud, and returns the answer's item.
func (s *socket) speakAnswer(question string) string {
	s.t.Helper()
	s.do(live.UserMessage{Text: question})
	s.do(live.Respond{Spoken: true})
	done, _ := until[turns.ResponseDone](s)
	return done.Items[0].ID
}

func TestTruncateSpoken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	script := &script{steps: []step{say("The parcel comes on Friday morning."), say("Yes."), say("HTTP.")}}
	f.model = script
	other := f.node(t)
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	here, there := f.join(t, f.Node, made), f.joinChannel(t, other, made, sessions.VoiceChannel)
	here.do(live.UserMessage{Text: "When?"})
	here.do(live.Respond{})
	done, _ := until[turns.ResponseDone](here)
	f.speak(t, made.Session.ID, 2000)
	item := done.Items[0].ID

	here.do(live.Truncate{ItemID: item, AudioEndMS: 2001})
	if failed, _ := until[live.Failed](here); fault.ReasonOf(failed.Err) != fault.InvalidRequest ||
		failed.Err.Fields[0].Field != "audio_end_ms" {
		t.Errorf("after the end: %+v", failed.Err)
	}
	here.do(live.Truncate{CommandID: "c", ItemID: item, AudioEndMS: 1000})
	cut, _ := until[live.ItemTruncated](here)
	if cut.CommandID != "c" || cut.AudioEndMS != 1000 || cut.Text != "The parcel comes" {
		t.Errorf("cut %+v", cut)
	}
	if cut, _ := until[live.ItemTruncated](there); cut.CommandID != "" || cut.ItemID != item || cut.Text != "The parcel comes" {
		t.Errorf("on the other node: %+v", cut)
	}
	there.do(live.UserMessage{Text: "Really?"})
	there.do(live.Respond{})
	until[turns.ResponseDone](there)
	asked := script.requests()
	if said := asked[1].Messages; len(said) != 3 || said[1].Text != "The parcel comes" {
		t.Errorf("the model saw %+v", said)
	}
	turn := f.transcript(t, made.Session.ID)[0]
	if turn.AgentText != "The parcel comes on Friday morning." || len(turn.Items) != 1 || turn.Items[0].Text != turn.AgentText ||
		turn.Items[0].Cut == nil || turn.Items[0].Cut.Text != "The parcel comes" || turn.Items[0].Cut.AudioEndMS != 1000 {
		t.Errorf("the transcript has %q and %+v", turn.AgentText, turn.Items)
	}
	// A returning socket gets the text that was heard.
	here.Leave(live.Dropped)
	back := f.join(t, other, made)
	if history := back.History(); len(history) != 4 || history[1].Text != "The parcel comes" {
		t.Errorf("history %+v", history)
	}
	// Nothing was heard: the model does not see the message.
	there.do(live.Truncate{ItemID: item, AudioEndMS: 0})
	until[live.ItemTruncated](there)
	f.turn(t, made.Session.ID, "Hm.")
	if said := script.requests()[2].Messages; len(said) != 4 || said[1].Text != "Really?" {
		t.Errorf("the model saw %+v", said)
	}
}

// TestHeardBySocketThatIsGone: what was heard of an answer is noted also when its socket was
// replaced, or lost, before it could say so.
func TestHeardBySocketThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("The parcel comes on Friday morning."), say("It comes at nine.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	replaced := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	heard := func(s *socket, item, text string) {
		s.do(live.Truncate{CommandID: "cut", ItemID: item, AudioEndMS: 700, HeardText: &text})
	}
	first := replaced.speakAnswer("When?")
	lost := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	heard(replaced, first, "The parcel")
	if cut, _ := until[live.ItemTruncated](lost); cut.ItemID != first || cut.Text != "The parcel" {
		t.Errorf("of the replaced socket: %+v", cut)
	}
	second := lost.speakAnswer("At what time?")
	lost.Detach()
	heard(lost, second, "It comes")
	await(t, "what the lost socket has heard", func() bool {
		edit := f.get(t, made.Session.ID).ItemEdits[second]
		return edit.Cut != nil && edit.Cut.Text == "It comes"
	})
}

// TestHeardWhileDatabaseIsSlow: what was heard on a node that the conversation has left can be
// noted again when the database does not answer in time. There is nothing to note of an item that
// is not there.
func TestHeardWhileDatabaseIsSlow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("The parcel comes on Friday morning.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	s := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	item := s.speakAnswer("When?")
	s.Leave(live.Dropped)
	text := "The parcel"
	cut := live.Truncate{ItemID: item, AudioEndMS: 700, HeardText: &text}
	tx := f.holdRow(t, made.Session.ID)
	ctx, stop := context.WithCancel(t.Context())
	noted := make(chan error, 1)
	go func() { noted <- s.CutHeard(ctx, cut) }()
	f.awaitLock(t)
	stop()
	if err := <-noted; err == nil {
		t.Error("said to be noted while the row is locked")
	}
	_ = tx.Rollback(t.Context())
	if err := s.CutHeard(t.Context(), cut); err != nil {
		t.Error(err)
	}
	if edit := f.get(t, made.Session.ID).ItemEdits[cut.ItemID]; edit.Cut == nil || edit.Cut.Text != text {
		t.Errorf("noted %+v", edit)
	}
	cut.ItemID = "item_none"
	if err := s.CutHeard(t.Context(), cut); err != nil {
		t.Errorf("of an item that is not there: %v", err)
	}
}

// TestHeardAtTheEnd: what was heard of the last answer can be noted, once, when the session has
// ended while it was said.
func TestHeardAtTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("The parcel comes on Friday morning."), say("At nine.")}}
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.Voice })
	s := f.joinChannel(t, f.Node, made, sessions.VoiceChannel)
	first, second := s.speakAnswer("When?"), s.speakAnswer("At what time?")
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	heard := func(item, text string) {
		t.Helper()
		if err := s.CutHeard(t.Context(), live.Truncate{ItemID: item, AudioEndMS: 700, HeardText: &text}); err != nil {
			t.Error(err)
		}
	}
	heard(first, "The parcel")
	heard(first, "The parcel comes")
	f.clock.advance(time.Hour)
	heard(second, "At")
	edits := f.get(t, made.Session.ID).ItemEdits
	if cut := edits[first].Cut; len(edits) != 1 || cut == nil || cut.Text != "The parcel" {
		t.Errorf("noted %+v", edits)
	}
}

// TestRemovedOnAnotherNode: an item that was said on one node is removed on the other.
func TestRemovedOnAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	there := f.joinChannel(t, other, made, sessions.VoiceChannel)
	here := f.join(t, f.Node, made)
	here.do(live.UserMessage{ItemID: "mine <é>", Text: "Forget this."})
	until[live.ItemAdded](here)
	there.do(live.Insert{ItemID: "note", After: "mine <é>", Kind: sessions.SystemItem, Text: "Behind it."})
	if added, _ := until[live.ItemAdded](there); added.Item.ID != "note" || added.PreviousItemID != "mine <é>" {
		t.Errorf("after an item of the other node: %+v", added)
	}
	there.do(live.Remove{ItemID: "mine <é>"})
	until[live.ItemRemoved](there)
	if removed, _ := until[live.ItemRemoved](here); removed.ItemID != "mine <é>" {
		t.Errorf("removed %+v", removed)
	}
	if edits := f.get(t, made.Session.ID).ItemEdits; !edits["mine <é>"].Removed {
		t.Errorf("edits %+v", edits)
	}
	here.do(live.Insert{Kind: sessions.ToolItem, Text: "x"})
	if failed, _ := until[live.Failed](here); fault.ReasonOf(failed.Err) != fault.InvalidRequest {
		t.Errorf("a call of ours was put in: %+v", failed)
	}
}

// TestResultOfAnInsertedCall: the result of a call that the client itself inserted is an item, in
// the call's turn or after it.
func TestResultOfAnInsertedCall(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		t.Run(map[bool]string{false: "SameTurn", true: "LaterTurn"}[later], func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			script := &script{steps: []step{say("One."), say("Two."), say("Three.")}}
			f.model = script
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.Insert{ItemID: "call", Kind: sessions.ClientToolCallItem, CallID: "c", Name: "look"})
			if later {
				s.do(live.Respond{})
				until[turns.ResponseDone](s)
			}
			s.do(live.ToolOutput{ItemID: "result", CallID: "c", Output: "a door"})
			s.do(live.Respond{})
			until[turns.ResponseDone](s)
			s.do(live.Retrieve{ItemID: "result"})
			if found, _ := until[live.ItemRetrieved](s); found.Item.Kind != sessions.ToolOutputItem || found.Item.Text != "a door" {
				t.Errorf("retrieved %+v", found.Item)
			}
			if seen := script.lastTexts(); len(seen) < 2 || !strings.Contains(seen[1], "a door") {
				t.Errorf("the model saw %q", seen)
			}
			s.Leave(live.Dropped)
			back := f.join(t, f.Node, made)
			results := 0
			for _, item := range back.History() {
				if item.ID == "result" {
					results++
				}
			}
			if results != 1 {
				t.Errorf("who comes back sees it %d times: %+v", results, back.History())
			}
			back.do(live.Remove{ItemID: "result"})
			until[live.ItemRemoved](back)
			back.do(live.Respond{})
			until[turns.ResponseDone](back)
			if seen := script.lastTexts(); strings.Contains(strings.Join(seen, " "), "a door") {
				t.Errorf("the model saw %q", seen)
			}
			removed := 0
			for _, turn := range f.transcript(t, made.Session.ID) {
				for _, item := range turn.Items {
					if item.ID == "result" && item.Removed && item.Text == "a door" {
						removed++
					}
				}
			}
			if removed != 1 {
				t.Errorf("the transcript has it %d times", removed)
			}
		})
	}
}
