package scenario

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// TestPatchMergesObjects: absent keeps and null clears inside the contract's objects too; free
// JSON objects and lists are values.
func TestPatchMergesObjects(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	made := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada",
		"model":{"provider":"extractive","name":"m","temperature":0.5,"fallbacks":[{"name":"f"}]},
		"voice":{"tts":{"voice":"a","speed":2},"input_audio_format":"g711_ulaw"},
		"retrieval":{"top_k":7,"ranking":"hybrid"},"memory":{"enabled":true}}`).Must(t, 201)
	path := env.Tenant.In("/agents/" + made.Text("id"))
	for _, row := range []struct {
		body string
		want map[string]any
	}{
		{`{"model":{"temperature":1}}`, map[string]any{
			"model.temperature": 1.0, "model.name": "m",
			"model.provider": "extractive", "model.fallbacks": []any{map[string]any{"provider": "", "name": "f"}},
		}},
		{`{"model":{"temperature":null}}`, map[string]any{"model.temperature": nil, "model.name": "m"}},
		{`{"model":{"name":"","fallbacks":[]}}`, map[string]any{"model.name": "", "model.provider": "extractive", "model.fallbacks": []any{}}},
		{`{"model":{}}`, map[string]any{"model.provider": "extractive"}},
		{`{"voice":{"tts":{"voice":"b"}}}`, map[string]any{"voice.tts": map[string]any{"voice": "b"}, "voice.input_audio_format": "g711_ulaw"}},
		{`{"voice":{"inputAudioFormat":null}}`, map[string]any{"voice.tts": map[string]any{"voice": "b"}, "voice.input_audio_format": ""}},
		{`{"retrieval":{"top_k":null}}`, map[string]any{"retrieval.top_k": 5.0, "retrieval.ranking": "hybrid"}},
		{`{"memory":{}}`, map[string]any{"memory.enabled": true}},
		{`{"memory":{"enabled":false}}`, map[string]any{"memory.enabled": false}},
		{`{"max_duration_seconds":60,"idle_timeout_seconds":20}`, map[string]any{"max_duration_seconds": 60.0, "idle_timeout_seconds": 20.0}},
		{`{"max_duration_seconds":0,"idle_timeout_seconds":0}`, map[string]any{"max_duration_seconds": 3600.0, "idle_timeout_seconds": 0.0}},
		{`{"model":null}`, map[string]any{"model.provider": "", "model.name": ""}},
	} {
		got := env.Do(t, "PATCH", path, row.body).Must(t, 200)
		for at, want := range row.want {
			if diff := cmp.Diff(want, got.At(steps(at)...)); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", row.body, at, diff)
			}
		}
	}
	refused := env.Do(t, "PATCH", path, `{"model":{"temperature":3}}`)
	checkProblem(t, refused, 400, "invalid-request")
	checkProblem(t, env.Do(t, "PATCH", path, `{"idle_timeout_seconds":9}`), 400, "invalid-request")

	// gRPC's clients may name the field in a mask, the whole object, or leave the mask out.
	clients := env.Clients(t, harness.Protocols()[3], env.Tenant.Operator)
	for _, row := range []struct {
		paths []string
		model *parlancev1.AgentModel
		want  string
	}{
		{[]string{"model"}, &parlancev1.AgentModel{Name: "whole"}, `whole 0`},
		{[]string{"model.max_output_tokens"}, &parlancev1.AgentModel{Name: "ignored", MaxOutputTokens: 9}, `whole 9`},
		{nil, &parlancev1.AgentModel{Name: "bare"}, `bare 9`},
		{[]string{"model.max_output_tokens"}, nil, `bare 0`},
		{[]string{"model"}, nil, ` 0`},
	} {
		request := &parlancev1.UpdateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, AgentId: made.Text("id"), Model: row.model}
		if row.paths != nil {
			request.UpdateMask = &fieldmaskpb.FieldMask{Paths: row.paths}
		}
		got, err := clients.Agents.UpdateAgent(t.Context(), request)
		if err != nil {
			t.Fatalf("%v: %v", row.paths, err)
		}
		if said := fmt.Sprint(got.GetModel().GetName(), " ", got.GetModel().GetMaxOutputTokens()); said != row.want {
			t.Errorf("%v: got %q, want %q", row.paths, said, row.want)
		}
	}
}

// steps are the parts of a dotted path.
func steps(path string) []any {
	var out []any
	for start, i := 0, 0; i <= len(path); i++ {
		if i == len(path) || path[i] == '.' {
			out = append(out, path[start:i])
			start = i + 1
		}
	}
	return out
}

// TestSmallContracts: an attachment keeps the cap that a second attach does not speak of; a tool
// whose address has become unfit can still be described otherwise; a turn says something.
func TestSmallContracts(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true, Guarded: true})
	in := env.Tenant.In
	agent := env.Do(t, "POST", in("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	tool := env.Do(t, "POST", in("/tools"),
		`{"slug":"shop","description":"d","kind":"http","webhook_url":"https://shop.example/x"}`).Must(t, 201).Text("id")
	for _, row := range []struct {
		body    string
		enabled bool
		limit   float64
	}{
		{`{"tool_id":"` + tool + `","enabled":true,"max_calls_per_session":3}`, true, 3},
		{`{"tool_id":"` + tool + `","enabled":false}`, false, 3},
		{`{"tool_id":"` + tool + `"}`, true, 3},
		{`{"tool_id":"` + tool + `","max_calls_per_session":0}`, true, 0},
	} {
		got := env.Do(t, "POST", in("/agents/"+agent+"/tools/attach"), row.body).Must(t, 200)
		if got.At("enabled") != row.enabled || got.At("max_calls_per_session") != row.limit {
			t.Errorf("%s: %s", row.body, got.Body)
		}
	}

	env.Exec(t, `UPDATE tools SET config = jsonb_set(config, '{webhook_url}', '"http://10.0.0.1/x"')`)
	patched := env.Do(t, "PATCH", in("/tools/"+tool), `{"description":"another"}`).Must(t, 200)
	if patched.Text("description") != "another" || patched.Text("webhook_url") != "http://10.0.0.1/x" {
		t.Errorf("got %s", patched.Body)
	}
	checkProblem(t, env.Do(t, "PATCH", in("/tools/"+tool), `{"webhook_url":"http://10.0.0.2/x"}`), 400, "invalid-request")

	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	for _, text := range []string{"", " ", `\n\t\u00a0\u3000`} {
		got := env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"`+text+`"}`)
		checkProblem(t, got, 400, "invalid-request")
		if fields := got.Problem.Fields(); len(fields) != 1 || fields[0] != "text" {
			t.Errorf("%q: fields %v", text, fields)
		}
	}
}
