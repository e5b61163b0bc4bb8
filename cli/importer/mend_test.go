package importer_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/harness"
)

// write writes an export into a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.json")
	clitest.WriteFile(t, path, text)
	return path
}

// assistant is an assistant of Vapi with one function.
func assistant(name, description, argument, secret string) string {
	return fmt.Sprintf(`{"name": %q, "firstMessage": "Hi", "model": {"messages": [{"role": "system", "content": "Help."}], "tools": [
		{"type": "function", "function": {"name": "look_up", "description": %q, "parameters": {"type": "object", "properties":
			{%q: {"type": "string"}}, "required": [%q]}}, "server": {"url": "https://example.com/vapi", "headers": {"X-Api-Key": %q}}}]}}`,
		name, description, argument, argument, secret)
}

// toolNames are the names of the custom tools of an agent.
func (w world) toolNames(t *testing.T, agent string) string {
	t.Helper()
	id := w.agents(t, agent)[0]["id"].(string)
	var names []string
	for _, line := range w.Run(t, "", "tools", "ls", "--agent", id, "--json").JSONLines(t) {
		if tool := line["tool"].(map[string]any); tool["bucket"] == "custom" {
			names = append(names, tool["slug"].(string))
		}
	}
	return strings.Join(names, " ")
}

// A tool of the same name and address with another definition is a tool of its own, unless the
// agent of the export uses it: then it was changed here, and is left alone.
func TestToolsOfTheSameName(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	sales, support := write(t, assistant("Sales", "by email", "email", "one")), write(t, assistant("Support", "by phone", "phone", "two"))
	w.run(t, "vapi", sales).Wants(t, command.ExitDone, "made, attached")
	w.run(t, "vapi", support).Wants(t, command.ExitDone, "look_up_2", "made, attached", "because another tool is named look_up")
	again := w.run(t, "vapi", support)
	again.Wants(t, command.ExitDone, "look_up_2", "there already, attached")
	if got := w.toolNames(t, "Sales") + ", " + w.toolNames(t, "Support"); got != "look_up, look_up_2" {
		t.Errorf("the agents use %s", got)
	}
	if schema := fmt.Sprint(w.slugs(t)["look_up_2"]["input_schema"]); !strings.Contains(schema, "phone") {
		t.Errorf("the second tool takes %s", schema)
	}
	// the same definition, of another agent: its secrets cannot be compared
	third := write(t, assistant("Third", "by email", "email", "three"))
	w.run(t, "vapi", third).Wants(t, command.ExitDone, "there already, attached", "its secrets cannot be compared")
	if out := w.run(t, "vapi", third).Out; strings.Contains(out, "cannot be compared") {
		t.Errorf("a tool that the agent uses is not its own:\n%s", out)
	}

	changed := write(t, assistant("Sales", "by name", "name", "one"))
	w.run(t, "vapi", changed).Wants(t, command.ExitDone, "there already, and different", "its description is not that of the export")
	if got := len(w.slugs(t)); got != 2 {
		t.Errorf("%d tools", got)
	}
	w.run(t, "vapi", sales, "--prefix", "crm").Wants(t, command.ExitDone, "there already, attached")
	if got := w.toolNames(t, "Sales"); got != "look_up" {
		t.Errorf("another --prefix doubles the agent's tools: %s", got)
	}
	w.run(t, "vapi", sales, "--prefix", "crm", "--name", "New").Wants(t, command.ExitDone, "crm_look_up", "made, attached")
	w.run(t, "vapi", sales, "--prefix", "shop", "--name", "New").Wants(t, command.ExitDone, "crm_look_up", "there already, attached")
	if got := w.toolNames(t, "New"); got != "crm_look_up" {
		t.Errorf("another --prefix doubles the agent's tools: %s", got)
	}
}

