package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// schemaOf is an object schema with properties of any type.
func schemaOf(names ...string) json.RawMessage {
	var members []string
	for _, name := range names {
		members = append(members, fmt.Sprintf("%q:{}", name))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(members, ",") + `}}`)
}

// sending is a tool, a call of it, and the request that arrives.
type sending struct {
	name      string
	config    tools.Config
	arguments string
	method    string
	path      string
	query     string
	body      string
}

func sendings() []sending {
	return []sending{
		{
			"POST sends a body",
			tools.Config{
				WebhookURL: "/r1/{id}?v=1", PathParams: []string{"id"}, QueryParams: []string{"page"},
				InputSchema: schemaOf("id", "page", "note", "deep"),
			},
			`{"id":"a/b c","page":2,"note":"hi","deep":{"n":12345678901234567890}}`,
			"POST", "/r1/a%2Fb%20c", "page=2&v=1", `{"deep":{"n":12345678901234567890},"note":"hi"}`,
		},
		{
			"GET sends a query",
			tools.Config{
				WebhookURL: "/r2", Method: "GET", InputSchema: schemaOf("q", "tags", "deep", "none"),
				HardcodedQueryParams: map[string]string{"key": "x&y", "q": "mine"},
			},
			`{"q":"theirs","tags":["a","b&c"],"deep":{"x":1},"none":null}`,
			"GET", "/r2", "deep=%7B%22x%22%3A1%7D&key=x%26y&q=mine&tags=a&tags=b%26c", "",
		},
		{
			"DELETE sends a query",
			tools.Config{WebhookURL: "/r3", Method: "DELETE", InputSchema: schemaOf("sure")},
			`{"sure":true}`,
			"DELETE", "/r3", "sure=true", "",
		},
		{
			"hardcoded members win and merge",
			tools.Config{
				WebhookURL: "/r4", Method: "PUT", InputSchema: schemaOf("meta", "role"),
				HardcodedBodyParams: json.RawMessage(`{"role":"guest","meta":{"by":"us"}}`),
			},
			`{"role":"admin","meta":{"a":1,"by":"them"}}`,
			"PUT", "/r4", "", `{"meta":{"a":1,"by":"us"},"role":"guest"}`,
		},
		{
			"placeholders stay text without allow_dynamic_vars",
			tools.Config{WebhookURL: "/r5/{{city}}", InputSchema: schemaOf("note"), HardcodedBodyParams: json.RawMessage(`{"c":"{{city}}"}`)},
			`{"note":"{{city}}"}`,
			"POST", "/r5/%7B%7Bcity%7D%7D", "", `{"c":"{{city}}","note":"{{city}}"}`,
		},
		{
			"placeholders are rendered for their place",
			tools.Config{
				WebhookURL: "/r6/{{city}}?c={{ city }}&k={{secret__key}}", AllowDynamicVars: true, InputSchema: schemaOf("note", "list"),
				HardcodedQueryParams: map[string]string{"h": "{{city}}"},
				HardcodedBodyParams:  json.RawMessage(`{"x":{"q":"<{{quote}}>"},"s":"{{secret__key}}"}`),
			},
			`{"note":"{{quote}} {{secret__key}}","list":["{{city}}"]}`,
			"POST", "/r6/S%C3%A3o%20Paulo%2FSP", "c=S%C3%A3o+Paulo%2FSP&h=S%C3%A3o+Paulo%2FSP&k=s3%2Fcr%3Ft",
			`{"list":["São Paulo/SP"],"note":"a\"b\\c {{secret__key}}","s":"s3/cr?t","x":{"q":"<a\"b\\c>"}}`,
		},
	}
}

