package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

// Key is the API key that the fakes of the suite want.
const Key = "sk-suite-0123456789abcdef"

// Setup is what the suite wants to be started: the vendor's fake that wants Key, or [Key], and
// follows Replies, and a provider of it with APIKey, Timeouts and one repeat within a millisecond.
type Setup struct {
	APIKey string
	// Key replaces the fake's when it is set.
	Key string
	// BaseURL replaces the fake's when it is set.
	BaseURL  string
	Timeouts model.Timeouts
	Replies  []Reply
}

// Start starts a fake and its provider.
type Start func(t *testing.T, s Setup) (model.Provider, *Script)

// Run is the conformance suite of model adapters.
func Run(t *testing.T, start Start) {
	t.Helper()
	s := suite{start}
	t.Run("Request", s.request)
	t.Run("Text", s.text)
	t.Run("StreamsAsItComes", s.streams)
	t.Run("ToolThenText", s.toolThenText)
	t.Run("Calls", s.calls)
	t.Run("AgentSpeaksFirst", s.agentFirst)
	t.Run("Length", s.length)
	t.Run("Lean", s.lean)
	t.Run("Refusals", s.refusals)
	t.Run("RepeatsBeforeTheFirstByte", s.repeats)
	t.Run("BreaksOff", s.breaksOff)
	t.Run("Silence", s.silence)
	t.Run("TooLongAnAnswer", s.tooLongAnAnswer)
	t.Run("Standby", s.standby)
	t.Run("AboutTheConversation", s.aboutTheConversation)
	t.Run("ListenerStops", s.listenerStops)
	t.Run("CallerHangsUp", s.callerHangsUp)
	t.Run("NobodyThere", s.nobodyThere)
	t.Run("Probe", s.probe)
	t.Run("Blanks", s.blanks)
	t.Run("MadeUp", s.madeUp)
	t.Run("Schemas", s.schemas)
	t.Run("CutCalls", s.cutCalls)
	t.Run("Endless", s.endless)
	t.Run("WholeAtLast", s.wholeAtLast)
	t.Run("KeptKeys", s.keptKeys)
}

type suite struct{ start Start }

func (s suite) with(t *testing.T, replies ...Reply) (model.Provider, *Script) {
	t.Helper()
	return s.start(t, Setup{APIKey: Key, Replies: replies})
}

// ask streams one request and collects its events.
func ask(ctx context.Context, p model.Provider, req model.Request) (model.Result, []model.Event, error) {
	var events []model.Event
	result, err := p.Stream(ctx, req, func(e model.Event) error {
		events = append(events, e)
		return nil
	})
	return result, events, err
}

func user(text string) model.Message { return model.Message{Role: model.RoleUser, Text: text} }

var weather = model.Tool{
	Name: "get_weather", Description: "Weather of a place.",
	InputSchema: json.RawMessage(
		`{"type":"object","properties":{"place":{"type":"string","maxLength":80}},"required":["place"],"additionalProperties":false}`,
	),
}

func call(id, place string) model.ToolCall {
	return model.NewToolCall(id, weather.Name, `{"place":"`+place+`"}`)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	schema := cmp.Comparer(func(a, b json.RawMessage) bool {
		var x, y any
		return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
	})
	if diff := cmp.Diff(got, want, cmpopts.EquateEmpty(), schema); diff != "" {
		t.Errorf("%s (-got +want):\n%s", what, diff)
	}
}