// A provider of speech that the workspace has no credential for is left to the installation, and
// that is left to do.
func TestSpeech(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	file := write(t, `{"name": "Mute", "firstMessage": "Hi", "model": {"provider": "anthropic", "model": "claude-sonnet-4-5"},
		"voice": {"provider": "11labs", "voiceId": "v1", "model": "eleven_flash_v2_5", "speed": 1.1},
		"transcriber": {"provider": "deepgram", "model": "nova-3", "keywords": ["Kloster"]}}`)
	looked := clitest.Execute(t, "", "import", "vapi", file, "--dry-run", "--data-dir", t.TempDir())
	looked.Wants(t, command.ExitDone, "The agent speaks with elevenlabs", "The agent hears with deepgram", "--keep-speech")

	voice := func(name string) string {
		text, err := json.Marshal(w.agents(t, name)[0]["voice"])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	made := w.run(t, "vapi", file)
	made.Wants(t, command.ExitDone, "speaks with what the installation has, and not with elevenlabs",
		"PARLANCE_TTS_PROVIDER=elevenlabs", "PARLANCE_STT_PROVIDER=deepgram", "hears with what the installation has, and not with deepgram",
		"See whether the installation has the provider anthropic", "voice.voiceId", "this key may not see whether")
	if got := voice("Mute"); strings.Contains(got, "elevenlabs") || strings.Contains(got, "v1") || strings.Contains(got, "deepgram") ||
		!strings.Contains(got, "Kloster") || !strings.Contains(got, "1.1") {
		t.Errorf("made %s", got)
	}
	w.run(t, "vapi", file).Wants(t, command.ExitDone, "there already", "and not with elevenlabs")

	// the command that is left to do gives the agent its voice
	_, text, _ := strings.Cut(made.Out, "echo '")
	text, _, _ = strings.Cut(text, "' | parlance agents update")
	w.Run(t, text, "agents", "update", w.agents(t, "Mute")[0]["id"].(string), "--file", "-").Wants(t, command.ExitDone)
	if got := voice("Mute"); !strings.Contains(got, `"voice":"v1"`) || !strings.Contains(got, `"model":"nova-3"`) {
		t.Errorf("the command made %s of %s", got, text)
	}
	if out := w.run(t, "vapi", file).Out; strings.Contains(out, "and not with elevenlabs") {
		t.Errorf("left to do, though it was done:\n%s", out)
	}

	w.run(t, "vapi", file, "--name", "Kept", "--keep-speech").Wants(t, command.ExitDone, "agent.voice.tts")
	if got := voice("Kept"); !strings.Contains(got, `"voice":"v1"`) || !strings.Contains(got, `"model":"nova-3"`) {
		t.Errorf("made %s", got)
	}
	w.credential(t, "tts", "elevenlabs")
	w.run(t, "vapi", file, "--name", "Own", "--api-key", w.Env.Tenant.Admin).Wants(t, command.ExitDone,
		"and not with deepgram as before: the workspace has no credential for it")
	if got := voice("Own"); !strings.Contains(got, `"voice":"v1"`) || strings.Contains(got, "deepgram") {
		t.Errorf("made %s", got)
	}
}

// credential gives the workspace a credential.
func (w world) credential(t *testing.T, kind, provider string) {
	t.Helper()
	made := w.Env.Do(t, http.MethodPost, w.Env.Tenant.In("/provider-credentials"),
		fmt.Sprintf(`{"kind": %q, "provider": %q, "api_key": "sk-123456"}`, kind, provider), harness.Key(w.Env.Tenant.Admin))
	if made.Status != http.StatusCreated {
		t.Fatalf("make a credential: %s", made.Body)
	}
}

// The import waits when the plan allows no more requests, and attaches nothing twice.
func TestImportWaits(t *testing.T) {
	t.Parallel()
	var refusals, attached atomic.Int32
	refusals.Store(2)
	w := world{clitest.Start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
			switch {
			case strings.HasSuffix(req.URL.Path, "/AttachTool"):
				attached.Add(1)
			case strings.HasSuffix(req.URL.Path, "/CreateTool") && refusals.Add(-1) >= 0:
				out.Header().Set("Content-Type", "application/json")
				out.Header().Set("Retry-After", "1")
				out.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(out, `{"code": "resource_exhausted", "message": "You may make 120 write requests a minute."}`)
				return
			}
			service.ServeHTTP(out, req)
		})
	}})}
	file := write(t, assistant("Sales", "by email", "email", "one"))
	w.run(t, "vapi", file).Wants(t, command.ExitDone, "made, attached", "the import waits and goes on")
	w.run(t, "vapi", file).Wants(t, command.ExitDone, "there already, attached")
	if got := attached.Load(); got != 1 {
		t.Errorf("attached %d times", got)
	}
}

