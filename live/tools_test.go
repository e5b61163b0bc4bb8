package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
)

// attach creates an HTTP tool of the fixture's endpoint and attaches it to the agent.
func (f *fixture) attach(t *testing.T, slug, method string, maxCalls int) tools.Tool {
	t.Helper()
	tool, err := f.tools.Create(t.Context(), f.ref, tools.CreateParams{
		Slug: slug, Description: "Looks something up.", Kind: tools.KindHTTP, AuthHeader: "Bearer s3cret-value",
		Config: tools.Config{
			WebhookURL: f.endpoint.URL + "/" + slug, Method: method, AllowDynamicVars: true,
			Headers:     map[string]string{"X-Pin": "{{secret__pin}}", "X-Session": "{{system__session_id}}"},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.tools.Attach(t.Context(), f.ref, tools.AttachParams{
		AgentID: f.agent.ID, ToolID: tool.ID, Enabled: true,
		MaxCallsPerSession: &maxCalls,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func withPin(p *sessions.CreateParams) {
	p.DynamicVariables = map[string]string{"secret__pin": "4711-pin"}
}

// TestToolCommand calls a tool with the extractive responder, as in the README.
func TestToolCommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 1)
	f.endpoint.Script("/find_order", httptool.Step{Body: `{"state":"shipped"}`})
	made := f.create(t, withPin)
	// Bad arguments are told to the model, and do not fail the turn.
	turn := f.turn(t, made.Session.ID, `/tool find_order {"id":7}`)
	if calls := turn.ToolCalls(); len(calls) != 1 || calls[0].ErrorCode != "tool-arguments-invalid" || calls[0].Output == "" {
		t.Errorf("bad arguments: %+v", calls)
	}
	var seen []sessions.ToolCall
	turn, err := f.Turn(t.Context(), f.principal, made.Session.ID, `/tool find_order {"id":"A1"}`, func(e requests.Event) error {
		if e.ToolCall != nil {
			seen = append(seen, *e.ToolCall)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(turn.AgentText, "shipped") || len(seen) != 1 || seen[0].StatusCode != 200 || seen[0].Name != "find_order" {
		t.Errorf("answered %q after %+v", turn.AgentText, seen)
	}
	sent := f.endpoint.Requests("/find_order")
	if len(sent) != 1 || sent[0].Header.Get("X-Pin") != "4711-pin" || sent[0].Header.Get("X-Session") != string(made.Session.ID) ||
		sent[0].Header.Get("Authorization") != "Bearer s3cret-value" || !strings.Contains(sent[0].Body, "A1") {
		t.Errorf("sent %+v", sent)
	}
	// A tool whose calls are used up is not offered, as one that does not exist; neither fails the
	// turn.
	for _, text := range []string{`/tool find_order {"id":"A2"}`, `/tool nothing {}`} {
		turn := f.turn(t, made.Session.ID, text)
		if turn.Status != sessions.TurnCompleted || turn.AgentText == "" || len(turn.ToolCalls()) > 0 {
			t.Errorf("%s: %+v", text, turn)
		}
	}
	var dump string
	if err := f.db.NewRaw("SELECT string_agg(t::text, '') FROM turns t").Scan(t.Context(), &dump); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump, "4711-pin") || strings.Contains(dump, "s3cret") {
		t.Error("a secret is in the transcript")
	}
	if session := f.get(t, made.Session.ID); session.ToolCalls != 2 {
		t.Errorf("counted %d calls", session.ToolCalls)
	}
}

// TestCapInOrder: of more parallel calls than a tool may still have, the first ones are made.
func TestCapInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "GET", 3)
	const many = 12
	var calls []model.ToolCall
	var codes []string
	for i := range many {
		calls = append(calls, call("find_order", fmt.Sprintf(`{"id":"%d"}`, i)))
		code := "calls-exhausted"
		if i < 3 {
			code = ""
		}
		codes = append(codes, code)
	}
	f.model = &script{steps: []step{say("", calls...), say("Done.")}}
	wantCodes(t, f.turn(t, f.create(t, withPin).Session.ID, "go"), codes...)
	for i, sent := range f.endpoint.Requests("/find_order") {
		if got, want := sent.Query.Get("id"), strconv.Itoa(i); got != want {
			t.Errorf("request %d is for %q", i, got)
		}
	}
}

// TestRounds: results keep the order of their calls, and after eight rounds the model must answer.
func TestRounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "GET", 0)
	var steps []step
	for range 8 {
		steps = append(steps, say("", call("find_order", `{"id":"a"}`), call("no_such_tool", `{}`), call("find_order",
			`not json`), call("find_order", `{"id":"b"}`)))
	}
	answers := &script{steps: append(steps, say("Enough."))}
	f.model = answers
	made := f.create(t, withPin)
	turn := f.turn(t, made.Session.ID, "go")
	if turn.AgentText != "Enough." {
		t.Fatalf("answered %q", turn.AgentText)
	}
	calls := turn.ToolCalls()
	if len(calls) != 32 || f.traced(t, made.Session.ID, "") != 32 || f.traced(t, made.Session.ID, "unknown-tool") != 8 {
		t.Fatalf("%d calls, %d traced", len(calls), f.traced(t, made.Session.ID, ""))
	}
	for i, want := range []string{"", "unknown-tool", "tool-arguments-invalid", ""} {
		if calls[i].ErrorCode != want || calls[i].Output == "" {
			t.Errorf("call %d: %+v, want code %q", i, calls[i], want)
		}
	}
	if !strings.Contains(calls[0].Output, `"a"`) || !strings.Contains(calls[3].Output, `"b"`) {
		t.Errorf("outputs %q and %q", calls[0].Output, calls[3].Output)
	}
	asked := answers.requests()
	if last := asked[len(asked)-1]; len(last.Tools) != 0 {
		t.Error("tools were offered after eight rounds")
	}
	second := asked[1].Messages
	ids := map[string]bool{}
	for _, m := range second {
		for _, c := range m.ToolCalls {
			ids[c.ID] = true
		}
	}
	if results := second[len(second)-4:]; len(ids) != 4 || results[0].Role != model.RoleTool || results[3].Role != model.RoleTool {
		t.Errorf("the model was shown %+v", second)
	}
}

func TestSystemTools(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{
		say("", call("skip_turn", `{}`)),
		say("Goodbye!", call("end_call", `{"reason":"done"}`)),
	}}
	made := f.create(t)
	if turn := f.turn(t, made.Session.ID, "a moment"); turn.AgentText != "" || turn.Status != sessions.TurnCompleted {
		t.Errorf("skipped turn %+v", turn)
	}
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "bye"})
	s.do(live.Respond{})
	done, before := until[turns.ResponseDone](s)
	if done.Text != "Goodbye!" || done.Status != turns.ResponseCompleted {
		t.Errorf("done %+v", done)
	}
	tool, ok := before[len(before)-1].(turns.ToolDone)
	if !ok || !tool.System || tool.Name != "end_call" || tool.Failed {
		t.Errorf("before the end came %+v", before[len(before)-1])
	}
	if closed, ok := s.next().(live.Closed); !ok || closed.Reason != sessions.ReasonEndCall || closed.Code != live.CloseEnded {
		t.Errorf("closed with %+v", closed)
	}
	if session := f.get(t, made.Session.ID); session.EndReason != sessions.ReasonEndCall {
		t.Errorf("ended with %q", session.EndReason)
	}
}

