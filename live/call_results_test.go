package live_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// resultText returns the text of the n-th result in a request.
func resultText(t *testing.T, req model.Request, n int) string {
	t.Helper()
	var results []string
	for _, m := range req.Messages {
		if m.Role == model.RoleTool {
			results = append(results, m.Bare)
		}
	}
	if n >= len(results) {
		t.Fatalf("the model was told %q", results)
	}
	return results[n]
}

// countedCalls returns how many calls the session counts. The transcript and the receipts of its
// turns, all of which have ended, must have as many.
func (f *fixture) countedCalls(t *testing.T, id sessions.ID) int {
	t.Helper()
	counted, taken, proven := f.get(t, id).ToolCalls, 0, 0
	for _, turn := range f.transcript(t, id) {
		taken += len(turn.ToolCalls())
		receipt, _, err := f.Receipt(t.Context(), f.principal, id, turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		proven += len(receipt.ToolCalls)
	}
	if traced := f.traced(t, id, ""); taken != counted || proven != counted || traced > counted {
		t.Errorf("the session counts %d calls, the transcript has %d, the receipts %d, %d are traced", counted, taken, proven, traced)
	}
	return counted
}

// traced returns how many calls of a session are traced, with an error code unless that is empty.
func (f *fixture) traced(t *testing.T, id sessions.ID, code string) (n int) {
	t.Helper()
	err := f.db.NewRaw("SELECT count(*) FROM tool_calls WHERE session_id = ? AND ? IN ('', error_code)", id, code).Scan(t.Context(), &n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// onlyCall returns the one call of the session's first turn.
func (f *fixture) onlyCall(t *testing.T, id sessions.ID) sessions.ToolCall {
	t.Helper()
	calls := f.transcript(t, id)[0].ToolCalls()
	if len(calls) != 1 {
		t.Fatalf("recorded %+v", calls)
	}
	return calls[0]
}

// TestModelThatKeepsCalling: the model must answer after eight rounds. A call that it makes then is
// not made; it is told so and answers in words.
func TestModelThatKeepsCalling(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 0)
	answers := &script{}
	for range 9 {
		answers.steps = append(answers.steps, say("", call("find_order", `{"id":"a"}`)))
	}
	answers.steps = append(answers.steps, say("I have not found it."))
	f.model = answers
	id := f.create(t, withPin).Session.ID
	turn := f.turn(t, id, "go")
	if f.traced(t, id, "") != 9 || f.traced(t, id, "rounds-exhausted") != 1 || f.countedCalls(t, id) != 9 {
		t.Errorf("%d calls traced, %d of them as refused", f.traced(t, id, ""), f.traced(t, id, "rounds-exhausted"))
	}
	calls := turn.ToolCalls()
	if len(calls) != 9 || calls[8].ErrorCode != "rounds-exhausted" || calls[8].Output == "" || turn.Status != sessions.TurnCompleted {
		t.Errorf("%s after %+v", turn.Status, calls)
	}
	if sent := f.endpoint.Requests("/find_order"); len(sent) != 8 {
		t.Errorf("%d requests were sent", len(sent))
	}
	asked := answers.requests()
	if len(asked) != 10 || len(asked[9].Tools) != 0 || !strings.Contains(asked[8].System, "No tool can be called now") ||
		strings.Contains(asked[7].System, "No tool can be called now") {
		t.Errorf("asked %d times, the last with %q", len(asked), asked[len(asked)-1].System)
	}
	if m := turn.Metrics; m.ToolRounds != 8 || !m.RoundsExhausted || m.Incomplete != "tool_rounds" ||
		turn.AgentText != "I have not found it." {
		t.Errorf("said %q, metrics %+v", turn.AgentText, m)
	}
}

// TestUsedUp: a tool that may not be called any more in the session is not offered.
func TestUsedUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 2)
	answers := &script{steps: []step{
		say("", call("find_order", `{"id":"a"}`)), say("", call("find_order", `{"id":"b"}`)), say("Both are there."),
	}}
	f.model = answers
	f.turn(t, f.create(t, withPin).Session.ID, "go")
	for i, req := range answers.requests() {
		offered := slices.ContainsFunc(req.Tools, func(tool model.Tool) bool { return tool.Name == "find_order" })
		if offered != (i < 2) {
			t.Errorf("request %d: offered %t", i, offered)
		}
	}
}