// A base URL that leads to something else is said to.
func TestNoService(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(out, "<html>Welcome</html>")
	}))
	t.Cleanup(page.Close)
	got := clitest.Execute(t, "", "import", "vapi", example("vapi/small.json"), "--data-dir", t.TempDir(), "--base-url", page.URL+"/v1",
		"--api-key", "k", "--workspace", "ws_1")
	got.Wants(t, command.ExitFailed, "does not lead to a Parlance service", page.URL)
}

// What an export fixes arrives at the endpoint, and an answer keeps the values of plain headers.
func TestImportedToolIsCalled(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	api := httptool.New(t)
	file := write(t, `{"llm_id": "llm_1", "general_prompt": "p", "general_tools": [{"type": "custom", "name": "find",
		"url": "`+api.URL+`/find", "method": "POST", "args_at_root": true, "headers": {"X-Version": "2", "X-Name": "{{name}}"},
		"parameters": {"type": "object",
		"properties": {"day": {"type": "string"}, "who": {"type": "object", "required": ["team", "email"], "properties": {
			"team": {"type": "string", "const": "blue"}, "name": {"type": "string", "const": "{{name}}"}, "email": {"type": "string"}}}}}}]}`)
	made := w.run(t, "retell", file)
	made.Wants(t, command.ExitDone, "made, attached")
	id := w.slugs(t)["find"]["id"].(string)
	ran := w.Run(t, "", "tools", "run", id, "--args", `{"day": "2", "who": {"email": "a@example.com"}}`, "--var", "name=Ann")
	ran.Wants(t, command.ExitDone)
	got := api.Requests("/find")[0]
	if text := string(got.Body); !sameObject(t, text, `{"day": "2", "who": {"email": "a@example.com", "team": "blue", "name": "Ann"}}`) {
		t.Errorf("sent %s", text)
	}
	if got.Header.Get("X-Version") != "2" || got.Header.Get("X-Name") != "Ann" {
		t.Errorf("sent %v", got.Header)
	}
	if strings.Contains(ran.Out, "REDACTED") || !strings.Contains(ran.Out, "blue") {
		t.Errorf("the model gets %s", ran.Out)
	}
}

func sameObject(t *testing.T, one, other string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(one), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(other), &b); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}

// Members of a list that share a sentence are one line.
func TestLostLists(t *testing.T) {
	t.Parallel()
	file := write(t, `{"conversation_flow_id": "cf", "global_prompt": "p", "nodes": [{"type": "conversation"}, {"type": "function"},
		{"type": "conversation"}], "tools": [{"type": "custom", "name": "a", "url": "https://example.com", "headers": {}},
		{"type": "custom", "name": "b", "url": "https://example.com", "headers": {}}]}`)
	got := clitest.Execute(t, "", "import", "retell", file, "--dry-run", "--data-dir", t.TempDir())
	got.Wants(t, command.ExitDone, "  nodes[0] and 1 more\n", "  nodes[1]\n", "tools[0].headers (and 1 more)", "if the service accepts it")
	if strings.Contains(got.Out, "nodes[2]") {
		t.Errorf("a line for each:\n%s", got.Out)
	}
}
