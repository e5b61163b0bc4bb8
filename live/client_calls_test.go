package live_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// pickers are tools that the test's client runs.
var pickers = []model.Tool{{Name: "pick"}, {Name: "choose"}}

// offer offers the pickers on the socket.
func (s *socket) offer() {
	s.t.Helper()
	s.do(live.Configure{ClientTools: pickers})
	until[live.Configured](s)
}

// ask sends a message and returns the calls that the client got, by name.
func (s *socket) ask(text string) map[string]string {
	s.t.Helper()
	s.do(live.UserMessage{Text: text})
	s.do(live.Respond{})
	_, before := until[turns.ResponseDone](s)
	calls := map[string]string{}
	for _, e := range before {
		if called, ok := e.(turns.ClientToolCalled); ok {
			calls[called.Name] = called.CallID
		}
	}
	return calls
}

// refusal returns the error of the next Failed.
func (s *socket) refusal() *fault.Error {
	s.t.Helper()
	failed, _ := until[live.Failed](s)
	return failed.Err
}

// traces returns the session's recorded calls, oldest first.
func (f *fixture) traces(t *testing.T, id sessions.ID) []tools.Call {
	t.Helper()
	traces, _, err := f.tools.ListCallsOfSession(t.Context(), f.ref, tools.CallFilter{SessionID: string(id)}, postgres.PageParams{})
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// withTimeout sets the agent's time-out of client tools.
func (f *fixture) withTimeout(t *testing.T, seconds int) {
	t.Helper()
	f.agent = f.newAgent(t, f.ref, agents.Config{ClientToolTimeoutSeconds: seconds})
}

// TestClientCallsTogether: the answer to parallel calls waits for all of their results, and is
// given once although the client asks for it after each result, as the agents SDK does.
func TestClientCallsTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 120)
	answers := &script{steps: []step{say("", call("pick", `{"n":1}`), call("choose", `{}`)), say("Both."), say("Next.")}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.offer()
	calls := s.ask("go")
	s.do(live.ToolOutput{CallID: calls["pick"], Output: "red"})
	s.do(live.Respond{CommandID: "r1"})
	for range 50 { // an answer that does not wait would have begun by then
		f.get(t, made.Session.ID)
	}
	if asked := answers.requests(); len(asked) != 1 {
		t.Error("the model was asked before both results were there")
	}
	s.do(live.ToolOutput{CallID: calls["choose"], Output: "blue", IsError: true})
	s.do(live.Respond{CommandID: "r2"})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Both." {
		t.Errorf("answered %+v", done)
	}
	if next := s.ask("and"); len(next) != 0 {
		t.Errorf("called %v", next)
	}
	asked := answers.requests()
	if len(asked) != 3 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	if last := asked[2].Messages[len(asked[2].Messages)-1]; last.Text != "and" {
		t.Errorf("the third answer is to %q", last.Text)
	}
	if first, second := resultText(t, asked[1], 0), resultText(t, asked[1], 1); first != "red" || !strings.Contains(second,
		"blue") || !strings.Contains(second, "client-error") {
		t.Errorf("the model was told %q and %q", first, second)
	}
	recorded := f.transcript(t, made.Session.ID)[0].ToolCalls()
	if len(recorded) != 2 || recorded[0].Output != "red" || recorded[1].ErrorCode != "client-error" || recorded[0].ToolID != "client:pick" {
		t.Errorf("recorded %+v", recorded)
	}
	traces := f.traces(t, made.Session.ID)
	if len(traces) != 2 || traces[0].ToolID != "client:pick" || traces[0].Output != "red" ||
		string(traces[0].Input) != `{"n": 1}` || traces[1].ErrorCode != "client-error" {
		t.Errorf("traced %+v", traces)
	}
}

