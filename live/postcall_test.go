package live_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
)

// utterancesOf returns the utterances of a session's only post_call_transcription.
func (f *fixture) utterancesOf(t *testing.T, id sessions.ID) (said []map[string]any) {
	t.Helper()
	calls := f.postCalls(t, id)
	if len(calls) != 1 {
		t.Fatalf("%d events", len(calls))
	}
	for _, one := range calls[0]["transcript"].([]any) {
		said = append(said, one.(map[string]any))
	}
	return said
}

// TestPostCallSaysWhatWasCalled: tool_has_been_called is true of calls that are known to have been
// made, and of no others. A call's result says the same, and its latency in both units.
func TestPostCallSaysWhatWasCalled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "find_order", "POST", 2)
	f.endpoint.Script("/find_order", httptool.Step{Body: `{"state":"shipped"}`}, httptool.Step{Status: 500, Body: "no"})
	own := []model.Tool{{Name: "open_page", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	f.model = &script{steps: []step{
		say("", call("find_order", `{"id":"A1"}`)), say("", call("find_order", `{"id":"A2"}`)), say("", call("find_order", `{"id":"A3"}`)),
		say("", call("find_order", `{"id":7}`), call("no_such_tool", `{}`)),
		say("", call("open_page", `{"n":1}`), call("open_page", `{"n":2}`)), say("", call("open_page", `{"n":3}`)),
	}}
	made := f.create(t, withPin)
	id := made.Session.ID
	turn, err := f.Say(t.Context(), f.principal, id, requests.Params{Text: "go", ClientTools: own}, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := turn.OpenClientCalls()
	if len(asked) != 2 {
		t.Fatalf("asked for %+v", turn.ToolCalls())
	}
	_, err = f.Say(t.Context(), f.principal, id, requests.Params{ClientTools: own, Outputs: []turns.ToolOutput{
		{CallID: asked[0].ID, Output: "Done."}, {CallID: asked[1].ID, Output: "No.", IsError: true},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.End(t.Context(), f.principal, id, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, said := range f.utterancesOf(t, id) {
		calls, _ := said["tool_calls"].([]any)
		for _, one := range calls {
			call := one.(map[string]any)
			got[call["tool_name"].(string)+" "+call["params_as_json"].(string)] = call["tool_has_been_called"]
		}
		for i, one := range said["tool_results"].([]any) {
			result := one.(map[string]any)
			if result["tool_has_been_called"] != calls[i].(map[string]any)["tool_has_been_called"] ||
				result["tool_latency_secs"] != result["tool_latency_ms"].(float64)/1000 {
				t.Errorf("the result of %v is %v", calls[i], result)
			}
		}
	}
	want := map[string]any{
		`find_order {"id":"A1"}`: true, `find_order {"id":"A2"}`: true, // the endpoint's own failure
		`find_order {"id":"A3"}`: false, `find_order {"id":7}`: false, `no_such_tool {}`: false, // the cap, the arguments, no tool
		`open_page {"n":1}`: true, `open_page {"n":2}`: true,
		`open_page {"n":3}`: false, // the client sent no result
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tool_has_been_called (-want +got):\n%s", diff)
	}
}

// TestPostCallFeedback: an answer's feedback is ElevenLabs' object, and null when there is none.
func TestPostCallFeedback(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("One."), say("Two.")}}
	made := f.create(t, withPin)
	for _, text := range []string{"first", "second"} {
		if _, err := f.Say(t.Context(), f.principal, made.Session.ID, requests.Params{Text: text}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sessions.SetFeedback(t.Context(), f.db, made.Session, sessions.Feedback{TurnIndex: 1, Score: sessions.Dislike}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	got := map[any]any{}
	for _, said := range f.utterancesOf(t, made.Session.ID) {
		got[said["message"]] = said["feedback"]
		if given, ok := said["feedback"].(map[string]any); ok && given["time_in_call_secs"] != said["time_in_call_secs"] {
			t.Errorf("the time of the feedback: %v", said)
		} else if ok {
			got[said["message"]] = given["score"]
		}
	}
	want := map[any]any{"first": nil, "One.": nil, "second": nil, "Two.": "dislike"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("feedback (-want +got):\n%s", diff)
	}
}

// TestPostCallInitiation: the creation parameters stand where ElevenLabs' receivers expect them,
// and the others under our own names.
func TestPostCallInitiation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rows := []struct{ name, overrides, voice, want string }{
		{"nothing", `{}`, `{}`, `null`},
		{"a language", `{"language":"en"}`, `{}`, `{"agent":{"language":"en"}}`},
		{
			"all that has a place", `{"instructions":"Be brief.","model":"m-2","first_message":"Hi","language":"de"}`,
			`{"tts":{"voice":"v","speed":1.2},"stt":{"keywords":["Köln"]}}`,
			`{"agent":{"prompt":{"prompt":"Be brief.","llm":"m-2"},"first_message":"Hi","language":"de"},` +
				`"tts":{"voice_id":"v","speed":1.2},"asr":{"keywords":["Köln"]}}`,
		},
		{
			"the rest", `{"model":{"provider":"openai","name":"m","max_output_tokens":100},` +
				`"temperature":0.5,"retrieval":{"top_k":3},"voice":{"vad":{"threshold":0.4},"tts":{"voice":"first"}}}`,
			`{"tts":{"provider":"openai","voice":"v"},"input_audio_format":"g711_ulaw"}`,
			`{"agent":{"prompt":{"llm":"m"}},"tts":{"voice_id":"v"},` +
				`"parlance":{"model":{"provider":"openai","max_output_tokens":100},"temperature":0.5,"retrieval":{"top_k":3},` +
				`"vad":{"threshold":0.4},"tts":{"provider":"openai"},"input_audio_format":"g711_ulaw"}}`,
		},
	}
	for _, row := range rows {
		made := f.create(t, func(p *sessions.CreateParams) {
			for text, into := range map[string]*map[string]json.RawMessage{row.overrides: &p.Overrides, row.voice: &p.VoiceStackOverride} {
				if err := json.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			p.DynamicVariables = map[string]string{"name": "Ann", "secret__pin": "4711"}
		})
		f.turn(t, made.Session.ID, "Hello?")
		if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
			t.Fatal(err)
		}
		var want any
		if err := json.Unmarshal([]byte(row.want), &want); err != nil {
			t.Fatal(err)
		}
		initiation := f.postCalls(t, made.Session.ID)[0]["conversation_initiation_client_data"].(map[string]any)
		if diff := cmp.Diff(want, initiation["conversation_config_override"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
		if diff := cmp.Diff(map[string]any{"name": "Ann"}, initiation["dynamic_variables"]); diff != "" {
			t.Errorf("%s: variables (-want +got):\n%s", row.name, diff)
		}
	}
}

// TestPostCallFits: the body has at most 256 KiB, whichever part of it is large. Small parts are
// complete.
func TestPostCallFits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.model = &script{steps: []step{say("Hi."), say("Hi."), say(strings.Repeat("long ", 60_000)), say("Hi.")}}
	instructions, variables := json.RawMessage(`"`+strings.Repeat("🙂", 80_000)+`"`), map[string]string{}
	for i := range 64 {
		variables["v"+strconv.Itoa(i)] = strings.Repeat("x", 4096)
	}
	all := map[string]bool{"transcript": true, "conversation_config_override": true, "dynamic_variables": true}
	rows := []struct {
		name   string
		change func(*sessions.CreateParams)
		left   map[string]bool
	}{
		{"small", func(*sessions.CreateParams) {}, all},
		{
			"overrides", func(p *sessions.CreateParams) { p.Overrides["instructions"] = instructions },
			map[string]bool{"dynamic_variables": true},
		},
		{"a long answer", func(*sessions.CreateParams) {}, map[string]bool{
			"conversation_config_override": true,
			"dynamic_variables":            true,
		}},
		{"variables", func(p *sessions.CreateParams) { p.DynamicVariables = variables }, map[string]bool{}},
	}
	for _, row := range rows {
		made := f.create(t, func(p *sessions.CreateParams) {
			p.Overrides, p.DynamicVariables = map[string]json.RawMessage{"language": json.RawMessage(`"en"`)},
				map[string]string{"name": "Ann"}
			row.change(p)
		})
		f.turn(t, made.Session.ID, "Hello?")
		if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
			t.Fatal(err)
		}
		var size int
		if err := f.db.NewRaw("SELECT length(body) FROM events WHERE subject = ?", made.Session.ID).Scan(t.Context(), &size); err != nil {
			t.Fatal(err)
		}
		if size > 256<<10 {
			t.Errorf("%s: a body of %d bytes", row.name, size)
		}
		data := f.postCalls(t, made.Session.ID)[0]
		initiation := data["conversation_initiation_client_data"].(map[string]any)
		left := map[string]bool{}
		for name, value := range map[string]any{
			"transcript":                   data["transcript"],
			"conversation_config_override": initiation["conversation_config_override"],
			"dynamic_variables":            initiation["dynamic_variables"],
		} {
			if reflect.ValueOf(value).IsValid() && reflect.ValueOf(value).Len() > 0 {
				left[name] = true
			}
		}
		if diff := cmp.Diff(row.left, left); diff != "" {
			t.Errorf("%s: what is left (-want +got):\n%s", row.name, diff)
		}
		if cut := row.name != "small"; data["truncated"] != cut || (data["transcript_url"] != "") != cut {
			t.Errorf("%s: truncated %v, %v", row.name, data["truncated"], data["transcript_url"])
		}
	}
}
