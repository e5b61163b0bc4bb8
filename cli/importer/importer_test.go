package importer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/fake/httptool"
)

func example(name string) string {
	return filepath.Join("exports", "testdata", filepath.FromSlash(name))
}

// world is a running service.
type world struct{ clitest.Service }

func (w world) run(t *testing.T, provider string, args ...string) clitest.Result {
	t.Helper()
	return w.Run(t, "", "import", provider, args...)
}

// agents are the workspace's agents of a name.
func (w world) agents(t *testing.T, name string) []map[string]any {
	t.Helper()
	return w.Run(t, "", "agents", "ls", "--query", name, "--json").JSONLines(t)
}

func (w world) slugs(t *testing.T) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, line := range w.Run(t, "", "tools", "ls", "--json").JSONLines(t) {
		found[line["slug"].(string)] = line
	}
	return found
}

// A dry run needs no installation and makes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for provider, files := range map[string][]string{
		"elevenlabs": {"elevenlabs/full.json"},
		"vapi":       {"vapi/full.json", "vapi/tools.json"},
		"retell":     {"retell/agent.json", "retell/llm.json", "retell/kb.json"},
	} {
		args := []string{"import", provider, "--dry-run", "--data-dir", t.TempDir()}
		for _, file := range files {
			args = append(args, example(file))
		}
		looked := clitest.Execute(t, "", args...)
		looked.Wants(t, command.ExitDone, "to be made", "What became what", "Left to do", "No counterpart", "Nothing was made",
			"This version of Parlance does not know it.")
		lines := clitest.Execute(t, "", append(args, "--json")...)
		lines.Wants(t, command.ExitDone, `"part":"todo"`, `"kind":"lost"`)
		if strings.Contains(looked.Out+looked.Err+lines.Out, "NEVER-SHOWN") {
			t.Errorf("%s: a secret is shown", provider)
		}
	}
	clitest.Execute(t, "", "import", "vapi", example("retell/small.json"), "--dry-run").Wants(t, command.ExitUsage, "parlance "+
		"import retell")
	clitest.Execute(t, "{", "import", "vapi", "-", "--dry-run").Wants(t, command.ExitUsage, "the standard input is no whole JSON document")
	clitest.Execute(t, "", "import", "vapi", example("vapi/list.json"), "--name", "x", "--dry-run").
		Wants(t, command.ExitUsage, "this one has 2")
	clitest.Execute(t, "", "import", "vapi").Wants(t, command.ExitUsage, "FILE is missing")
	clitest.Execute(t, "", "import", "bland", "x").Wants(t, command.ExitUsage, `no command "bland"`)
	clitest.Execute(t, "", "import", "elevenlabs", "--help").Wants(t, command.ExitDone, "xi-api-key", "--dry-run", "docs/migrate")
}