// TestRespondsAfterResults: a client that asks for an answer after each result of parallel calls
// gets one answer, however many results there are. Answers that it asks for later, or marks as
// awaited, it gets as well.
func TestRespondsAfterResults(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 3, 6} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.withTimeout(t, 120)
			var calls []model.ToolCall
			for i := range count {
				calls = append(calls, model.NewToolCall("call_"+strconv.Itoa(i), "pick", `{}`))
			}
			answers := &script{steps: []step{say("", calls...), say("All."), say("More."), say("Marked.")}}
			f.model = answers
			s := f.join(t, f.Node, f.create(t))
			s.offer()
			s.ask("go")
			var ids []string
			for _, open := range f.transcript(t, s.Session().ID)[0].OpenClientCalls() {
				ids = append(ids, open.ID)
			}
			for _, id := range ids {
				s.do(live.ToolOutput{CallID: id, Output: "red"})
				s.do(live.Respond{})
			}
			want := func(text string) {
				t.Helper()
				if done, _ := until[turns.ResponseDone](s); done.Text != text {
					t.Errorf("answered %q, want %q", done.Text, text)
				}
			}
			want("All.")
			s.do(live.Respond{})
			want("More.")
			s.do(live.Respond{Awaited: true})
			want("Marked.")
			if asked := len(answers.requests()); asked != 4 {
				t.Errorf("the model was asked %d times", asked)
			}
		})
	}
}

// TestClientResultsRespondOnce: parallel calls get one answer too when the results themselves ask
// for it.
func TestClientResultsRespondOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 120)
	answers := &script{steps: []step{say("", call("pick", `{}`), call("choose", `{}`)), say("Both."), say("Next.")}}
	f.model = answers
	s := f.join(t, f.Node, f.create(t))
	s.offer()
	calls := s.ask("go")
	for _, name := range []string{"pick", "choose"} {
		s.do(live.ToolOutput{CallID: calls[name], Output: name, Respond: true})
	}
	if done, _ := until[turns.ResponseDone](s); done.Text != "Both." {
		t.Errorf("answered %+v", done)
	}
	s.do(live.UserMessage{Text: "and"})
	s.do(live.Respond{IfUnanswered: true})
	done, _ := until[turns.ResponseDone](s)
	asked := answers.requests()
	if last := asked[len(asked)-1].Messages; done.Text != "Next." || last[len(last)-1].Text != "and" || len(asked) != 3 {
		t.Errorf("then %q, the %dth answer, is to %q", done.Text, len(asked), last[len(last)-1].Text)
	}
}

// TestClientResultsRefused: results for unknown calls, second results and results that are too
// large change nothing.
func TestClientResultsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 120)
	f.attach(t, "find_order", "GET", 0)
	answers := &script{steps: []step{say("", call("pick", `{}`)), say("Done."), say("", call("find_order", `{"id":"a"}`)), say("Found.")}}
	f.model = answers
	made := f.create(t, withPin)
	s := f.join(t, f.Node, made)
	s.offer()
	calls := s.ask("go")
	for name, output := range map[string]live.ToolOutput{
		"unknown": {CallID: "call_of_nobody", Output: "x"},
		"large":   {CallID: calls["pick"], Output: strings.Repeat("x", turns.MaxClientOutputBytes+1)},
		"NUL":     {CallID: calls["pick"], Output: "a\x00"},
		"no call": {Output: "x"},
	} {
		s.do(output)
		if err := s.refusal(); err.Reason != fault.InvalidRequest || len(err.Fields) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.do(live.ToolOutput{CallID: calls["pick"], Output: strings.Repeat("y", tools.ModelMaxBytes+10)})
	s.do(live.ToolOutput{CallID: calls["pick"], Output: "again"})
	if err := s.refusal(); err.Fields[0].Code != "answered" {
		t.Errorf("twice: %v", err)
	}
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	if cut := resultText(t, answers.requests()[1], 0); len(cut) > tools.ModelMaxBytes+100 || !strings.Contains(cut, "[cut:") {
		t.Errorf("the model was told %d bytes", len(cut))
	}
	s.ask("order")
	last := f.transcript(t, made.Session.ID)
	served := last[len(last)-1].ToolCalls()[0].ID
	s.do(live.ToolOutput{CallID: served, Output: "forged"})
	if err := s.refusal(); err.Reason != fault.InvalidRequest {
		t.Errorf("a call of the service: %v", err)
	}
	if traces := f.traces(t, made.Session.ID); len(traces) != 2 {
		t.Errorf("%d traces", len(traces))
	}
}