// TestInterruptedWrite: a call that is not idempotent continues when its answer is cancelled. The
// user does not wait for it, and later turns see its result in the transcript.
func TestInterruptedWrite(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "book", "POST", 0)
	booked := make(chan struct{})
	f.endpoint.Script("/book", httptool.Step{Until: booked, Body: `{"booking":"B7"}`})
	answers := &script{steps: []step{say("One moment.", call("book", `{"id":"a"}`)), say("I do not know yet."), say("It is booked.")}}
	f.model = answers
	made := f.create(t, withPin)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "Book it."})
	s.do(live.Respond{})
	await(t, "the call", func() bool { return len(f.endpoint.Requests("/book")) == 1 })
	started, _ := until[turns.ToolStarted](s)
	s.do(live.ToolOutput{CallID: started.CallID, Output: "forged"}) // the call is not the client's
	if err := s.refusal(); err.Fields[0].Code != "unknown" {
		t.Errorf("a result for a call of the service: %v", err)
	}
	s.do(live.Cancel{})
	tool, _ := until[turns.ToolDone](s)
	done, _ := until[turns.ResponseDone](s)
	if tool.Result.ErrorCode != "unknown" || !tool.Result.Made() || done.Status != turns.ResponseCancelled {
		t.Errorf("tool %+v, done %+v", tool, done)
	}
	s.do(live.UserMessage{Text: "Did it work?"})
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	if now := resultText(t, answers.requests()[1], 0); !strings.Contains(now, "may have happened") {
		t.Errorf("the model was told %q", now)
	}
	close(booked)
	await(t, "the late result", func() bool { return strings.Contains(f.onlyCall(t, made.Session.ID).Output, "B7") })
	if late := f.onlyCall(t, made.Session.ID); late.ErrorCode != "" || late.StatusCode != 200 {
		t.Errorf("late result %+v", late)
	}
	s.do(live.UserMessage{Text: "And now?"})
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	if now := resultText(t, answers.requests()[2], 0); !strings.Contains(now, "B7") {
		t.Errorf("the model was told %q", now)
	}
	if sent := f.endpoint.Requests("/book"); len(sent) != 1 {
		t.Errorf("%d requests were sent", len(sent))
	}
}

// TestEndWhileWriting: the result of a call that runs when the session ends is in the transcript.
func TestEndWhileWriting(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "book", "POST", 0)
	booked := make(chan struct{})
	f.endpoint.Script("/book", httptool.Step{Until: booked, Body: `{"booking":"B7"}`})
	f.model = &script{steps: []step{say("One moment.", call("book", `{"id":"a"}`))}}
	made := f.create(t, withPin)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "Book it."})
	s.do(live.Respond{})
	await(t, "the call", func() bool { return len(f.endpoint.Requests("/book")) == 1 })
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	if cut := f.onlyCall(t, made.Session.ID); cut.ErrorCode != "unknown" {
		t.Errorf("at the end: %+v", cut)
	}
	if n := f.countedCalls(t, made.Session.ID); n != 1 {
		t.Errorf("%d calls counted at the end", n)
	}
	close(booked)
	await(t, "the late result", func() bool { return strings.Contains(f.onlyCall(t, made.Session.ID).Output, "B7") })
}

// TestLostWithItsNode: the outcome of a call whose node was lost is unknown, and everyone is told
// so. A node that was only paused corrects it.
func TestLostWithItsNode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "book", "POST", 0)
	booked := make(chan struct{})
	f.endpoint.Script("/book", httptool.Step{Until: booked, Body: `{"booking":"B7"}`})
	answers := &script{steps: []step{say("One moment.", call("book", `{"id":"a"}`)), say("Let me look."), say("Unreached.")}}
	f.model = answers
	made := f.create(t, withPin)
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = f.Turn(t.Context(), f.principal, made.Session.ID, "Book it.", nil) // the turn is reclaimed
	}()
	await(t, "the call", func() bool { return len(f.endpoint.Requests("/book")) == 1 })
	await(t, "the take-over", func() bool {
		f.clock.advance(31 * time.Second) // the node is silent for longer than its lease
		f.sweep(t)
		return f.onlyCall(t, made.Session.ID).ErrorCode == "unknown"
	})
	if n := f.countedCalls(t, made.Session.ID); n != 1 {
		t.Errorf("%d calls counted with the lost turn", n)
	}
	f.turn(t, made.Session.ID, "Did it work?")
	if now := resultText(t, answers.requests()[1], 0); !strings.Contains(now, "may have happened") {
		t.Errorf("the model was told %q", now)
	}
	close(booked)
	received(t, "the end of the lost turn", asked)
	if late := f.onlyCall(t, made.Session.ID); late.ErrorCode != "" || !strings.Contains(late.Output, "B7") {
		t.Errorf("corrected: %+v", late)
	}
}