// request: what is asked arrives whole, in the vendor's sense.
func (s suite) request(t *testing.T) {
	t.Parallel()
	p, script := s.with(t, Reply{Text: []string{"ok"}})
	req := model.Request{
		Model: "other-model", System: "Be brief.", Tools: []model.Tool{weather}, Temperature: new(0.5), MaxOutputTokens: 99,
		Messages: []model.Message{
			user("Weather in Rome and Oslo?"),
			{Role: model.RoleAssistant, Text: "I look.", ToolCalls: []model.ToolCall{call("c1", "Rome"), call("c2", "Oslo")}},
			{Role: model.RoleTool, ToolCallID: "c1", Text: "sun"},
			{Role: model.RoleTool, ToolCallID: "c2", Text: "snow"},
			{Role: model.RoleAssistant, Text: "Sun and snow."},
			user("Thanks, and \"<b>\" \u00fc?"),
		},
	}
	if _, _, err := ask(t.Context(), p, req); err != nil {
		t.Fatal(err)
	}
	got := script.Requests()[0]
	same(t, "messages", got.Messages, req.Messages)
	same(t, "tools", got.Tools, req.Tools)
	if got.Model != req.Model || got.System != req.System {
		t.Errorf("model %q and system %q arrived", got.Model, got.System)
	}
	var numbers struct {
		Temperature         float64 `json:"temperature"`
		MaxTokens           int     `json:"max_tokens"`
		MaxCompletionTokens int     `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(got.Body, &numbers); err != nil || numbers.Temperature != 0.5 ||
		numbers.MaxTokens+numbers.MaxCompletionTokens != 99 {
		t.Errorf("numbers = %+v, %v", numbers, err)
	}
}

func (s suite) text(t *testing.T) {
	t.Parallel()
	p, script := s.with(t, Reply{Text: []string{"Hel", "lo", " there\n"}})
	result, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "events", events, []model.Event{model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"}, model.TextDelta{Text: " there\n"}})
	same(t, "result", result, model.Result{
		Text: "Hello there\n", FinishReason: model.FinishStop, Usage: Usage, Provider: p.Name(), Model: script.Requests()[0].Model,
	})
}

// streams: a piece is handed on before the next one is sent.
func (s suite) streams(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	p, _ := s.with(t, Reply{Text: []string{"one ", "two ", "three"}, Gate: gate})
	pieces := 0
	result, err := p.Stream(t.Context(), model.Request{Messages: []model.Message{user("count")}}, func(model.Event) error {
		if pieces++; pieces < 3 {
			gate <- struct{}{}
		}
		return nil
	})
	if err != nil || result.Text != "one two three" {
		t.Errorf("got %q, %v", result.Text, err)
	}
}

// toolThenText: a call, its result, and the words about it, against the fake's own checks; then
// words without tools, although there was a call.
func (s suite) toolThenText(t *testing.T) {
	t.Parallel()
	p, script := s.with(t,
		Reply{Text: []string{"Let me see."}, Calls: []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"pla`, `ce":"Ro`, `me"}`}}}},
		Reply{Text: []string{"Sunny."}}, Reply{Text: []string{"Enough."}})
	req := model.Request{Messages: []model.Message{user("Weather in Rome?")}, Tools: []model.Tool{weather}}
	asked, events, err := ask(t.Context(), p, req)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "events", events, []model.Event{model.TextDelta{Text: "Let me see."}, model.ToolCallReady{Call: call("c1", "Rome")}})
	if asked.FinishReason != model.FinishToolCalls {
		t.Errorf("finish reason %q", asked.FinishReason)
	}
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleAssistant, Text: asked.Text, ToolCalls: asked.ToolCalls},
		model.Message{Role: model.RoleTool, ToolCallID: "c1", Text: `{"sky":"clear"}`})
	told, _, err := ask(t.Context(), p, req)
	if err != nil || told.Text != "Sunny." {
		t.Fatalf("got %q, %v", told.Text, err)
	}
	same(t, "second round", script.Requests()[1].Messages, req.Messages)
	req.Tools = nil
	last, _, err := ask(t.Context(), p, req)
	if err != nil || last.Text != "Enough." {
		t.Fatalf("got %q, %v", last.Text, err)
	}
	same(t, "without tools", script.Requests()[2].Tools, []model.Tool(nil))
}

