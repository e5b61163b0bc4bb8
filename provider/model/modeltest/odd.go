package modeltest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

// What models and servers do that nobody asked them to: an answer comes of it all the same, and the
// one after it.

// blanks: white space before the first word waits for it, and an answer that has nothing else is
// empty.
func (s suite) blanks(t *testing.T) {
	t.Parallel()
	calls := []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"Rome"}`}}}
	rows := []struct {
		name   string
		reply  Reply
		text   string
		events []model.Event
	}{
		{
			"before words",
			Reply{Text: []string{"\n", "\n ", "Hel", "lo", "\n"}},
			"\n\n Hello\n",
			[]model.Event{model.TextDelta{Text: "\n\n Hel"}, model.TextDelta{Text: "lo"}, model.TextDelta{Text: "\n"}},
		},
		{"before a call", Reply{Text: []string{"\n\n"}, Calls: calls}, "", []model.Event{model.ToolCallReady{Call: call("c1", "Rome")}}},
		{"alone", Reply{Text: []string{"\n", " ", "\t"}}, "", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.with(t, row.reply)
			result, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
			if err != nil || result.Text != row.text {
				t.Errorf("got %q, %v", result.Text, err)
			}
			same(t, "events", events, row.events)
		})
	}
	t.Run("fails over", func(t *testing.T) {
		t.Parallel()
		p, _ := s.with(t, Reply{Text: []string{"\n\n"}})
		other, _ := s.with(t, Reply{Text: []string{"other"}})
		both := model.Chain(model.ChainParams{Providers: []model.Provider{p, other}, Now: time.Now})
		if result, _, err := ask(t.Context(), both, model.Request{Messages: []model.Message{user("hi")}}); err != nil || result.Text != "other" {
			t.Errorf("got %q, %v", result.Text, err)
		}
	})
	t.Run("of earlier", func(t *testing.T) { // as transcripts have them
		t.Parallel()
		p, _ := s.with(t, Reply{Text: []string{"fine"}})
		_, _, err := ask(t.Context(), p, model.Request{Tools: []model.Tool{weather}, Messages: []model.Message{
			{Role: model.RoleAssistant, Text: " "},
			user("hi"),
			{Role: model.RoleAssistant, Text: "\n\n", ToolCalls: []model.ToolCall{call("c1", "Rome")}},
			{Role: model.RoleTool, ToolCallID: "c1", Text: "sun"},
			{Role: model.RoleAssistant, Text: "\t"},
			user("and now?"),
		}})
		if err != nil {
			t.Error(err)
		}
	})
}

// madeUp: a call of a tool that there is none of, by a name that there cannot be, does not end the
// conversation; nor do ids of a client's making.
func (s suite) madeUp(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, wrote, sent string }{
		{"dotted", "functions.lookup", "functions_lookup"},
		{"empty", "", "_"},
		{"words", "look up <|im_start|>", "look_up___im_start__"},
		{"letters", "größe", "gr__e"},
		{"long", strings.Repeat("n", 5000), strings.Repeat("n", 64)},
		{"longest", strings.Repeat("n", 64), strings.Repeat("n", 64)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, script := s.with(
				t,
				Reply{
					Calls: []Call{{ID: "call.1", Name: row.wrote, Arguments: []string{`{}`}}, {ID: "call:1", Name: row.wrote, Arguments: []string{`{}`}}},
				},
				Reply{Text: []string{"fine"}}, Reply{Text: []string{"fine"}},
			)
			req := model.Request{Messages: []model.Message{user("go")}, Tools: []model.Tool{weather}}
			result, _, err := ask(t.Context(), p, req)
			if err != nil || len(result.ToolCalls) != 2 || result.ToolCalls[0].Name != row.wrote || result.ToolCalls[0].ID != "call.1" {
				t.Fatalf("got %+v, %v", result.ToolCalls, err)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: result.ToolCalls},
				model.Message{
					Role: model.RoleTool, ToolCallID: "call:1", Text: "two",
				}, model.Message{Role: model.RoleTool, ToolCallID: "call.1", Text: "one"})
			if _, _, err := ask(t.Context(), p, req); err != nil {
				t.Fatal(err)
			}
			sent := script.Requests()[1].Messages
			calls, answers := sent[1].ToolCalls, sent[2:]
			if len(calls) != 2 || calls[0].Name != row.sent || calls[0].ID == calls[1].ID || answers[0].ToolCallID != calls[1].ID ||
				answers[1].ToolCallID != calls[0].ID {
				t.Errorf("sent %+v", sent)
			}
			req.Tools = nil
			if _, _, err := ask(t.Context(), p, req); err != nil {
				t.Errorf("without tools: %v", err)
			}
		})
	}
}

// schemas: what vendors refuse at the top of a schema is not sent, and all else is; a tool that is
// refused is named.
func (s suite) schemas(t *testing.T) {
	t.Parallel()
	const within = `"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"description":"the \"anyOf\": {"},"not":{"type":"string"}}`
	rows := []struct{ name, schema, sent string }{
		{"within", `{"type":"object",` + within + `}`, `{"type":"object",` + within + `}`},
		{"any of", `{"anyOf" : [{"required":["a"]}],"type":"object",` + within + `}`, `{"type":"object",` + within + `}`},
		{"all", `{"type":"object",` + within + `,"allOf":[],"oneOf":[],"not":{"required":["b"]}}`, `{"type":"object",` + within + `}`},
		{"nothing else", `{"oneOf":[{"type":"object"}]}`, `{"type":"object"}`},
		{"a value", `{"type":"object","title":"not","default":{"not":1}}`, `{"type":"object","title":"not","default":{"not":1}}`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, script := s.with(t, Reply{Text: []string{"fine"}})
			_, _, err := ask(
				t.Context(), p,
				model.Request{
					Messages: []model.Message{user("hi")}, Tools: []model.Tool{weather, {Name: "odd", InputSchema: json.RawMessage(row.schema)}},
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "schema", script.Requests()[0].Tools[1].InputSchema, json.RawMessage(row.sent))
		})
	}
	refusals := []struct{ name, body, words string }{
		{"Anthropic's", `{"error":{"message":"tools.1.custom.input_schema: JSON schema is invalid"}}`, `: it objects to the tool "odd". Look at`},
		{
			"OpenAI's", `{"error":{"message":"Invalid schema for function 'odd': no.","param":"tools[0].function.parameters"}}`,
			`: it objects to the tool "odd". Look at`,
		},
		{"in quotes", `{"error":{"message":"Invalid schema for function \"odd\""}}`, `: it objects to the tool "odd". Look at`},
		{"no such index", `{"error":{"message":"tools.2.custom.input_schema: no"}}`, `did not accept the request.`},
		{"no such tool", `{"error":{"message":"Invalid schema for function 'evil'"}}`, `did not accept the request.`},
	}
	for _, row := range refusals {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.with(t, Reply{Status: http.StatusBadRequest, Body: row.body})
			_, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}, Tools: []model.Tool{weather, {Name: "odd"}}})
			failed(t, err, fault.UpstreamFailed, row.words)
		})
	}
}

// cutCalls: a call that a limit or a filter cut off is not run, whatever there is of its arguments.
func (s suite) cutCalls(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name          string
		first, second []string
		// firstCut: only a call before the last can be known to be whole.
		firstCut bool
	}{
		{"none", []string{`{"place":"Oslo"}`}, nil, false},
		{"empty", []string{`{"place":"Oslo"}`}, []string{""}, false},
		{"half", []string{`{"place":"Oslo"}`}, []string{`{"place":"Ro`}, false},
		{"whole", []string{`{"place":"Oslo"}`}, []string{`{"place":`, `"Rome"}`}, false},
		{"both", []string{`{"place":"Os`}, []string{`{"place":"Rome"}`}, true},
		{"none before", nil, []string{`{"place":"Rome"}`}, true},
	}
	for _, reason := range []string{"length", "content_filter", "max_tokens", "refusal", "model_context_window_exceeded"} {
		for _, row := range rows {
			t.Run(reason+" "+row.name, func(t *testing.T) {
				t.Parallel()
				p, _ := s.with(
					t,
					Reply{
						Finish: reason,
						Calls:  []Call{{ID: "c0", Name: weather.Name, Arguments: row.first}, {ID: "c1", Name: weather.Name, Arguments: row.second}},
					},
				)
				result, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("go")}, Tools: []model.Tool{weather}})
				if err != nil || result.FinishReason != model.FinishToolCalls || len(events) != 2 {
					t.Fatalf("%d events, %s, %v", len(events), result.FinishReason, err)
				}
				if s.ended(t, reason) == model.FinishStop { // another vendor's word
					return
				}
				if row.firstCut {
					cutOff(t, result.ToolCalls[0], row.first)
				} else {
					same(t, "the call before", result.ToolCalls[0], call("c0", "Oslo"))
				}
				cutOff(t, result.ToolCalls[1], row.second)
			})
		}
	}
}