// TestRequest looks at what arrives at the endpoint.
func TestRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	variables := map[string]string{"city": "São Paulo/SP", "quote": `a"b\c`, "secret__key": "s3/cr?t"}
	for i, row := range sendings() {
		t.Run(row.name, func(t *testing.T) {
			row.config.WebhookURL = f.endpoint.URL + row.config.WebhookURL
			tool := f.create(t, tools.CreateParams{Slug: fmt.Sprint("r", i), Description: "x", Kind: tools.KindHTTP, Config: row.config})
			outcome := f.call(t, f.attached(t, tool, 0), row.arguments, variables)
			requests := f.endpoint.Requests(row.path)
			if outcome.Error != nil || len(requests) != 1 {
				t.Fatalf("got %+v, %d requests", outcome.Error, len(requests))
			}
			got := requests[0]
			if got.Method != row.method || got.Query.Encode() != row.query || got.Body != row.body {
				t.Errorf("got  %s %s %s\nwant %s %s %s", got.Method, got.Query.Encode(), got.Body, row.method, row.query, row.body)
			}
			if got.Header.Get("Idempotency-Key") != outcome.CallID {
				t.Errorf("Idempotency-Key is %q, the call is %s", got.Header.Get("Idempotency-Key"), outcome.CallID)
			}
			shown := fmt.Sprint(*outcome.Request) + outcome.Output
			for _, spelling := range []string{"s3/cr?t", "s3%2Fcr%3Ft", "s3%2fcr%3ft", "s3/cr%3Ft", "s3\\/cr"} { // a random id may hold "s3" itself
				if strings.Contains(shown, spelling) {
					t.Errorf("a secret shows: %s", shown)
				}
			}
		})
	}
}

// TestKeepableArguments: what resembles arguments that cannot be kept is sent, and traced alike.
func TestKeepableArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("/kept")
	params.Config.InputSchema = json.RawMessage(`{"type":"object"}`)
	tool := f.create(t, params)
	entry := f.attached(t, tool, 0)
	for _, arguments := range []string{
		`{"a":"\\u0000","b":"\\\\ud800","c":"\ud83d\ude00"}`, `{"a":{"a":[{"a":"a"},{"a":"a"}]},"b":"a"}`,
		`{"a":1e308,"b":5e-324,"c":12345678901234567890.5}`,
	} {
		if outcome := f.call(t, entry, arguments, nil); outcome.Error != nil {
			t.Errorf("%s: %+v", arguments, outcome.Error)
			continue
		}
		var same bool
		err := f.db.NewRaw("SELECT input = ?::jsonb FROM tool_calls WHERE tool_id = ? ORDER BY started_at DESC LIMIT 1", arguments, tool.ID).
			Scan(t.Context(), &same)
		if err != nil || !same {
			t.Errorf("%s is traced differently, %v", arguments, err)
		}
	}
}

