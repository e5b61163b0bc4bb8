package importer_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/harness"
)

// caller is an assistant of Vapi with a tool that calls an address.
func caller(id, name, tool, address string) string {
	return fmt.Sprintf(`{"id": %q, "name": %q, "firstMessage": "Hi", "model": {"messages": [{"role": "system", "content": "Help."}],
		"tools": [{"type": "apiRequest", "name": %q, "url": %q}]}}`, id, name, tool, address)
}

// uses are the addresses of the custom tools of an agent of this name.
func (w world) uses(t *testing.T, agent string) string {
	t.Helper()
	for _, one := range w.agents(t, agent) {
		if one["name"] != agent {
			continue
		}
		var urls []string
		for _, line := range w.Run(t, "", "tools", "ls", "--agent", one["id"].(string), "--json").JSONLines(t) {
			if tool := line["tool"].(map[string]any); tool["bucket"] == "custom" {
				urls = append(urls, tool["webhook_url"].(string))
			}
		}
		return strings.Join(urls, " ")
	}
	return "no agent"
}

// patch changes a tool, as somebody does who edits it here.
func (w world) patch(t *testing.T, slug, body string) {
	t.Helper()
	changed := w.Env.Do(t, http.MethodPatch, w.Env.Tenant.In("/tools/"+w.slugs(t)[slug]["id"].(string)), body, harness.Key(w.Env.Tenant.Admin))
	if changed.Status != http.StatusOK {
		t.Fatalf("change %s: %s", slug, changed.Body)
	}
}

// An agent keeps its tool, whatever else is in the export, and in whatever order.
func TestToolsInAnotherOrder(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	const a, b, c = "https://example.com/a", "https://example.com/b", "https://example.com/c"
	sa, sb, sc := caller("i1", "SA", "find", a), caller("i2", "SB", "find", b), caller("i3", "SC", "find", c)
	one, other := write(t, sa), write(t, sb)
	w.run(t, "vapi", one, other).Wants(t, command.ExitDone, "find_2", "made, attached")
	w.run(t, "vapi", other, one).Wants(t, command.ExitDone, "there already, attached")
	three := write(t, "["+sc+","+sa+","+sb+"]")
	for range 2 {
		w.run(t, "vapi", three).Wants(t, command.ExitDone, "find_3", "attached")
	}
	w.run(t, "vapi", write(t, "["+sb+","+sc+"]")).Wants(t, command.ExitDone, "there already, attached")
	if got := w.uses(t, "SA") + " " + w.uses(t, "SB") + " " + w.uses(t, "SC"); got != a+" "+b+" "+c || len(w.slugs(t)) != 3 {
		t.Errorf("the agents use %s of %d tools", got, len(w.slugs(t)))
	}
}

// Two assistants of one export that are alike but for their tools stay two, in every order.
func TestTwins(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	const a, b = "https://example.com/a", "https://example.com/b"
	first, second := caller("i6", "Twin", "go", a), caller("i7", "Twin", "go", b)
	w.run(t, "vapi", write(t, "["+first+","+second+"]")).Wants(t, command.ExitDone, "Twin (i7)", "another agent of the export is named Twin")
	w.run(t, "vapi", write(t, "["+second+","+first+"]")).Wants(t, command.ExitDone, "there already, attached")
	w.run(t, "vapi", write(t, second)).Wants(t, command.ExitDone, "Twin (i7)", "there already, attached")
	if got := w.uses(t, "Twin") + " " + w.uses(t, "Twin (i7)"); got != a+" "+b || len(w.agents(t, "Twin")) != 2 || len(w.slugs(t)) != 2 {
		t.Errorf("the agents use %s", got)
	}
}

// An assistant that was imported alone stays itself beside another one of its name.
func TestTwinComesLater(t *testing.T) {
	t.Parallel()
	const a, b = "https://example.com/a", "https://example.com/b"
	first, second := caller("i6", "Twin", "go", a), caller("i7", "Twin", "go", b)
	for name, other := range map[string]string{
		"alike": second, "with other instructions": strings.Replace(second, "Help.", "Sell.", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{clitest.Start(t, clitest.Options{})}
			w.run(t, "vapi", write(t, first)).Wants(t, command.ExitDone, "made, attached")
			for range 2 {
				w.run(t, "vapi", write(t, "["+other+","+first+"]")).Wants(t, command.ExitDone, "Twin (i7)", "there already, attached")
			}
			if got := w.uses(t, "Twin") + " " + w.uses(t, "Twin (i7)"); got != a+" "+b || len(w.agents(t, "Twin")) != 2 {
				t.Errorf("the agents use %s", got)
			}
		})
	}
}