// cutOff checks a call that was.
func cutOff(t *testing.T, cut model.ToolCall, arguments []string) {
	t.Helper()
	if string(cut.Arguments) != `{}` || cut.Malformed != strings.Join(arguments, "")+"…" ||
		!strings.Contains(cut.Cut, "so the call was not made") {
		t.Errorf("the call that was cut: %+v", cut)
	}
}

// ended is what the provider makes of a vendor's reason.
func (s suite) ended(t *testing.T, reason string) model.FinishReason {
	t.Helper()
	p, _ := s.with(t, Reply{Text: []string{"hi"}, Finish: reason})
	result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	if err != nil {
		t.Error(err)
	}
	return result.FinishReason
}

// endless: an answer that is longer than any is cut.
func (s suite) endless(t *testing.T) {
	t.Parallel()
	const textBytes, argumentBytes, most = 1 << 20, 256 << 10, 64
	rome := Call{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"Rome"}`}}
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		p, _ := s.with(
			t, Reply{Text: []string{"a", strings.Repeat("é", textBytes/4), strings.Repeat("é", textBytes/2), "more"}, Calls: []Call{rome}},
		)
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("go")}})
		if err != nil || len(result.Text) != textBytes-1 || !strings.HasSuffix(result.Text, "é") || result.FinishReason != model.FinishLength ||
			len(result.ToolCalls) > 0 {
			t.Errorf("%d bytes, %s, %v", len(result.Text), result.FinishReason, err)
		}
	})
	t.Run("white space", func(t *testing.T) {
		t.Parallel()
		p, _ := s.with(t, Reply{Text: []string{strings.Repeat(" ", textBytes), " ", " ", "word"}})
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("go")}})
		if err != nil || result.Text != "" || result.FinishReason != model.FinishLength {
			t.Errorf("%d bytes, %s, %v", len(result.Text), result.FinishReason, err)
		}
	})
	t.Run("arguments", func(t *testing.T) {
		t.Parallel()
		p, _ := s.with(
			t, Reply{Calls: []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"`, strings.Repeat("x", argumentBytes), `"}`}}}},
		)
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("go")}})
		if err != nil || len(result.ToolCalls) != 1 || result.ToolCalls[0].Cut == "" ||
			len(result.ToolCalls[0].Malformed) > argumentBytes+len("…") {
			t.Errorf("%d calls, %v", len(result.ToolCalls), err)
		}
	})
	t.Run("calls", func(t *testing.T) {
		t.Parallel()
		p, _ := s.with(t, Reply{Calls: many(rome, 2*most)})
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("go")}})
		if err != nil || len(result.ToolCalls) != most || result.ToolCalls[0].ID != "c1_0" || result.FinishReason != model.FinishToolCalls {
			t.Errorf("%d calls, %v", len(result.ToolCalls), err)
		}
		if last := result.ToolCalls[most-1]; last.Cut == "" {
			t.Errorf("the last is %+v", last)
		}
	})
}