// TestCancelKeepsResults cancels an answer while its tool is running.
func TestCancelKeepsResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "GET", 0)
	f.endpoint.Script("/find_order", httptool.Step{Hold: true})
	f.model = &script{steps: []step{say("One moment.", call("find_order", `{"id":"a"}`)), say("unreached")}}
	made := f.create(t, withPin)
	s := f.join(t, f.Node, made)
	s.do(live.UserMessage{Text: "go"})
	s.do(live.Respond{})
	await(t, "the call", func() bool { return len(f.endpoint.Requests("/find_order")) == 1 })
	s.do(live.Cancel{})
	tool, _ := until[turns.ToolDone](s)
	done, _ := until[turns.ResponseDone](s)
	if !tool.Failed || done.Status != turns.ResponseCancelled || done.Text != "One moment." {
		t.Errorf("tool %+v, done %+v", tool, done)
	}
	turn := f.transcript(t, made.Session.ID)[0]
	if calls := turn.ToolCalls(); turn.Status != sessions.TurnCancelled || len(calls) != 1 ||
		calls[0].ErrorCode == "" || calls[0].Output == "" {
		t.Errorf("recorded %+v", turn)
	}
}

// TestUnstorableArguments: a model may write JSON that jsonb cannot store.
func TestUnstorableArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, arguments := range []string{`{"id":"\ud800"}`, `{"id":"a\u0000b"}`, "{\"id\":\"\xff\"}", `{"id":1e999999}`} {
		f.model = &script{steps: []step{say("Text \xff\x00 too.", call("no_such_tool", arguments)), say("Done.")}}
		turn := f.turn(t, f.create(t).Session.ID, "go")
		if turn.Status != sessions.TurnCompleted || !strings.HasSuffix(turn.AgentText, "Done.") {
			t.Errorf("%q: %s %q", arguments, turn.Status, turn.AgentText)
		}
		session := turn.SessionID
		if _, err := f.End(t.Context(), f.principal, session, sessions.EndParams{Status: sessions.Completed}); err != nil {
			t.Errorf("%q: ending: %v", arguments, err)
		}
	}
}