// An export becomes an agent with tools and sources; a second run finds them, and sets a secret.
func TestImportElevenLabs(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	page := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(out, "<html><body><h1>Returns</h1><p>Books can be returned within thirty days.</p></body></html>")
	}))
	t.Cleanup(page.Close)
	api := httptool.New(t)
	dir := t.TempDir()
	file := func(name string) string {
		text := strings.NewReplacer("https://example.com", page.URL, "https://api.example.com", api.URL,
			"https://mcp.example.com", api.URL).Replace(clitest.ReadFile(t, example("elevenlabs/"+name)))
		clitest.WriteFile(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	args := []string{file("by-id.json"), file("tools.json"), file("mcp.json"), file("documents.json")}

	made := w.run(t, "elevenlabs", args...)
	made.Wants(t, command.ExitDone, "made, attached", "book_visit:Authorization=env:BOOK_VISIT_AUTHORIZATION", "parlance kb add "+
		"FOLDER --attach agt_")
	agents := w.agents(t, "Desk by ids")
	if len(agents) != 1 || agents[0]["instructions"] != "Hilf." || agents[0]["language"] != "de" {
		t.Fatalf("made %v", agents)
	}
	id := agents[0]["id"].(string)
	w.Run(t, "", "tools", "ls", "--agent", id).Wants(t, command.ExitDone, "book_visit", "Shop_server")
	w.Run(t, "", "kb", "query", "Within how many days can books be returned?", "--agent", id).Wants(t, command.ExitDone, "thirty days")
	w.Run(t, "", "kb", "query", "When does the harbour office open?", "--agent", id).Wants(t, command.ExitDone, "opens at nine")

	again := w.run(t, "elevenlabs", args...)
	again.Wants(t, command.ExitDone, "there already, attached")
	if len(w.agents(t, "Desk by ids")) != 1 || len(w.slugs(t)) != 2 {
		t.Errorf("a second run doubles: %v %v", w.agents(t, "Desk by ids"), w.slugs(t))
	}
	secret := filepath.Join(dir, "token")
	clitest.WriteFile(t, secret, "Bearer tok-1234567890\n")
	set := w.run(t, "elevenlabs", append(args, "--secret", "book_visit:authorization=@"+secret)...)
	set.Wants(t, command.ExitDone, "secrets set")
	if strings.Contains(set.Out+made.Out, "tok-1234567890") || strings.Contains(set.Out, "BOOK_VISIT_AUTHORIZATION") {
		t.Errorf("the secret is shown, or still asked for:\n%s", set.Out)
	}
	if w.slugs(t)["book_visit"]["auth_header_set"] != true {
		t.Error("the secret was not set")
	}
	w.run(t, "elevenlabs", append(args, "--secret", "none:X=@"+secret)...).Wants(t, command.ExitUsage, `the tool "none"`)
	w.run(t, "elevenlabs", append(args, "--secret", "book_visit:X=value")...).Wants(t, command.ExitUsage, "seen by everybody")

	w.Run(t, "", "agents", "update", id, "--instructions", "Other.").Wants(t, command.ExitDone)
	w.run(t, "elevenlabs", args...).Wants(t, command.ExitDone, "there already, and different", "it is left alone")
	w.run(t, "elevenlabs", append(args, "--name", "Second "+
		"desk", "--prefix", "two")...).Wants(t, command.ExitDone, "two_book_visit", "made, attached")
}

// Everything that the large examples hold is accepted by the service.
func TestImportAll(t *testing.T) {
	t.Parallel()
	w := world{clitest.Start(t, clitest.Options{})}
	w.run(t, "elevenlabs", example("elevenlabs/full.json"), "--no-wait").Wants(t, command.ExitDone, "find_order", "made")
	w.run(t, "vapi", example("vapi/full.json"), example("vapi/tools.json"), example("vapi/files.json")).
		Wants(t, command.ExitDone, "bookTable", "getWeather", "crm", "parlance kb add menu.pdf --attach agt_")
	w.run(t, "vapi", example("vapi/list.json"), example("vapi/tools.json"), "--prefix", "list").Wants(t, command.ExitDone, "list_loyalty_2")
	w.run(t, "vapi", example("vapi/squad.json")).Wants(t, command.ExitDone, "Triage")
	w.run(t, "retell", example("retell/agent.json"), example("retell/llm.json")).Wants(t, command.ExitDone, "find-slot", "Clinic_MCP")
	for _, name := range []string{"small", "dashboard", "flow", "custom"} {
		w.run(t, "retell", example("retell/"+name+".json")).Wants(t, command.ExitDone, "made")
	}
	agent := w.agents(t, "Bookings")[0]
	if agent["idle_timeout_seconds"] != 600.0 || agent["model"].(map[string]any)["name"] != "claude-sonnet-4-5" {
		t.Errorf("made %v", agent)
	}
	slot := w.slugs(t)["find-slot"]
	if slot["auth_header_set"] != true || slot["timeout_seconds"] != 15.0 ||
		slot["hardcoded_query_params"].(map[string]any)["limit"] != "5" {
		t.Errorf("made %v", slot)
	}
	if agents := w.agents(t, "Order line"); agents[0]["memory"].(map[string]any)["enabled"] != false {
		t.Errorf("an imported agent remembers users: %v", agents[0]["memory"])
	}
}

// An import that is refused half way says what was made, and finishes when it is run again.
func TestImportResumes(t *testing.T) {
	t.Parallel()
	refuse := make(chan struct{}, 1)
	refuse <- struct{}{}
	w := world{clitest.Start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/CreateAgent") {
				select {
				case <-refuse:
					http.Error(out, "down", http.StatusServiceUnavailable)
					return
				default:
				}
			}
			service.ServeHTTP(out, req)
		})
	}})}
	args := []string{example("vapi/list.json"), example("vapi/tools.json")}
	w.run(t, "vapi", args...).Wants(t, command.ExitFailed, "could not be made", "failed", "made", "run the same command again")
	if len(w.slugs(t)) != 3 || len(w.agents(t, "Two")) != 1 {
		t.Errorf("the first run made %v", w.slugs(t))
	}
	w.run(t, "vapi", args...).Wants(t, command.ExitDone, "there already, attached")
	if len(w.slugs(t)) != 3 || len(w.agents(t, "One")) != 1 || len(w.agents(t, "Two")) != 1 {
		t.Errorf("the second run made %v", w.slugs(t))
	}
}
