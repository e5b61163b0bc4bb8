package agents_test

import (
	"path/filepath"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// TestAgents makes agents of flags and files, changes and deletes them.
func TestAgents(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	agents := func(input string, args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, input, "agents", args[0], args[1:]...)
	}
	agents("", "ls").Wants(t, command.ExitDone, "NAME", "Ada", w.Agent)
	agents("", "create").Wants(t, command.ExitFailed, "name")
	file := filepath.Join(t.TempDir(), "agent.json")
	clitest.WriteFile(t, file, `{"name": "Bob", "language": "en", "max_duration_seconds": 600}`)
	made := agents("", "create", "--file", file, "--name", "Eve", "--json").JSONLines(t)[0]
	id := made["id"].(string)
	if made["name"] != "Eve" || made["language"] != "en" || made["max_duration_seconds"] != 600.0 {
		t.Errorf("made %v", made)
	}
	if lines := agents("", "ls", "--query", "EV", "--json").JSONLines(t); len(lines) != 1 || lines[0]["id"] != id {
		t.Errorf("found %v", lines)
	}
	if lines := agents("", "ls", "--order-by", "name desc", "--json").JSONLines(t); len(lines) != 2 || lines[0]["id"] != id {
		t.Errorf("by name, from the end: %v", lines)
	}
	agents("", "ls", "--order-by", "size").Wants(t, command.ExitFailed, "order_by", "updated_at desc")
	clitest.WriteFile(t, file, "Answer in one sentence.\nBe kind.")
	agents("", "update", id, "--instructions", "@"+file).Wants(t, command.ExitDone, "version 2")
	agents(`{"idle_timeout_seconds": 60}`, "update", id, "--file", "-").Wants(t, command.ExitDone, "version 3")
	agents("", "show", id).Wants(t, command.ExitDone, "Eve", "Be kind.", "default")
	if got := agents("", "get", id, "--json").JSONLines(t)[0]; got["idle_timeout_seconds"] != 60.0 || got["max_duration_seconds"] != 600.0 {
		t.Errorf("changed to %v", got)
	}
	agents("", "update", id, "--redact", "card,iban").Wants(t, command.ExitDone, "version 4")
	agents("", "show", id).Wants(t, command.ExitDone, "redacted", "card, iban")
	agents("", "update", id, "--redact", "names").Wants(t, command.ExitFailed, "privacy.redact")
	agents("", "update", id, "--redact", "", "--transcript-days", "30", "--audio-days", "7").Wants(t, command.ExitDone, "version 5")
	agents("", "show", id).Wants(t, command.ExitDone, "sessions for 30 days", "recordings for 7 days")
	privacy := agents("", "get", id, "--json").JSONLines(t)[0]["privacy"].(map[string]any)
	if len(privacy["redact"].([]any)) > 0 || privacy["retention"].(map[string]any)["transcript_days"] != 30.0 {
		t.Errorf("privacy %v", privacy)
	}
	agents("", "versions", id).Wants(t, command.ExitDone, "VERSION", "Eve", "default")
	if lines := agents("", "versions", id, "--json").JSONLines(t); len(lines) != 5 || lines[0]["version"] != 5.0 {
		t.Errorf("versions %v", lines)
	}
	agents("", "latency", id).Wants(t, command.ExitDone, "answered nobody")
	session := w.Env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+id+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	w.Env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello."}`).Must(t, 200)
	agents("", "latency", id, "--since", "1h").Wants(t, command.ExitDone, "P95", "total")
	if lines := agents("", "latency", id, "--json").JSONLines(t); len(lines) == 0 || lines[len(lines)-1]["answers"] != 1.0 {
		t.Errorf("latency %v", lines)
	}
	agents("", "rollback", id, "1").Wants(t, command.ExitDone, "version 6", "version 1")
	if got := agents("", "rollback", id, "3", "--json").JSONLines(t)[0]; got["version"] != 7.0 || got["idle_timeout_seconds"] != 60.0 {
		t.Errorf("rolled back to %v", got)
	}
	agents(`{"voice": {"recording": {"enabled": true}}}`, "update", id, "--file", "-").Wants(t, command.ExitDone, "version 8")
	agents("", "update", id, "--zero-retention").Wants(t, command.ExitDone, "version 9")
	agents("", "rollback", id, "19").Wants(t, command.ExitFailed, "roll the agent back")
	agents("", "rollback", id, "one").Wants(t, command.ExitUsage, "parlance agents versions "+id)
	agents("", "versions", "agt_none").Wants(t, command.ExitFailed, "parlance agents ls")
	agents("", "update", id).Wants(t, command.ExitUsage, "nothing is to change")
	agents("", "update", id, "--file", "/no/such").Wants(t, command.ExitUsage, "no such file")
	agents(`[]`, "create", "--file", "-").Wants(t, command.ExitUsage, "not a JSON object")
	agents(`{"nme": "x"}`, "create", "--file", "-").Wants(t, command.ExitUsage, "nme")
	agents("", "rm", id).Wants(t, command.ExitDone, "deleted Eve")
	agents("", "show", id).Wants(t, command.ExitFailed, "parlance agents ls")
	agents("", "show", "default").Wants(t, command.ExitDone, "Ada")
}

// TestDraft saves, compares, publishes and discards drafts.
func TestDraft(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	draft := func(input string, args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, input, "agents", "draft", args...)
	}
	draft("", "show", "default").Wants(t, command.ExitDone, "no draft", "version 1")
	draft("", "publish", "default").Wants(t, command.ExitFailed, "no draft")
	draft("", "save", "default", "--first-message", "Servus.").Wants(t, command.ExitDone, "revision 1", "draft publish "+w.Agent)
	draft("", "save", "default", "--language", "de").Wants(t, command.ExitDone, "revision 2") // keeps the first message
	draft("", "show", "default").Wants(t, command.ExitDone, "Servus.", "de", "revision", "version 1")
	draft("", "diff", "default").Wants(t, command.ExitDone, "FIELD", "first_message", "Servus.", "language")
	draft("", "save", "default", "--revision", "1", "--language", "fr").Wants(t, command.ExitFailed, "revision 2")
	draft("", "publish", "default", "--revision", "1").Wants(t, command.ExitFailed, "revision 2")
	draft("", "publish", "default").Wants(t, command.ExitDone, "version 2")
	draft("", "discard", "default").Wants(t, command.ExitFailed, "no draft")
	made := draft(`{"name": "Eve", "max_duration_seconds": 600}`, "save", "default", "--file", "-", "--json").JSONLines(t)[0]
	settings := made["agent"].(map[string]any)
	if settings["name"] != "Eve" || settings["max_duration_seconds"] != 600.0 || settings["first_message"] != "" || made["revision"] != 3.0 {
		t.Errorf("saved %v", made)
	}
	w.Run(t, "", "agents", "update", "default", "--language", "en").Wants(t, command.ExitDone, "version 3")
	draft("", "show", "default").Wants(t, command.ExitDone, "version 3 by now")
	draft("", "publish", "default").Wants(t, command.ExitFailed, "version 3")
	draft("", "publish", "default", "--overwrite", "--json").Wants(t, command.ExitDone, `"version":4`)
	draft(`{"nme": "x"}`, "save", "default", "--file", "-").Wants(t, command.ExitUsage, "nme")
	draft("", "save", "default", "--name", "Ida").Wants(t, command.ExitDone, "revision 4")
	draft("", "discard", "default").Wants(t, command.ExitDone, "discarded")
	draft("", "show", "agt_none").Wants(t, command.ExitFailed, "parlance agents ls")
}
