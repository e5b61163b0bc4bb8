package live_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/mcpserver"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// guarded attaches a tool of an MCP server that requires the client's approval.
func (f *fixture) guarded(t *testing.T) *mcpserver.Server {
	t.Helper()
	server := mcpserver.New(t)
	t.Cleanup(f.tools.Close)
	server.Tool("pay", "Pays.", `{"type":"object","properties":{"sum":{"type":"integer"}}}`, mcpserver.Text("Paid."))
	tool, err := f.tools.Create(t.Context(), f.ref, tools.CreateParams{
		Slug: "pay", Description: "Pays.", Kind: tools.KindMCP, Config: tools.Config{
			MCPServerURL: server.URL,
			MCPToolName:  "pay", Approval: tools.ApprovalAlways,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.tools.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID, Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return server
}

// pays is a model that calls the tool and then answers.
func pays(taken int) *script {
	answers := &script{}
	for range taken {
		answers.steps = append(answers.steps, say("", model.NewToolCall("call_0", "pay", `{"sum":5}`)), say("Told."))
	}
	return answers
}

// TestApproval: a call is made when the client approves it, and only then.
func TestApproval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := f.guarded(t)
	answers := pays(2)
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	for i, row := range []struct {
		word live.Approve
		told string
		code string
	}{
		{live.Approve{Reason: "Too much."}, "Too much.", "not-approved"},
		{live.Approve{Approved: true}, "Paid.", ""},
	} {
		s.do(live.UserMessage{Text: "Pay five."})
		s.do(live.Respond{})
		asked, before := until[turns.ApprovalRequested](s)
		if started, ok := before[len(before)-1].(turns.ToolStarted); !ok || started.CallID != asked.CallID ||
			asked.Name != "pay" || string(asked.Arguments) != `{"sum":5}` {
			t.Errorf("asked %+v after %+v", asked, before)
		}
		if n := server.Count("tools/call"); n != 0 {
			t.Errorf("%d calls before the client's word", n)
		}
		s.do(live.Approve{RequestID: "mcpr_another", Approved: true})
		if err := s.refusal(); err.Reason != fault.InvalidRequest {
			t.Errorf("another request: %v", err)
		}
		row.word.RequestID = asked.RequestID
		s.do(row.word)
		done, _ := until[turns.ToolDone](s)
		if done.Result.ErrorCode != row.code || !strings.Contains(done.Output, row.told) {
			t.Errorf("%+v: %+v", row.word, done)
		}
		until[turns.ResponseDone](s)
		if words := resultText(t, answers.requests()[2*i+1], i); !strings.Contains(words, row.told) {
			t.Errorf("the model was told %q", words)
		}
	}
	s.do(live.Approve{RequestID: "mcpr_late", Approved: true})
	if err := s.refusal(); err.Reason != fault.InvalidRequest {
		t.Errorf("nothing waits: %v", err)
	}
	if n := server.Count("tools/call"); n != 1 {
		t.Errorf("%d calls", n)
	}
	for i, want := range []sessions.ApprovalStatus{sessions.ApprovalDenied, sessions.ApprovalApproved} {
		if calls := f.transcript(t, made.Session.ID)[i].ToolCalls(); calls[0].Approval == nil ||
			calls[0].Approval.Status != want || calls[0].Approval.DecidedBy != "socket" {
			t.Errorf("turn %d tells %+v", i, calls[0].Approval)
		}
	}
	traces := f.traces(t, made.Session.ID)
	if len(traces) != 2 || traces[0].ErrorCode != "not-approved" || traces[0].Attempts != 0 || traces[1].ErrorCode != "" {
		t.Errorf("traced %+v", traces)
	}
}

// TestApprovalExpires: a call without a decision is not made.
func TestApprovalExpires(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server := f.guarded(t)
	f.model = pays(2)
	hurried := f.hurriedNode(t)
	made := f.create(t)
	s := f.join(t, hurried, made)
	s.do(live.UserMessage{Text: "Pay five."})
	s.do(live.Respond{})
	asked, _ := until[turns.ApprovalRequested](s)
	done, _ := until[turns.ToolDone](s)
	until[turns.ResponseDone](s)
	if done.Result.ErrorCode != "not-approved" || !strings.Contains(done.Output, "in time") {
		t.Errorf("%+v", done)
	}
	s.do(live.Approve{RequestID: asked.RequestID, Approved: true})
	if err := s.refusal(); err.Reason != fault.InvalidRequest {
		t.Errorf("too late: %v", err)
	}
	if n := server.Count("tools/call"); n != 0 {
		t.Errorf("%d calls", n)
	}
}