// many are so many of a call, each with its id.
func many(one Call, n int) []Call {
	calls := make([]Call, n)
	for i := range calls {
		calls[i] = one
		calls[i].ID += "_" + strconv.Itoa(i)
	}
	return calls
}

// wholeAtLast: an answer that is finished is whole, however its connection ends.
func (s suite) wholeAtLast(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]End{"cut": EndUnclosed, "left open": EndOpen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.start(
				t,
				Setup{
					APIKey: Key, Timeouts: model.Timeouts{BetweenTokens: waitLong},
					Replies: []Reply{
						{Text: []string{"All of it."}, Calls: []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"Rome"}`}}}, End: end},
					},
				},
			)
			ctx, cancel := context.WithTimeout(t.Context(), waitLong/2)
			defer cancel()
			result, _, err := ask(ctx, p, model.Request{Messages: []model.Message{user("hi")}})
			if err != nil || result.Text != "All of it." || result.Usage != Usage {
				t.Errorf("got %q with %+v, %v", result.Text, result.Usage, err)
			}
			same(t, "calls", result.ToolCalls, []model.ToolCall{call("c1", "Rome")})
		})
	}
}

// keptKeys: a key is not logged, in whatever letters a server repeats it.
func (s suite) keptKeys(t *testing.T) {
	t.Parallel()
	const key = `sk/with"odd\letters+0123`
	inJSON, _ := json.Marshal(key) // strings always marshal
	twice, _ := json.Marshal(string(inJSON))
	for name, spelled := range map[string]string{
		"plain": key, "JSON": string(inJSON), "slashes": strings.ReplaceAll(string(inJSON), "/", `\/`), "JSON in JSON": string(twice),
		"numbers": `sk\u002fwith\u0022odd\u005cletters\u002b0123`, "URL": `sk%2Fwith%22odd%5Cletters%2B0123`,
	} {
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError} {
			t.Run(name+" "+http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				reply := Reply{Status: status, Body: `{"error":{"type":"of_some_type","message":"Incorrect API key provided: ` + spelled + `"}}`}
				p, script := s.start(t, Setup{APIKey: key, Key: key, Replies: []Reply{reply, reply}})
				_, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
				if err == nil || len(script.Requests()) == 0 {
					t.Fatalf("got %v after %d requests", err, len(script.Requests()))
				}
				if said := err.Error(); strings.Contains(said, "letters") || strings.Contains(said, "Incorrect") &&
					status != http.StatusInternalServerError {
					t.Errorf("the error holds the key: %s", said)
				} else if status != http.StatusInternalServerError && json.Valid([]byte(reply.Body)) && !strings.Contains(said, "of_some_type") {
					t.Errorf("the error does not hold the code: %s", said)
				}
			})
		}
	}
}
