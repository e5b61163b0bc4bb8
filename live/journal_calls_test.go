package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// TestJournalCalls: while Postgres is unavailable a tool is called, a tool with bounded calls is
// not, the client answers its own call, a call is approved, and end_call ends the session.
// Afterwards all of it is stored once, also when the server is killed before it records that it has
// stored it and stores it again.
func TestJournalCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "free", "POST", 0)
	f.attach(t, "counted", "POST", 5)
	server := f.guarded(t)
	f.model = &script{steps: []step{
		say("First."),
		say("", model.NewToolCall("a", "free", `{"id":"x"}`), model.NewToolCall("b", "counted", `{"id":"x"}`),
			model.NewToolCall("c", "pay", `{"sum":5}`)), say("Called."),
		say("", call("beep", `{}`)), say("Beeped."),
		say("Bye.", call("end_call", `{}`)),
	}}
	dir := t.TempDir()
	r := newRemote(t, f, dir, 1<<20)
	made := f.create(t, withPin)
	id := made.Session.ID
	s := f.join(t, r.Node, made)
	s.do(live.Configure{ClientTools: []model.Tool{{Name: "beep", Description: "Beeps."}}})
	until[live.Configured](s)
	talk(s, "one")
	r.wire.down()
	s.do(live.UserMessage{Text: "two"})
	s.do(live.Respond{})
	request, _ := until[turns.ApprovalRequested](s)
	s.do(live.Approve{RequestID: request.RequestID, Approved: true})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Called." {
		t.Fatalf("answered %+v", done)
	}
	s.do(live.UserMessage{Text: "three"})
	s.do(live.Respond{})
	beep, _ := until[turns.ClientToolCalled](s)
	until[turns.ResponseDone](s)
	s.do(live.ToolOutput{CallID: beep.CallID, Output: "Beep!", Respond: true})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Beeped." {
		t.Fatalf("answered %+v", done)
	}
	if done, _ := talk(s, "four"); done.Text != "Bye." {
		t.Fatalf("answered %+v", done)
	}
	if closed, _ := until[live.Closed](s); !closed.Ended || closed.Reason != sessions.ReasonEndCall {
		t.Errorf("closed with %+v", closed)
	}
	again := t.TempDir()
	if err := os.CopyFS(again, os.DirFS(dir)); err != nil { // the journal of a server that is killed now
		t.Fatal(err)
	}
	r.wire.mend()
	await(t, "the end of the session", func() bool { return f.get(t, id).Closed() })
	await(t, "the end of the replay", func() bool { return r.wal.Stats().Records == 0 })
	check := func(when string) {
		t.Helper()
		taken := f.transcript(t, id)
		want := "0 completed one→First.; 1 completed two→Called. spilled; " +
			"2 completed three→ spilled; 3 completed →Beeped. spilled; 4 completed four→Bye. spilled; "
		if got := oneLine(taken); got != want {
			t.Fatalf("%s: %s", when, got)
		}
		codes := ""
		for _, one := range taken[1].ToolCalls() {
			codes += one.Name + " " + one.ErrorCode + ";"
		}
		if pay := taken[1].ToolCalls()[2]; pay.Approval == nil || pay.Approval.Status != sessions.ApprovalApproved ||
			pay.Approval.DecidedBy != "socket" {
			t.Errorf("%s: approved %+v", when, pay.Approval)
		}
		if !strings.HasPrefix(codes, "free ;counted ") || strings.Contains(codes, "counted ;") || !strings.HasSuffix(codes, "pay ;") {
			t.Errorf("%s: calls %s", when, codes)
		}
		if calls := taken[2].ToolCalls(); len(calls) != 1 || calls[0].Output != "Beep!" {
			t.Errorf("%s: the client's call %+v", when, calls)
		}
		if session := f.get(t, id); session.Status != sessions.Completed ||
			session.EndReason != sessions.ReasonEndCall || session.TurnCount != 5 || session.ToolCalls != 5 {
			t.Errorf("%s: %s, %s, %d turns, %d calls", when, session.Status, session.EndReason, session.TurnCount, session.ToolCalls)
		}
		if calls := f.postCalls(t, id); len(calls) != 1 {
			t.Errorf("%s: announced %d times", when, len(calls))
		}
		if got := f.failures(t, id); len(got) != 4 {
			t.Errorf("%s: events %v", when, got)
		}
		if traces := f.traces(t, id); len(traces) != 5 {
			t.Errorf("%s: %d traces", when, len(traces))
		}
	}
	check("after the outage")
	second := newRemote(t, f, again, 1<<20)
	await(t, "the records of the killed server", func() bool {
		left, err := wal.Inspect(again)
		return err == nil && len(left.Waiting) == 0 && second.wal.Stats().Records == 0
	})
	check("written a second time")
	if n := server.Count("tools/call"); n != 1 || len(f.endpoint.Requests("/free")) != 1 || len(f.endpoint.Requests("/counted")) != 0 {
		t.Errorf("%d, %d and %d calls", n, len(f.endpoint.Requests("/free")), len(f.endpoint.Requests("/counted")))
	}
	if stats := second.wal.Stats(); stats.Aside != 0 {
		left, _ := filepath.Glob(filepath.Join(again, "aside", "*"))
		t.Errorf("put aside: %v", left)
	}
}

// TestJournalAndAnotherNode: a node that has lost Postgres answers a turn, and so does the node
// where the client is meanwhile. The transcript has the answer that was recorded first, and the
// session continues.
func TestJournalAndAnotherNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	saying, goOn := make(chan struct{}, 1), make(chan struct{})
	f.model = &script{steps: []step{paused(saying, goOn), say("Elsewhere."), say("More.")}}
	r := newRemote(t, f, t.TempDir(), 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	s.do(live.UserMessage{Text: "one"})
	s.do(live.Respond{})
	<-saying
	r.wire.down()
	f.clock.advance(time.Minute) // the turn's lease has expired
	there := f.join(t, f.Node, made)
	if done, _ := until[turns.ResponseDone](there); done.Text != "Elsewhere." {
		t.Fatalf("answered with %+v", done)
	}
	close(goOn)
	if done, _ := until[turns.ResponseDone](s); done.Text != "Half and half." {
		t.Errorf("the answer that went out: %+v", done)
	}
	r.wire.mend()
	await(t, "the end of the replay", func() bool { return r.wal.Stats().Records == 0 && f.get(t, made.Session.ID).JournalUntil.IsZero() })
	if done, _ := talk(there, "two"); done.Text != "More." {
		t.Errorf("the next answer: %+v", done)
	}
	if got := oneLine(f.transcript(t, made.Session.ID)); got != "0 completed one→Elsewhere.; 1 completed two→More.; " {
		t.Errorf("transcript: %s", got)
	}
	if stats := r.wal.Stats(); stats.Aside != 1 || !strings.Contains(r.log.String(), "kept aside") {
		t.Errorf("the other answer: %+v", stats)
	}
}