// calls: parallel, split, without arguments, and with arguments that are no JSON object.
func (s suite) calls(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		calls []Call
		want  []model.ToolCall
	}{
		{
			"parallel and split",
			[]Call{
				{ID: "c1", Name: weather.Name, Arguments: []string{`{"place"`, `:"Rome"}`}},
				{ID: "c2", Name: weather.Name, Arguments: []string{`{"place":`, `"Oslo`, `"}`}},
			},
			[]model.ToolCall{call("c1", "Rome"), call("c2", "Oslo")},
		},
		{"no arguments", []Call{{ID: "c1", Name: "now"}}, []model.ToolCall{{ID: "c1", Name: "now", Arguments: json.RawMessage(`{}`)}}},
		{
			"invalid JSON",
			[]Call{{ID: "c1", Name: "now", Arguments: []string{`{"place": Ro`, `me`}}},
			[]model.ToolCall{{ID: "c1", Name: "now", Arguments: json.RawMessage(`{}`), Malformed: `{"place": Rome`}},
		},
		{
			"no object",
			[]Call{{ID: "c1", Name: "now", Arguments: []string{`["Rome"]`}}},
			[]model.ToolCall{{ID: "c1", Name: "now", Arguments: json.RawMessage(`{}`), Malformed: `["Rome"]`}},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.with(t, Reply{Calls: row.calls})
			req := model.Request{Messages: []model.Message{user("go")}, Tools: []model.Tool{weather}}
			result, events, err := ask(t.Context(), p, req)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "calls", result.ToolCalls, row.want)
			if len(events) != len(row.want) {
				t.Errorf("%d events for %d calls", len(events), len(row.want))
			}
			// What was malformed must still be replayable: the next round may not be refused.
			req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, ToolCalls: result.ToolCalls})
			for _, c := range result.ToolCalls {
				req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, ToolCallID: c.ID, Text: "done"})
			}
			if told, _, err := ask(t.Context(), p, req); err != nil || told.Text != "The tool answered: done" {
				t.Errorf("second round: %q, %v", told.Text, err)
			}
		})
	}
}

// agentFirst: a greeting before the user's first words is no obstacle, nor is an empty answer.
func (s suite) agentFirst(t *testing.T) {
	t.Parallel()
	p, script := s.with(t)
	result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{
		{Role: model.RoleAssistant, Text: "Welcome!"}, user("hello"),
	}})
	if err != nil || result.Text != "You said: hello" {
		t.Fatalf("got %q, %v", result.Text, err)
	}
	seen := script.Requests()[0].Messages
	same(t, "last two", seen[len(seen)-2:], []model.Message{{Role: model.RoleAssistant, Text: "Welcome!"}, user("hello")})
}

func (s suite) length(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"length", "max_tokens"} {
		p, _ := s.with(t, Reply{Text: []string{"Once upon"}, Finish: word})
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("tell")}})
		if err != nil {
			t.Fatal(err)
		}
		if result.FinishReason == model.FinishLength {
			return
		}
	}
	t.Error("neither vendor's word for a cut answer became FinishLength")
}

// lean: no finish reason, no usage, no words.
func (s suite) lean(t *testing.T) {
	t.Parallel()
	untold := model.Usage{Incomplete: true}
	rows := []struct {
		name  string
		reply Reply
		want  model.Result
	}{
		{"no finish reason", Reply{Text: []string{"hi"}, NoFinish: true}, model.Result{Text: "hi", FinishReason: model.FinishStop, Usage: Usage}},
		{"no usage", Reply{Text: []string{"hi"}, NoUsage: true}, model.Result{Text: "hi", FinishReason: model.FinishStop, Usage: untold}},
		{"empty content", Reply{}, model.Result{FinishReason: model.FinishStop, Usage: Usage}},
		{
			"call without finish reason",
			Reply{NoFinish: true, NoUsage: true, Calls: []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"Rome"}`}}}},
			model.Result{FinishReason: model.FinishToolCalls, ToolCalls: []model.ToolCall{call("c1", "Rome")}, Usage: untold},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, script := s.with(t, row.reply)
			got, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
			if err != nil {
				t.Fatal(err)
			}
			row.want.Provider, row.want.Model = p.Name(), script.Requests()[0].Model
			same(t, "result", got, row.want)
		})
	}
}

// failed checks an error's decision, and that the key is in no part of it.
func failed(t *testing.T, err error, reason fault.Reason, words string) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	f := fault.From(err)
	if f.Reason != reason || !strings.Contains(f.Message, words) {
		t.Errorf("got %s %q, want %s with %q", f.Reason, f.Message, reason, words)
	}
	if strings.Contains(err.Error(), Key) || strings.Contains(err.Error(), wrongKey) {
		t.Errorf("the error holds the key: %v", err)
	}
	return f
}

const wrongKey = "sk-wrong-5550123456789"

// errOfListener stands for a listener that does not want more.
var errOfListener = errors.New("enough")

// waitLong is longer than any test waits, waitShort is soon over.
const (
	waitLong  = time.Minute
	waitShort = 50 * time.Millisecond
)