// An agent of Retell without its engine is not made; with it, it is made whole.
func TestEngineIsGivenLater(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	const tool = `{"type": "custom", "name": %q, "url": "https://example.com", "args_at_root": true}`
	for name, one := range map[string]struct{ response, engine string }{
		"Engine": {`"type": "retell-llm", "llm_id": "x"`, `{"llm_id": "x", "general_prompt": "Be kind.", "general_tools": [%s]}`},
		"Flow": {
			`"type": "conversation-flow", "conversation_flow_id": "x"`,
			`{"conversation_flow_id": "x", "global_prompt": "Be kind.", "tools": [%s]}`,
		},
	} {
		agent := write(t, `{"agent_id": "a", "agent_name": "`+name+`", "response_engine": {`+one.response+`}}`)
		looked := clitest.Execute(t, "", "import", "retell", agent, "--dry-run", "--data-dir", t.TempDir())
		looked.Wants(t, command.ExitFailed, "not made, because the export lacks its", "run the import again with its file")
		w.run(t, "retell", agent).Wants(t, command.ExitFailed, "not made, because the export lacks its", "curl -H")
		if made := w.agents(t, name); len(made) != 0 {
			t.Errorf("made %v", made)
		}
		whole := []string{agent, write(t, fmt.Sprintf(one.engine, fmt.Sprintf(tool, name)))}
		w.run(t, "retell", whole...).Wants(t, command.ExitDone, "made, attached")
		w.run(t, "retell", agent).Wants(t, command.ExitDone, "there already, and different", "the export lacks its")
		if made := w.agents(t, name); len(made) != 1 || made[0]["instructions"] != "Be kind." {
			t.Errorf("made %v", made)
		}
	}
}

// What an export has for an agent that is left alone is not made, and the import says so.
func TestAgentIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	w.run(t, "vapi", write(t, caller("a", "Desk", "one", "https://example.com/one"))).Wants(t, command.ExitDone)
	w.run(t, "vapi", write(t, caller("b", "Other", "two", "https://example.com/two"))).Wants(t, command.ExitDone)
	w.Run(t, "", "agents", "update", w.agents(t, "Desk")[0]["id"].(string), "--instructions", "Other.").Wants(t, command.ExitDone)
	more := strings.Replace(caller("a", "Desk", "one", "https://example.com/one"), `"tools": [`, `"tools": [
		{"type": "apiRequest", "name": "two", "url": "https://example.com/two"},
		{"type": "apiRequest", "name": "three", "url": "https://example.com/three"},`, 1)
	got := w.run(t, "vapi", write(t, more))
	got.Wants(t, command.ExitFailed, "it is left alone", "three: not made, because the agent that it is for is left alone",
		"two: there already, but not attached to Desk: the agent is left alone")
	// another agent of the export gets what it uses all the same
	third := caller("c", "Third", "two", "https://example.com/two")
	w.run(t, "vapi", write(t, "["+more+","+third+"]")).Wants(t, command.ExitFailed, "two: there already, but not attached to Desk")
	if uses := w.uses(t, "Third"); uses != "https://example.com/two" {
		t.Errorf("uses %s", uses)
	}
	if uses := w.uses(t, "Desk"); uses != "https://example.com/one" || len(w.slugs(t)) != 2 {
		t.Errorf("uses %s of %v", uses, w.slugs(t))
	}
}

// --secret sets what it is given, and never the values of the export, which may be old.
func TestSecretsAreSet(t *testing.T) {
	t.Parallel()
	api := httptool.New(t)
	w := world{clitest.Start(t, clitest.Options{})}
	file := write(t, `{"llm_id": "l", "general_prompt": "p", "general_tools": [{"type": "custom", "name": "find", "url": "`+api.URL+`/find",
		"args_at_root": true, "headers": {"Authorization": "Bearer old-1234", "X-Api-Key": "old-5678", "X-Token": "old-9012", "X-Plain": "p"}}]}`)
	secret := func(header, value string) string {
		from := write(t, value)
		return "find:" + header + "=@" + from
	}
	sent := func() string {
		w.Run(t, "", "tools", "run", w.slugs(t)["find"]["id"].(string), "--args", `{}`).Wants(t, command.ExitDone)
		all := api.Requests("/find")
		header := all[len(all)-1].Header
		return header.Get("Authorization") + ", " + header.Get("X-Api-Key") + ", " + header.Get("X-Token") + ", " + header.Get("X-Plain")
	}
	w.run(t, "retell", file).Wants(t, command.ExitDone, "made, attached")
	w.patch(t, "find", `{"auth_header": "Bearer here-1234", "secret_headers": {"X-Api-Key": "here-5678", "X-Token": "here-9012"}}`)
	w.run(t, "retell", file, "--secret", secret("X-Api-Key", "new-5678")).Wants(t, command.ExitFailed, "give X-Token with --secret too")
	if got := sent(); got != "Bearer here-1234, here-5678, here-9012, p" {
		t.Errorf("sent %s", got)
	}
	w.run(t, "retell", file, "--secret", secret("Authorization", "Bearer new-1234")).Wants(t, command.ExitDone, "secrets set")
	if got := sent(); got != "Bearer new-1234, here-5678, here-9012, p" {
		t.Errorf("sent %s", got)
	}
	// a tool that was edited here is left alone but for its secrets
	w.patch(t, "find", `{"description": "Edited.", "headers": {"X-Plain": "edited"}}`)
	w.run(t, "retell", file, "--secret", secret("X-Api-Key", "new-5678"), "--secret", secret("X-Token", "new-9012")).
		Wants(t, command.ExitDone, "there already, and different", "Its secrets are set")
	if got := sent(); got != "Bearer new-1234, new-5678, new-9012, edited" || w.slugs(t)["find"]["description"] != "Edited." {
		t.Errorf("sent %s", got)
	}
}