// TestClientCallTimesOut: when a call's time is over the model is told, and continues without a
// Respond.
func TestClientCallTimesOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 1)
	answers := &script{steps: []step{say("", call("pick", `{}`)), say("I could not find out.")}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.offer()
	calls := s.ask("go")
	if done, _ := until[turns.ResponseDone](s); done.Text != "I could not find out." {
		t.Errorf("answered %+v", done)
	}
	if words := resultText(t, answers.requests()[1], 0); !strings.Contains(words, "(timeout)") || !strings.Contains(words, "within 1 s") {
		t.Errorf("the model was told %q", words)
	}
	s.do(live.ToolOutput{CallID: calls["pick"], Output: "late"})
	if err := s.refusal(); err.Fields[0].Code != "answered" {
		t.Errorf("too late: %v", err)
	}
	if recorded := f.onlyCall(t, made.Session.ID); recorded.ErrorCode != "timeout" {
		t.Errorf("recorded %+v", recorded)
	}
	if traces := f.traces(t, made.Session.ID); len(traces) != 1 || traces[0].ErrorCode != "timeout" {
		t.Errorf("traced %+v", traces)
	}
}

// TestClientThatNeverAnswers: a model that calls the client's tool again whenever its time was over
// is not asked without end while nobody is there, and goes on when the user speaks.
func TestClientThatNeverAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 1)
	answers := &script{steps: []step{
		say("", call("pick", `{}`)), say("", call("pick", `{}`)), say("", call("pick", `{}`)), say("Here again."),
	}}
	f.model = answers
	s := f.join(t, f.Node, f.create(t))
	s.offer()
	s.ask("go")
	for expired := 0; expired < 3; { // each unanswered call becomes an item
		if added, _ := until[live.ItemAdded](s); added.Item.Kind == sessions.ToolOutputItem {
			expired++
		}
	}
	s.ask("hello?")
	asked := answers.requests()
	if len(asked) != 4 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	if last := asked[3].Messages[len(asked[3].Messages)-1]; last.Text != "hello?" {
		t.Errorf("the fourth answer is to %q", last.Text)
	}
}

// TestClientReturnsWithTheResult: a call outlives its socket and its node.
func TestClientReturnsWithTheResult(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 120)
	other := f.node(t)
	answers := &script{steps: []step{
		say("", call("pick", `{}`)), say("Red, then."), say("", call("pick", `{}`)),
		say("No client."), say("", call("pick", `{}`)),
	}}
	f.model = answers
	made := f.create(t)
	first := f.join(t, f.Node, made)
	first.offer()
	calls := first.ask("go")
	first.Leave(live.Dropped)
	second := f.join(t, other, made)
	second.do(live.ToolOutput{CallID: calls["pick"], Output: "red", Respond: true})
	if done, _ := until[turns.ResponseDone](second); done.Text != "Red, then." {
		t.Errorf("answered %+v", done)
	}
	// Over HTTP no client runs tools, and this socket runs none.
	f.turn(t, made.Session.ID, "again")
	asked := answers.requests()
	names := func(req model.Request) (names []string) {
		for _, tool := range req.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if slices.Contains(names(asked[2]), "pick") || !slices.Contains(names(asked[0]), "pick") {
		t.Errorf("offered %v, then %v", names(asked[0]), names(asked[2]))
	}
	if words := resultText(t, asked[3], 1); !strings.Contains(words, "unknown-tool") {
		t.Errorf("the model was told %q", words)
	}
	// A call without a result gets one when the session ends.
	second.offer()
	second.ask("once more")
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	taken := f.transcript(t, made.Session.ID)
	if left := taken[len(taken)-1].ToolCalls(); len(left) != 1 || left[0].ErrorCode != "unknown" || left[0].Output == "" {
		t.Errorf("at the end: %+v", left)
	}
}

// TestUserSpeaksBeforeTheResult: a user's message is answered although a call has no result yet.
func TestUserSpeaksBeforeTheResult(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.withTimeout(t, 120)
	answers := &script{steps: []step{say("", call("pick", `{}`)), say("Never mind."), say("Red.")}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.offer()
	calls := s.ask("go")
	s.ask("Forget it.")
	if words := resultText(t, answers.requests()[1], 0); !strings.Contains(words, "not answered") {
		t.Errorf("the model was told %q", words)
	}
	s.do(live.ToolOutput{CallID: calls["pick"], Output: "red", Respond: true})
	if done, _ := until[turns.ResponseDone](s); done.Text != "Red." {
		t.Errorf("answered %+v", done)
	}
}