// TestUnkeepableArguments: arguments that cannot be kept as the model wrote them reach neither an
// endpoint nor a client. Transcript, trace and the model's history have the same text of them.
func TestUnkeepableArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 0)
	for arguments, says := range map[string]string{
		`{"id":"a\u0000"}`: "U+0000", `{"id":"\ud800"}`: "half a character", `{"id":"a","id":"b"}`: "twice",
		`{"id":1e131072}`: "too large", "\x00": "arguments",
	} {
		answers := &script{steps: []step{say("", call("find_order", arguments), call("beep", arguments)), say("Done.")}}
		f.model = answers
		made := f.create(t, withPin)
		s := f.join(t, f.Node, made)
		s.do(live.Configure{ClientTools: []model.Tool{{Name: "beep"}}})
		talk(s, "Go.")
		var traces []json.RawMessage
		err := f.db.NewRaw("SELECT input FROM tool_calls WHERE session_id = ? AND error_code = 'tool-arguments-invalid'", made.Session.ID).
			Scan(t.Context(), &traces)
		calls := f.transcript(t, made.Session.ID)[0].ToolCalls()
		if err != nil || len(calls) != 2 || len(traces) != 2 {
			t.Fatalf("%q: %d calls, %d traces, %v", arguments, len(calls), len(traces), err)
		}
		said := answers.requests()[1].Messages
		want := jsonvalue.Decode(tools.ArgumentsAsText(arguments))
		for i, c := range calls {
			history := said[len(said)-3].ToolCalls[i].Arguments
			if !reflect.DeepEqual(jsonvalue.Decode(c.Arguments), want) || !reflect.DeepEqual(jsonvalue.Decode(traces[i]), want) ||
				!reflect.DeepEqual(jsonvalue.Decode(history), want) {
				t.Errorf("%q, %s: transcript %s, trace %s, history %s", arguments, c.Name, c.Arguments, traces[i], history)
			}
			if c.ErrorCode != "tool-arguments-invalid" || !strings.Contains(c.Output, says) {
				t.Errorf("%q, %s: %s %q", arguments, c.Name, c.ErrorCode, c.Output)
			}
		}
	}
	if sent := f.endpoint.Requests("/find_order"); len(sent) > 0 {
		t.Errorf("sent %+v", sent)
	}
}

// TestLostTurnCallsNothing: a node that was paused while its turn was given up makes no calls, and
// its caller is asked to send it again.
func TestLostTurnCallsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 0)
	made := f.create(t, withPin)
	wake := say("One moment.", call("find_order", `{"id":"a"}`))
	f.model = &script{steps: []step{func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		_, err := f.db.ExecContext(ctx,
			"UPDATE turns SET status = 'failed', error_code = 'unavailable', ended_at = now() WHERE tenant_id = ? AND session_id = ?",
			f.principal.TenantID, made.Session.ID)
		if err != nil {
			t.Error(err)
		}
		return wake(ctx, req, emit)
	}}}
	_, err := f.Turn(t.Context(), f.principal, made.Session.ID, "go", nil)
	wantReason(t, err, fault.ServiceUnavailable)
	if sent := f.endpoint.Requests("/find_order"); len(sent) != 0 {
		t.Errorf("called %d times", len(sent))
	}
}