// A proxy's refusals are waited for, and named, like those of the service.
func TestProxy(t *testing.T) {
	t.Parallel()
	var refusals atomic.Int32
	var down atomic.Bool
	w := world{clitest.Start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			switch {
			case down.Load() && strings.HasSuffix(req.URL.Path, "/CreateTool"):
				out.WriteHeader(http.StatusServiceUnavailable)
			case strings.HasSuffix(req.URL.Path, "/CreateTool") && refusals.Add(1) == 1:
				out.Header().Set("Retry-After", "1")
				out.WriteHeader(http.StatusTooManyRequests)
			default:
				out.Header().Del("Content-Type")
				service.ServeHTTP(out, req)
				return
			}
			_, _ = io.WriteString(out, "<html>Slow down</html>")
		})
	}})}
	w.run(t, "vapi", write(t, caller("a", "Desk", "one", "https://example.com/one"))).
		Wants(t, command.ExitDone, "the import waits and goes on", "made, attached")
	down.Store(true)
	got := w.run(t, "vapi", write(t, caller("b", "Other", "two", "https://example.com/two")))
	got.Wants(t, command.ExitFailed, "answers 503 Service Unavailable")
	if strings.Contains(got.Out+got.Err, "nothing answers") {
		t.Errorf("a proxy that answers is nothing:\n%s", got.Out)
	}
}

// --secret calls a tool as the import does: by its name here. It never reaches another tool.
func TestSecretOfNumberedTool(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	one, other := write(t, caller("i1", "SA", "find", "https://example.com/a")), write(t, caller("i2", "SB", "find", "https://example.com/b"))
	w.run(t, "vapi", one, other).Wants(t, command.ExitDone, "find_2", "made, attached")
	secret := write(t, "Bearer secret-1234")
	w.run(t, "vapi", other, one, "--secret", "find_2:Authorization=@"+secret).Wants(t, command.ExitDone, "secrets set")
	tools := w.slugs(t)
	if tools["find"]["auth_header_set"] == true || tools["find_2"]["auth_header_set"] != true {
		t.Errorf("the secret went to %v", tools)
	}
	// alone, the tool may be called as in the export
	w.run(t, "vapi", other, "--secret", "find:X-Api-Key=@"+secret).Wants(t, command.ExitDone, "secrets set")
	if names := fmt.Sprint(w.slugs(t)["find_2"]["secret_header_names"]); !strings.Contains(names, "X-Api-Key") {
		t.Errorf("secrets %s", names)
	}
	w.run(t, "vapi", one, other, "--secret", "find_9:Authorization=@"+secret).Wants(t, command.ExitUsage, "or has several times")
}

// An agent whose prompt is too long is not made without it.
func TestPromptIsTooLong(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	agent := write(t, fmt.Sprintf(`{"name": "Long", "conversation_config": {"agent": {"prompt": {"prompt": %q}}}}`,
		strings.Repeat("x", 100001)))
	const why = "not made, because its prompt cannot be brought over: it has more than 100,000 characters"
	clitest.Execute(t, "", "import", "elevenlabs", agent, "--dry-run", "--data-dir", t.TempDir()).Wants(t, command.ExitFailed, why)
	w.run(t, "elevenlabs", agent).Wants(t, command.ExitFailed, why)
	if made := w.agents(t, "Long"); len(made) != 0 {
		t.Errorf("made %v", made)
	}
}

// What is brought over in part is a list of its own, and says what is left out.
func TestBroughtOverInPart(t *testing.T) {
	t.Parallel()
	agent := write(t, `{"agent_name": "A", "language": ["en-US", "es-ES"], "response_engine": {"type": "retell-llm"},
		"retellLlmData": {"llm_id": "l", "general_prompt": "p"}}`)
	args := []string{"import", "retell", agent, "--dry-run", "--data-dir", t.TempDir()}
	looked := clitest.Execute(t, "", args...)
	looked.Wants(t, command.ExitDone, "Brought over in part:\n  language\n", `Left out are "es-ES".`, "agent.language")
	lines := clitest.Execute(t, "", append(args, "--json")...)
	lines.Wants(t, command.ExitDone, `"kind":"cut","to":"agent.language","why":"An agent has one`)
}