// TestRefusedBeforeSending: nothing arrives, the trace and the model know why.
func TestRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	config := func(url string) tools.Config {
		return tools.Config{
			WebhookURL: f.endpoint.URL + url, PathParams: []string{"id"}, AllowDynamicVars: true,
			InputSchema: json.RawMessage(
				`{"type":"object","properties":{"id":{},"n":{"type":"integer"},"deep":{"type":"object","required":["x"]}},` +
					`"additionalProperties":false}`,
			),
			Headers: map[string]string{"X-Who": "{{who}}"},
		}
	}
	tool := f.create(t, tools.CreateParams{Slug: "guarded", Description: "x", Kind: tools.KindHTTP, Config: config("/g/{id}/x")})
	entry := f.attached(t, tool, 0)
	who := map[string]string{"who": "me"}
	rows := []struct {
		name      string
		arguments string
		variables map[string]string
		code      tools.Code
		says      string
	}{
		{"wrong type", `{"id":"1","n":"two"}`, who, failure.ArgumentsInvalid, "n:"},
		{"missing member", `{"id":"1","deep":{}}`, who, failure.ArgumentsInvalid, "deep.x: x is required"},
		{"unknown argument", `{"id":"1","m":1}`, who, failure.ArgumentsInvalid, "m is not an argument"},
		{"no object", `[1]`, who, failure.ArgumentsInvalid, "JSON object"},
		{"no JSON", `{"id":`, who, failure.ArgumentsInvalid, "not valid JSON"},
		{"U+0000", `{"id":"1","n":"a\u0000"}`, who, failure.ArgumentsInvalid, "U+0000"},
		{"U+0000 in a name", `{"id":"1","\u0000":1}`, who, failure.ArgumentsInvalid, "U+0000"},
		{"first half of a character", `{"id":"\ud83d"}`, who, failure.ArgumentsInvalid, "half a character"},
		{"second half of a character", `{"id":"\ude00\ud83d"}`, who, failure.ArgumentsInvalid, "half a character"},
		{"member twice", `{"id":"1","deep":{"x":1,"\u0078":2}}`, who, failure.ArgumentsInvalid, `"x" is there twice`},
		{"no double", `{"id":1e309}`, who, failure.ArgumentsInvalid, "1e309 is too large"},
		{"too large for Postgres", `{"id":1e131072}`, who, failure.ArgumentsInvalid, "too large"},
		{"too small for Postgres", `{"id":1e-16384}`, who, failure.ArgumentsInvalid, "too long"},
		{"zero with an exponent", `{"id":0e99999999999999999999}`, who, failure.ArgumentsInvalid, "too long"},
		{"many large numbers", `{"id":[` + strings.Repeat("1e308,", 40_000) + `1]}`, who, failure.ArgumentsInvalid, "too many"},
		{"no path argument", `{}`, who, failure.ArgumentsInvalid, `"id"`},
		{"object in the path", `{"id":{}}`, who, failure.ArgumentsInvalid, `"id"`},
		{"empty path argument", `{"id":""}`, who, failure.ArgumentUnsafe, "path"},
		{"up the path", `{"id":".."}`, who, failure.ArgumentUnsafe, "path"},
		{"up the path, escaped", `{"id":"x/../../admin"}`, who, failure.ArgumentUnsafe, "path"},
		{"variable in an argument missing", `{"id":"{{nope}}"}`, who, failure.VariableMissing, `"nope"`},
		{"variable missing", `{"id":"1"}`, nil, failure.VariableMissing, `"who"`},
		{"line break in a header", `{"id":"1"}`, map[string]string{"who": "me\r\nX-Admin: 1"}, failure.HeaderInvalid, "X-Who"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			outcome := f.call(t, entry, row.arguments, row.variables)
			if outcome.Error == nil || outcome.Error.Code != row.code || !strings.Contains(outcome.Error.Message, row.says) ||
				outcome.Attempts != 0 {
				t.Errorf("got %+v after %d attempts", outcome.Error, outcome.Attempts)
			}
			if outcome.Error != nil && !strings.Contains(outcome.Output, outcome.Error.Message) {
				t.Errorf("the model is told %q", outcome.Output)
			}
		})
	}
	if requests := f.endpoint.Requests(""); len(requests) != 0 {
		t.Errorf("%d requests arrived: %+v", len(requests), requests)
	}
	calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
	if err != nil || len(calls) != len(rows) {
		t.Fatalf("%d traces, %v, want %d", len(calls), err, len(rows))
	}
	for _, trace := range calls {
		if len(trace.Input) > tools.ModelMaxBytes+200 {
			t.Errorf("the trace of %.40s has %d bytes", trace.Input, len(trace.Input))
		}
	}
	if newest := calls[0]; newest.ErrorCode != string(failure.HeaderInvalid) || newest.TurnID != "turn_1" || newest.Slug != "guarded" {
		t.Errorf("the newest trace: %+v", newest)
	}
	oldest, _, err := f.ListCallsOfSession(t.Context(), f.ref, tools.CallFilter{SessionID: "ses_1"}, postgres.PageParams{Size: 1})
	if err != nil || len(oldest) != 1 || oldest[0].ErrorCode != string(failure.ArgumentsInvalid) {
		t.Errorf("the session's oldest: %+v, %v", oldest, err)
	}
}