// TestAssignments: values of an answer are variables of later calls and turns, on any node.
func TestAssignments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	find := f.attach(t, "find_customer", "POST", 0)
	_, err := f.tools.Update(t.Context(), f.ref, find.ID, tools.UpdateParams{Apply: func(c *tools.Config) {
		c.Assignments = []tools.Assignment{
			{DynamicVariable: "customer", ValuePath: "customer.id"},
			{DynamicVariable: "open", ValuePath: "$.orders[1].open"},
			{DynamicVariable: "total", ValuePath: "total"},
			{DynamicVariable: "name", ValuePath: "customer.missing"},
			{DynamicVariable: "all", ValuePath: "customer"},
			{DynamicVariable: "huge", ValuePath: "huge"},
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	order := f.attach(t, "order", "POST", 0)
	_, err = f.tools.Update(t.Context(), f.ref, order.ID, tools.UpdateParams{Apply: func(c *tools.Config) {
		c.Headers = map[string]string{"X-Customer": "{{customer}}"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	f.endpoint.Script("/find_customer",
		httptool.Step{Body: `{"customer":{"id":"C-1"},"orders":[{},{"open":true}],"total":12.50,"huge":"` +
			strings.Repeat("x", 4097) + `"}`},
		httptool.Step{Status: 500, Body: `{"customer":{"id":"C-2"}}`})
	answers := &script{steps: []step{
		say("", call("find_customer", `{"id":"a"}`)), say("", call("order", `{"id":"b"}`)), say("Done."),
		say("", call("find_customer", `{"id":"a"}`)), say("", call("order", `{"id":"c"}`)), say("Again."),
	}}
	f.model = answers
	made := f.create(t, func(p *sessions.CreateParams) {
		p.DynamicVariables = map[string]string{"secret__pin": "4711-pin", "name": "Ann", "customer": "C-0"}
	})
	turn := f.turn(t, made.Session.ID, "go")
	if names := turn.ToolCalls()[0].Assigned; !slices.Equal(names, []string{"customer", "open", "total"}) {
		t.Errorf("assigned %v", names)
	}
	want := map[string]string{"customer": "C-1", "open": "true", "total": "12.50"}
	got := f.get(t, made.Session.ID)
	if len(got.AssignedVariables) != len(want) {
		t.Errorf("kept %v", got.AssignedVariables)
	}
	for name, value := range want {
		if got.AssignedVariables[name] != value {
			t.Errorf("%s is %q, want %q", name, got.AssignedVariables[name], value)
		}
	}
	if got.DynamicVariables["customer"] != "C-0" {
		t.Errorf("what the session was created with has changed: %v", got.DynamicVariables)
	}
	if _, err := other.Turn(t.Context(), f.principal, made.Session.ID, "again", nil); err != nil { // a failed answer assigns nothing
		t.Fatal(err)
	}
	for i, sent := range f.endpoint.Requests("/order") {
		if customer := sent.Header.Get("X-Customer"); customer != "C-1" {
			t.Errorf("order %d was for %q", i, customer)
		}
	}
	if system := answers.requests()[3].System; !strings.Contains(system, "Ann") {
		t.Errorf("instructions %q", system)
	}
}

// TestRefusedAssignments: refused values do not reach a session.
func TestRefusedAssignments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, list := range map[string][]tools.Assignment{
		"secret":    {{DynamicVariable: "secret__pin", ValuePath: "pin"}},
		"system":    {{DynamicVariable: "system__user_id", ValuePath: "id"}},
		"name":      {{DynamicVariable: "1a", ValuePath: "id"}},
		"path":      {{DynamicVariable: "a", ValuePath: "a..b"}},
		"no path":   {{DynamicVariable: "a"}},
		"recursion": {{DynamicVariable: "a", ValuePath: "$..b"}},
		"twice":     {{DynamicVariable: "a", ValuePath: "a"}, {DynamicVariable: "a", ValuePath: "b"}},
		"many":      make([]tools.Assignment, 17),
	} {
		_, err := f.tools.Create(t.Context(), f.ref, tools.CreateParams{
			Slug: "find", Description: "Finds.", Kind: tools.KindHTTP,
			Config: tools.Config{WebhookURL: f.endpoint.URL, InputSchema: json.RawMessage(`{"type":"object"}`), Assignments: list},
		})
		if fields := fault.From(err).Fields; len(fields) == 0 || !strings.HasPrefix(fields[0].Field, "assignments") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
