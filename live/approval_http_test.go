package live_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/approvals"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/workspaces"
)

// streaming is a turn that is streamed while the test goes on.
type streaming struct {
	eventListener
	over sync.WaitGroup
}

func (f *fixture) stream(t *testing.T, node *rooms.Node, id sessions.ID, params requests.Params) *streaming {
	t.Helper()
	s := &streaming{}
	s.over.Go(func() {
		if err := node.Stream(t.Context(), f.principal, id, params, s.receive); err != nil {
			t.Errorf("streaming: %v", err)
		}
	})
	return s
}

// asked waits until the listener is asked for approval.
func asked(t *testing.T, e *eventListener) sessions.Approval {
	t.Helper()
	var found sessions.Approval
	await(t, "a request for approval", func() bool {
		for _, event := range e.received() {
			if event.Type == requests.EventApproval {
				found = *event.Approval
			}
		}
		return found.CallID != ""
	})
	return found
}

func (f *fixture) approvals(t *testing.T, id sessions.ID, status sessions.ApprovalStatus) []sessions.Approval {
	t.Helper()
	list, _, err := f.Approvals.List(t.Context(), f.principal, id, status, postgres.PageParams{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestApprovalOverHTTP: a streamed turn asks for approval, and continues with the decision that
// another node got. So does a turn that is not streamed, whose caller finds the request in the
// list.
func TestApprovalOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := f.guarded(t)
	answers := pays(3)
	f.model = answers
	other := f.node(t)
	id := f.create(t).Session.ID
	heard := f.stream(t, f.Node, id, requests.Params{Text: "Pay five."})
	request := asked(t, &heard.eventListener)
	if request.Name != "pay" || string(request.Arguments) != `{"sum":5}` || request.TurnID != heard.received()[0].TurnID ||
		!request.ExpiresAt.After(f.clock.now()) {
		t.Errorf("asked %+v", request)
	}
	// A follower on another node is asked as well.
	elsewhere := &eventListener{}
	var following sync.WaitGroup
	following.Go(func() {
		if err := other.Follow(t.Context(), f.principal, id, request.TurnID, "", elsewhere.receive); err != nil {
			t.Errorf("following: %v", err)
		}
	})
	if again := asked(t, elsewhere); again.CallID != request.CallID {
		t.Errorf("asked elsewhere: %+v", again)
	}
	stranger, _ := f.tenant(t, "pro")
	yes, no := approvals.DecideParams{Approve: true}, approvals.DecideParams{Reason: "Too much."}
	for _, row := range []struct {
		who    workspaces.Principal
		id     sessions.ID
		call   string
		params approvals.DecideParams
		want   fault.Reason
	}{
		{stranger, id, request.CallID, yes, fault.ResourceNotFound},
		{f.principal, f.create(t).Session.ID, request.CallID, yes, fault.ResourceNotFound},
		{f.principal, id, idgen.New(idgen.ToolCall), yes, fault.ResourceNotFound},
		{f.principal, id, "nonsense\x00", yes, fault.ResourceNotFound},
		{f.principal, id, request.CallID, approvals.DecideParams{Reason: strings.Repeat("x", 501)}, fault.InvalidRequest},
	} {
		_, err := other.Approvals.Decide(t.Context(), row.who, row.id, row.call, row.params)
		wantReason(t, err, row.want)
	}
	if n := server.Count("tools/call"); n != 0 || len(f.approvals(t, id, sessions.ApprovalWaiting)) != 1 {
		t.Errorf("%d calls before the word", n)
	}
	key := f.principal
	key.KeyID = "key_of_the_back_end"
	for range 2 { // the same decision twice changes nothing
		if decided, err := other.Approvals.Decide(t.Context(), key, id, request.CallID, yes); err != nil ||
			decided.Status != sessions.ApprovalApproved || decided.DecidedBy != string(key.KeyID) {
			t.Errorf("decided %+v, %v", decided, err)
		}
	}
	_, err := f.Approvals.Decide(t.Context(), f.principal, id, request.CallID, no)
	wantReason(t, err, fault.ApprovalDecided)
	heard.over.Wait()
	following.Wait()
	if n := server.Count("tools/call"); n != 1 {
		t.Errorf("%d calls", n)
	}
	for where, e := range map[string]*eventListener{"here": &heard.eventListener, "elsewhere": elsewhere} {
		_, types := e.text()
		slices.Sort(types[2:]) // in the row, text comes before calls
		if strings.Join(types, " ") != "started approval_requested delta done tool_call" {
			t.Errorf("%s received %v", where, types)
		}
	}
	// Without a stream, with the session's token.
	var turn sessions.Turn
	var saying sync.WaitGroup
	saying.Go(func() { turn = f.turn(t, id, "Pay again.") })
	await(t, "the request in the list", func() bool { return len(f.approvals(t, id, sessions.ApprovalWaiting)) == 1 })
	waiting := f.approvals(t, id, sessions.ApprovalWaiting)[0]
	token := f.principal
	token.SessionID = string(id)
	if _, err := other.Approvals.Decide(t.Context(), token, id, waiting.CallID, no); err != nil {
		t.Error(err)
	}
	saying.Wait()
	call := turn.ToolCalls()[0]
	if call.ErrorCode != "not-approved" || !strings.Contains(call.Output, "Too much.") || call.Approval == nil ||
		call.Approval.DecidedBy != "session_token" || call.Approval.Reason != "Too much." {
		t.Errorf("not streamed: %+v, %+v", call, call.Approval)
	}
	taken := f.transcript(t, id)
	receipt, _, err := f.Receipt(t.Context(), f.principal, id, taken[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if by := receipt.ToolCalls[0].Approval; by == nil || by.DecidedBy != "key_of_the_back_end" ||
		by.Status != "approved" || taken[0].ToolCalls()[0].Approval.Status != "approved" {
		t.Errorf("the receipt tells %+v, the transcript %+v", by, taken[0].ToolCalls()[0].Approval)
	}
	// A cancelled turn's request is withdrawn.
	heard = f.stream(t, f.Node, id, requests.Params{Text: "Pay once more."})
	request = asked(t, &heard.eventListener)
	if _, err := f.CancelTurn(t.Context(), f.principal, id, request.TurnID); err != nil {
		t.Fatal(err)
	}
	heard.over.Wait()
	_, err = f.Approvals.Decide(t.Context(), f.principal, id, request.CallID, yes)
	wantReason(t, err, fault.ApprovalDecided)
	if all := f.approvals(t, id, ""); len(all) != 3 || all[0].Status != sessions.ApprovalWithdrawn ||
		all[1].Status != sessions.ApprovalDenied || all[2].Status != sessions.ApprovalApproved {
		t.Errorf("listed: %+v", all)
	}
	for _, event := range heard.received() {
		if event.Type == requests.EventToolCall && (event.ToolCall.Approval == nil ||
			event.ToolCall.Approval.Status != sessions.ApprovalWithdrawn) {
			t.Errorf("streamed: %+v", event.ToolCall)
		}
	}
	f.wantWithdrawn(t, id, 2)
	if f.traced(t, id, "") != 3 || f.traced(t, id, "canceled") != 1 {
		t.Errorf("%d calls traced, want all three", f.traced(t, id, ""))
	}
}

// wantWithdrawn fails unless the first call of a turn has a withdrawn approval in the transcript
// and in the receipt.
func (f *fixture) wantWithdrawn(t *testing.T, id sessions.ID, index int) {
	t.Helper()
	turn := f.transcript(t, id)[index]
	if by := turn.ToolCalls()[0].Approval; by == nil || by.Status != sessions.ApprovalWithdrawn || by.DecidedBy != "" {
		t.Errorf("in the transcript: %+v", by)
	}
	receipt, _, err := f.Receipt(t.Context(), f.principal, id, turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if by := receipt.ToolCalls[0].Approval; by == nil || by.Status != string(sessions.ApprovalWithdrawn) || by.DecidedBy != "" {
		t.Errorf("in the receipt: %+v", by)
	}
}

// TestApprovalAcrossNodes: a request of a socket is decided over HTTP, and a request of an HTTP
// turn by a socket on another node.
func TestApprovalAcrossNodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := f.guarded(t)
	f.model = pays(3)
	made := f.create(t)
	s := f.join(t, f.node(t), made)
	s.do(live.UserMessage{Text: "Pay five."})
	s.do(live.Respond{})
	request, _ := until[turns.ApprovalRequested](s)
	_, err := f.Approvals.Decide(t.Context(), f.principal, made.Session.ID, request.CallID, approvals.DecideParams{Approve: true})
	if err != nil {
		t.Fatal(err)
	}
	if done, _ := until[turns.ToolDone](s); done.Failed || done.Result.Approval == nil {
		t.Errorf("%+v", done)
	}
	until[turns.ResponseDone](s)
	heard := f.stream(t, f.Node, made.Session.ID, requests.Params{Text: "Pay again."})
	s.do(live.Approve{RequestID: "mcpr_" + asked(t, &heard.eventListener).CallID, Approved: true})
	heard.over.Wait()
	if n := server.Count("tools/call"); n != 2 {
		t.Errorf("%d calls", n)
	}
	// Without a decision the model is told, and a late decision is refused.
	hurried := f.hurriedNode(t)
	late := f.stream(t, hurried, made.Session.ID, requests.Params{Text: "And again."})
	late.over.Wait()
	last := asked(t, &late.eventListener)
	_, err = f.Approvals.Decide(t.Context(), f.principal, made.Session.ID, last.CallID, approvals.DecideParams{Approve: true})
	wantReason(t, err, fault.ApprovalDecided)
	taken := f.transcript(t, made.Session.ID)
	if call := taken[2].ToolCalls()[0]; call.ErrorCode != "not-approved" ||
		call.Approval.Status != sessions.ApprovalExpired || call.Approval.DecidedBy != "" {
		t.Errorf("%+v, %+v", call, call.Approval)
	}
}

// TestApprovalLost: a turn whose node is lost while it waits for approval is answered again with
// its caller's tools. The call that waited was not made, and its result says so.
func TestApprovalLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := f.guarded(t)
	answers := pays(1)
	answers.steps[1] = say("", model.NewToolCall("call_1", "beep", `{}`))
	f.model = answers
	other := f.node(t)
	id := f.create(t).Session.ID
	ctx, stop := context.WithCancel(t.Context())
	heard := &eventListener{}
	var first sync.WaitGroup
	t.Cleanup(first.Wait)
	t.Cleanup(stop)
	offered := requests.Params{Text: "Pay five.", ClientTools: []model.Tool{{
		Name: "beep", Description: "Beeps.",
		InputSchema: []byte(`{"type":"object"}`),
	}}}
	first.Go(func() { _ = f.Stream(ctx, f.principal, id, offered, heard.receive) }) // its node is lost
	request := asked(t, heard)
	after := &eventListener{}
	following := make(chan error, 1)
	go func() { following <- other.Follow(t.Context(), f.principal, id, request.TurnID, "", after.receive) }()
	asked(t, after)
	f.loseLease(t, id, 1)
	if err := <-following; err != nil {
		t.Fatal(err)
	}
	_, err := f.Approvals.Decide(t.Context(), f.principal, id, request.CallID, approvals.DecideParams{Approve: true})
	wantReason(t, err, fault.ApprovalDecided)
	turn := f.transcript(t, id)[0]
	calls := turn.ToolCalls()
	if len(calls) != 2 || calls[0].ErrorCode != "not-approved" || !strings.Contains(calls[0].Output, "was not made") ||
		server.Count("tools/call") != 0 {
		t.Errorf("the call that waited: %+v", calls)
	}
	f.wantWithdrawn(t, id, 0)
	if open := turn.OpenClientCalls(); turn.Losses != 1 || len(open) != 1 || open[0].Name != "beep" {
		t.Errorf("the caller's tools after %d losses: %+v", turn.Losses, calls)
	}
	kept := 1
	if err := f.db.QueryRowContext(t.Context(),
		"SELECT count(*) FROM turns WHERE tenant_id = ? AND client_tools IS NOT NULL",
		f.principal.TenantID).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d turns keep their caller's tools, %v", kept, err)
	}
}
