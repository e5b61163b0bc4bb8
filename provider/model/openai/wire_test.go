package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/test/fake/openaichat"
)

// streamed asks a server that answers exactly these events.
func streamed(t *testing.T, events ...string) (model.Result, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, strings.Join(events, "\n\n"))
	}))
	t.Cleanup(server.Close)
	p := provider(t, openai.Config{BaseURL: server.URL + "/v1"})
	return p.Stream(
		t.Context(), model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}, func(model.Event) error { return nil },
	)
}

func content(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}],"usage":null}`
}

// TestDialects are answers of compatible servers that differ from OpenAI's and are whole.
func TestDialects(t *testing.T) {
	t.Parallel()
	untold := model.Usage{Incomplete: true}
	const done = "data: [DONE]"
	call := func(id, name, arguments string) model.ToolCall { return model.NewToolCall(id, name, arguments) }
	piece := func(json string) string { return `data: {"choices":[{"delta":{"tool_calls":[` + json + `]}}]}` }
	rows := []struct {
		name   string
		events []string
		text   string
		calls  []model.ToolCall
		usage  model.Usage
	}{
		{"error null", []string{`data: {"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, done, ""}, "a", nil, untold},
		{"comments between", []string{": PROCESSING", content("a"), ": PROCESSING", content("b"), done, ""}, "ab", nil, untold},
		{"no empty line at the end", []string{content("a"), done}, "a", nil, untold},
		{"nothing after the reason", []string{`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, ""}, "a", nil, untold},
		{"no or null choices", []string{`data: {"choices":[]}`, `data: {"choices":null}`, `data: {}`, content("a"), done, ""}, "a", nil, untold},
		{"fields of other types", []string{
			`data: {"created":"now","choices":[{"delta":{"content":[{"type":"thinking"}]}}],"usage":{"prompt_tokens":1.5}}`, content("a"), done, "",
		}, "a", nil, untold},
		{"usage in each chunk", []string{
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
			`data: {"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, content("c"), done, "",
		}, "abc", nil, model.Usage{InputTokens: 3, OutputTokens: 2}},
		{
			"refusal",
			[]string{`data: {"choices":[{"delta":{"content":null,"refusal":"I may not."},"finish_reason":"stop"}]}`, done, ""},
			"I may not.", nil, untold,
		},
		{"whole calls with index 0 each", []string{
			piece(
				`{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"n\":1}"}}`,
			), piece(`{"index":0,"id":"c2","function":{"name":"f","arguments":"{}"}}`), done, "",
		}, "", []model.ToolCall{call("c1", "f", `{"n":1}`), call("c2", "f", `{}`)}, untold},
		{"calls in one chunk", []string{
			piece(`{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":null}}`), done, "",
		}, "", []model.ToolCall{call("call_1", "f", `{}`), call("call_2", "g", "")}, untold},
		{"arguments as an object", []string{
			piece(`{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":{"n":1}}}`), done, "",
		}, "", []model.ToolCall{call("c1", "f", `{"n":1}`)}, untold},
		{"id repeated in each piece", []string{
			piece(
				`{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"n\""}}`,
			), piece(`{"index":0,"id":"c1","function":{"name":"f","arguments":":1}"}}`), done, "",
		}, "", []model.ToolCall{call("c1", "f", `{"n":1}`)}, untold},
		{"other choices", []string{
			`data: {"choices":[{"index":1,"delta":{"content":"wrong"}}]}`,
			`data: {"choices":[{"index":1,"delta":{"content":"wrong"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"}}]}`,
			content("b"), done, "",
		}, "ab", nil, untold},
		{
			"a letter in two",
			[]string{content(`a\ud83d`), content(`\ude00b \\ud83d`), content(`c\uD83D`), content(`\uDE00`), done, ""},
			"a\U0001f600b \\ud83dc\U0001f600", nil, untold,
		},
		{"half a letter", []string{content(`a\ud83d`), content("b"), content(`\ude00c`), done, ""}, "ab\ufffdc", nil, untold},
		{"a letter of arguments in two", []string{
			piece(
				`{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"n\":\"\ud83d"}}`,
			), piece(`{"index":0,"function":{"arguments":"\ude00\"}"}}`), done, "",
		}, "", []model.ToolCall{call("c1", "f", "{\"n\":\"\U0001f600\"}")}, untold},
		{
			"a message beside the piece",
			[]string{`data: {"choices":[{"delta":{"content":"b"},"message":{"content":"ab"}}]}`, done, ""},
			"b", nil,
			untold,
		},
		{
			"an error behind the end",
			[]string{`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, `data: {"error":{"message":"cannot count"}}`, ""},
			"a", nil, untold,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := streamed(t, row.events...)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != row.text || got.Usage != row.usage {
				t.Errorf("got %q with %+v, want %q with %+v", got.Text, got.Usage, row.text, row.usage)
			}
			if diff := gocmp.Diff(got.ToolCalls, row.calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAtOnce: a server that does not stream is understood, and what is no answer at all is told
// apart.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	call := openaichat.Call{ID: "c1", Name: "look", Arguments: []string{`{"at":"it"}`}}
	fake := openaichat.New(t, openaichat.Reply{AtOnce: true, Text: []string{"Not ", "streamed."}, Calls: []openaichat.Call{call}})
	p := provider(t, openai.Config{BaseURL: fake.BaseURL})
	var events []model.Event
	got, err := p.Stream(t.Context(), model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}, func(e model.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	made := model.NewToolCall("c1", "look", `{"at":"it"}`)
	want := model.Result{
		Text: "Not streamed.", ToolCalls: []model.ToolCall{made}, FinishReason: model.FinishToolCalls, Usage: modeltest.Usage,
		Provider: "openai", Model: openaichat.Model,
	}
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(events, []model.Event{model.TextDelta{Text: "Not streamed."}, model.ToolCallReady{Call: made}}); diff != "" {
		t.Error(diff)
	}
	for body, words := range map[string]string{
		"<html><body>Sign in</body></html>\n": "did not answer with an event stream", "": "did not answer with an event stream",
		`{"status":"ok"}`: "did not answer with an event stream", `{"error":{"message":"no"}}`: "reported an error",
		`{"choices":`:  "reported an error",
		"data: {}\n\n": "broke off", ": waiting\n\n": "broke off",
	} {
		if _, err := streamed(t, body); err == nil || !strings.Contains(fault.From(err).Message, words) {
			t.Errorf("%q: got %v, want %s", body, err, words)
		}
	}
}

// TestThoughts: a model that thinks has begun to answer, in whatever shape its server says so.
func TestThoughts(t *testing.T) {
	t.Parallel()
	for _, delta := range []string{
		`"reasoning_content":"hm"`, `"content":"","reasoning":"hm"`, `"reasoning_details":[{"text":"hm"}]`, `"content":[{"type":"thinking"}]`,
		`"tool_calls":[{"index":0,"id":"c1"}]`,
	} {
		for _, more := range []string{delta, `"content":"","reasoning":"","reasoning_content":null,"reasoning_details":[]`} {
			hungUp := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, `data: {"choices":[{"delta":{`+more+`}}]}`+"\n\n")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(hungUp)
			}))
			p := provider(
				t,
				openai.Config{
					BaseURL: server.URL + "/v1", Timeouts: model.Timeouts{FirstToken: 300 * time.Millisecond, BetweenTokens: time.Millisecond},
				},
			)
			_, err := p.Stream(
				t.Context(), model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}, func(model.Event) error { return nil },
			)
			<-hungUp
			server.Close()
			want := "fell silent in the middle"
			if more != delta {
				want = "did not begin to answer in time"
			}
			if err == nil || !strings.Contains(fault.From(err).Message, want) {
				t.Errorf("%s: got %v, want %s", more, err, want)
			}
		}
	}
}

// TestBrokenStreams are answers that are not whole: their words are kept, their calls not.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	const whole = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}}]}`
	rows := []struct {
		name, last string
		reason     fault.Reason
	}{
		{"error event", `data: {"error":{"message":"boom","type":"server_error"}}`, fault.UpstreamFailed},
		{"error as text", `data: {"error":"boom"}`, fault.UpstreamFailed},
		{"error object", `data: {"object":"error","message":"boom","code":40303}`, fault.UpstreamFailed},
		{"overloaded", `data: {"error":{"message":"wait","type":"rate_limit_exceeded"}}`, fault.ServiceUnavailable},
		{"half an event", `data: {"choices":[{"delta":{"con`, fault.UpstreamFailed},
		{"no end", "", fault.UpstreamFailed},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := streamed(t, content("Half"), whole, row.last)
			if !fault.IsReason(err, row.reason) {
				t.Errorf("got %v, want %s", err, row.reason)
			}
			if got.Text != "Half" || len(got.ToolCalls) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// sent notes the one request and where it goes, and answers it like a server would.
type sent struct {
	url  string
	body map[string]any
}

func (s *sent) RoundTrip(req *http.Request) (*http.Response, error) {
	s.url = req.URL.String()
	if err := json.NewDecoder(req.Body).Decode(&s.body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(content("a") + "\n\ndata: [DONE]\n\n")),
		Request: req,
	}, nil
}

// TestWhereAndWhat: the URL for each way to write a base, and the limit in the server's word.
func TestWhereAndWhat(t *testing.T) {
	t.Parallel()
	const ours, theirs = "max_completion_tokens", "max_tokens"
	rows := []struct{ base, url, limit, other string }{
		{"", "https://api.openai.com/v1/chat/completions", ours, theirs},
		{"https://API.openai.com/v1", "https://API.openai.com/v1/chat/completions", ours, theirs},
		{"https://eu.api.openai.com/v1/", "https://eu.api.openai.com/v1/chat/completions", ours, theirs},
		{"http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions", theirs, ours},
		{"http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions", theirs, ours},
		{"https://api.openai.com.example/v1?version=2", "https://api.openai.com.example/v1/chat/completions?version=2", theirs, ours},
	}
	for _, row := range rows {
		t.Run(row.base, func(t *testing.T) {
			t.Parallel()
			seen := &sent{}
			p, err := openai.New(openai.Config{BaseURL: row.base, Model: openaichat.Model, Client: &http.Client{Transport: seen}})
			if err != nil {
				t.Fatal(err)
			}
			req := model.Request{MaxOutputTokens: 99, Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}
			if _, err := p.Stream(t.Context(), req, func(model.Event) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if seen.url != row.url || seen.body[row.limit] != 99.0 || seen.body[row.other] != nil {
				t.Errorf("sent %v to %s", seen.body, seen.url)
			}
			want := map[string]any{
				"model": openaichat.Model, "stream": true, "stream_options": map[string]any{"include_usage": true}, row.limit: 99.0,
				"messages": []any{map[string]any{"role": "user", "content": "hi"}},
			}
			if diff := gocmp.Diff(seen.body, want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// BenchmarkStream reads an answer of 300 pieces.
func BenchmarkStream(b *testing.B) {
	body := strings.Repeat(content("a piece ")+"\n\n", 300) + "data: [DONE]\n\n"
	p, err := openai.New(openai.Config{Model: openaichat.Model, Client: &http.Client{Transport: answering(body)}})
	if err != nil {
		b.Fatal(err)
	}
	req := model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// answering answers every request with these events.
type answering string

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a))), Request: req,
	}, nil
}