func TestDisabledIsTraced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tool := f.create(t, f.orderParams("/x"))
	f.attached(t, tool, 0)
	if _, err := f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID}); err != nil {
		t.Fatal(err)
	}
	outcome := f.call(t, f.entry(t, "find_order"), `{}`, nil)
	if outcome.Error == nil || outcome.Error.Code != failure.Disabled || len(f.endpoint.Requests("")) != 0 {
		t.Errorf("got %+v", outcome.Error)
	}
	if calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{}); err != nil ||
		len(calls) != 1 {
		t.Errorf("traces: %v, %v", calls, err)
	}
}

// TestCap makes many calls at once against a cap of 5.
func TestCap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/x", httptool.Step{Body: "ok"})
	entry := f.attached(t, f.create(t, f.orderParams("/x")), 5)
	var succeeded, exhausted atomic.Int32
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			outcome := f.call(t, entry, `{}`, nil)
			switch {
			case outcome.Error == nil:
				succeeded.Add(1)
			case outcome.Error.Code == failure.CallsExhausted:
				exhausted.Add(1)
			}
		})
	}
	wait.Wait()
	if n := len(f.endpoint.Requests("/x")); succeeded.Load() != 5 || exhausted.Load() != 15 || n != 5 {
		t.Errorf("%d succeeded, %d refused, %d arrived; want 5, 15, 5", succeeded.Load(), exhausted.Load(), n)
	}
	// A reconnect may lead to another node, and an attach meanwhile does not begin anew.
	outcome := f.node(0).Call(t.Context(), tools.CallParams{Ref: f.ref, SessionID: "ses_1", Entry: f.attached(t, entry.Tool, 5)})
	if outcome.Error == nil || outcome.Error.Code != failure.CallsExhausted ||
		!strings.Contains(outcome.Output, "can be called 5 times in a conversation, and has been") {
		t.Errorf("on another node: %q", outcome.Output)
	}
	other := f.Call(t.Context(), tools.CallParams{Ref: f.ref, SessionID: "ses_2", Entry: entry})
	if other.Error != nil {
		t.Errorf("another session: %+v", other.Error)
	}
	if outcome, err := f.Run(t.Context(), f.ref, tools.RunParams{ToolID: entry.Tool.ID}); err != nil || outcome.Error != nil {
		t.Errorf("a run: %+v, %v", outcome.Error, err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := strings.Repeat("ü", 20_000) // 40,000 bytes
	rows := []struct {
		name   string
		step   httptool.Step
		output string // a part of what the model gets
		json   string
		code   tools.Code
	}{
		{
			"JSON",
			httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"b":1,"a":1.50}`},
			`{"b":1,"a":1.50}`,
			`{"b":1,"a":1.50}`, "",
		},
		{"text", httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: "hi"}, "hi", "", ""},
		{"no content", httptool.Step{Status: 204}, "succeeded", "", ""},
		{
			"binary",
			httptool.Step{Header: map[string]string{"Content-Type": "image/png"}, Body: "\x89PNG\x00"},
			"[binary answer: image/png, 5 bytes", "", "",
		},
		{
			"invalid UTF-8 and NUL",
			httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: "a\xff\x00b"},
			"a\uFFFD\uFFFDb",
			"", "",
		},
		{
			"longer than the model gets",
			httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: long[:18_000]},
			"[cut: the first 16384 of 18000 bytes]", "", "",
		},
		{
			"longer than the cap",
			httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: long},
			"[cut: the first 16384 of",
			"", "",
		},
		{"not found", httptool.Step{Status: 404, Body: "no such order"}, "no such order", "", failure.HTTPStatus},
		{
			"redirect",
			httptool.Step{Status: 302, Header: map[string]string{"Location": f.endpoint.URL + "/followed"}},
			"redirects are not followed", "", failure.HTTPStatus,
		},
	}
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := fmt.Sprint("/a", i)
			f.endpoint.Script(path, row.step)
			params := f.orderParams(path)
			params.Slug, params.Config.ResponseMaxBytes = fmt.Sprint("a", i), 20_000
			outcome := f.call(t, f.attached(t, f.create(t, params), 0), `{}`, nil)
			if !strings.Contains(outcome.Output, row.output) || string(outcome.OutputJSON) != row.json ||
				len(outcome.Output) > tools.ModelMaxBytes+200 {
				t.Errorf("got %.300q (%d bytes), JSON %s", outcome.Output, len(outcome.Output), outcome.OutputJSON)
			}
			if (row.code == "") != (outcome.Error == nil) || outcome.Error != nil && outcome.Error.Code != row.code {
				t.Errorf("got %+v, want %q", outcome.Error, row.code)
			}
			if len(outcome.OutputText) > 20_100 {
				t.Errorf("the answer is not capped: %d bytes", len(outcome.OutputText))
			}
		})
	}
	if len(f.endpoint.Requests("/followed")) != 0 {
		t.Error("a redirect was followed")
	}
}

// TestEchoedSecrets has an endpoint that repeats every secret in some spelling.
func TestEchoedSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/echo", httptool.Step{
		Header: map[string]string{"Content-Type": "application/json"},
		Body:   `{"a":"Basic YWRhOmh1bnRlcjI=","b":"hunter2","c":"p\/w\"1","d":"\u0070\u002fw\u00221","e":"p%2Fw%221","ok":1.0}`,
	})
	params := f.orderParams("/echo")
	params.AuthHeader, params.Config.AllowDynamicVars = "Basic YWRhOmh1bnRlcjI=", true
	params.Config.Headers = map[string]string{"X-Pin": "{{secret__pin}}"}
	tool := f.create(t, params)
	outcome := f.call(t, f.attached(t, tool, 0), `{}`, map[string]string{"secret__pin": `p/w"1`})
	if outcome.Error != nil || !json.Valid(outcome.OutputJSON) {
		t.Fatalf("got %+v", outcome)
	}
	var echoed map[string]any
	if err := json.Unmarshal(outcome.OutputJSON, &echoed); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": "REDACTED", "b": "REDACTED", "c": "REDACTED", "d": "REDACTED", "e": "REDACTED", "ok": 1.0}
	if diff := cmp.Diff(want, echoed); diff != "" {
		t.Error(diff)
	}
	if outcome.Request.Headers["X-Pin"] != "REDACTED" || outcome.Request.Headers["Authorization"] != "REDACTED" {
		t.Errorf("the request shows %v", outcome.Request.Headers)
	}
	if sent := f.endpoint.Requests("/echo")[0].Header; sent.Get("X-Pin") != `p/w"1` {
		t.Errorf("the endpoint got %q", sent.Get("X-Pin"))
	}
	calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
	if err != nil || len(calls) != 1 || strings.Contains(calls[0].Output, "hunter2") {
		t.Errorf("traces: %+v, %v", calls, err)
	}
}

// TestEchoedRenderedAuthorization has an authorization with a placeholder: what is sent, and what
// is fixed in it, is as secret as what is stored.
func TestEchoedRenderedAuthorization(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/echo", httptool.Step{Body: "Bearer fixed-acme and fixed-acme"})
	params := f.orderParams("/echo")
	params.AuthHeader, params.Config.AllowDynamicVars = "Bearer fixed-{{account}}", true
	outcome := f.call(t, f.attached(t, f.create(t, params), 0), `{}`, map[string]string{"account": "acme"})
	if outcome.Error != nil || outcome.OutputText != "REDACTED and REDACTED" {
		t.Errorf("got %q, %+v", outcome.OutputText, outcome.Error)
	}
	if sent := f.endpoint.Requests("/echo")[0].Header; sent.Get("Authorization") != "Bearer fixed-acme" {
		t.Errorf("the endpoint got %q", sent.Get("Authorization"))
	}
}

func TestBuiltins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var got tools.BuiltinCall
	f.Register("search_memory", tools.BuiltinFunc(func(_ context.Context, call tools.BuiltinCall) (string, error) {
		got = call
		return "likes tea", nil
	}))
	f.Register("end_call", tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) {
		return "", fault.New(fault.SessionClosed, "It has ended already.")
	}))
	f.Register("skip_turn", tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) {
		return "", errors.New("pq: password is hunter2")
	}))
	outcome := f.call(t, f.entry(t, "search_memory"), `{"query":"drinks"}`, map[string]string{"system__user_id": "u1", "secret__x": "y"})
	if outcome.Error != nil || outcome.Output != "likes tea" || string(got.Arguments) != `{"query":"drinks"}` {
		t.Errorf("got %+v, called with %s", outcome, got.Arguments)
	}
	if diff := cmp.Diff(map[string]string{"system__user_id": "u1"}, got.Variables); diff != "" || got.SessionID != "ses_1" {
		t.Error(diff)
	}
	if outcome := f.call(t, f.entry(t, "search_memory"), `{}`, nil); outcome.Error == nil || outcome.Error.Code != failure.ArgumentsInvalid {
		t.Errorf("without its argument: %+v", outcome.Error)
	}
	if outcome := f.call(t, f.entry(t, "end_call"), `{}`, nil); outcome.Error == nil || outcome.Error.Code != "session-closed" {
		t.Errorf("a decision: %+v", outcome.Error)
	}
	if outcome := f.call(t, f.entry(t, "skip_turn"), `{}`, nil); outcome.Error == nil || outcome.Error.Code != failure.Internal ||
		strings.Contains(outcome.Output, "hunter2") {
		t.Errorf("an accident: %+v", outcome)
	}
	if outcome := f.call(t, f.entry(t, "add_memory_note"), `{"text":"x"}`, nil); outcome.Error == nil ||
		outcome.Error.Code != failure.NotAvailable {
		t.Errorf("not built: %+v", outcome.Error)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	params := f.orderParams("/run/{id}")
	params.Config.PathParams, params.Config.AllowDynamicVars = []string{"id"}, true
	params.Config.Headers = map[string]string{"X-Agent": "{{system__agent_id}}", "X-Key": "{{secret__key}}", "X-Lang": "{{system__language}}"}
	tool := f.create(t, params)
	outcome, err := f.Run(t.Context(), f.ref, tools.RunParams{
		ToolID: tool.ID, Arguments: json.RawMessage(`{"id":"7"}`), DynamicVariables: map[string]string{
			"secret__key": "k-123", "system__language": "de",
		},
	})
	if err != nil || outcome.Error != nil || outcome.StatusCode != 200 || outcome.Attempts != 1 {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	sent := f.endpoint.Requests("/run/7")[0].Header
	if sent.Get("X-Agent") != "agt_example" || sent.Get("X-Key") != "k-123" || sent.Get("X-Lang") != "de" {
		t.Errorf("the endpoint got %v", sent)
	}
	if outcome.Request.URL != f.endpoint.URL+"/run/7" || outcome.Request.Headers["X-Key"] != "REDACTED" ||
		strings.Contains(outcome.OutputText, "k-123") {
		t.Errorf("the run shows %+v and %s", outcome.Request, outcome.OutputText)
	}
	_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: tool.ID, Arguments: json.RawMessage(`{"id":7}`)})
	wantFault(t, err, fault.ToolArgumentsInvalid, "args.id")
	_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: tool.ID, Arguments: json.RawMessage(`[]`)})
	wantFault(t, err, fault.ToolArgumentsInvalid, "args")
	for _, id := range []tools.ID{"system:end_call", "builtin:search_memory"} {
		_, err = f.Run(t.Context(), f.ref, tools.RunParams{ToolID: id})
		wantFault(t, err, fault.InvalidRequest, "tool_id")
	}
	calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
	if err != nil || len(calls) != 3 || calls[0].SessionID != "" || calls[2].ErrorCode != "" {
		t.Errorf("traces: %+v, %v", calls, err)
	}
}
