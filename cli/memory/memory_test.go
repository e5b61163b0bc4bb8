package memory_test

import (
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	memory := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "memory", args[0], args[1:]...)
	}
	memory("ls", "ada").Wants(t, command.ExitDone, "Nothing like that")
	made := memory("add", "ada", "Prefers tea.", "--category", "drinks", "--tags", "tea,hot", "--json").JSONLines(t)[0]
	id := made["id"].(string)
	memory("add", "ada", "Wants to be called Ada.", "--kind", "statement").Wants(t, command.ExitDone, "as a statement")
	memory("ls", "ada").Wants(t, command.ExitDone, "Prefers tea.", "drinks", "statement", id)
	if lines := memory("ls", "ada", "--kind", "note", "--json").JSONLines(t); len(lines) != 1 || lines[0]["id"] != id {
		t.Errorf("notes %v", lines)
	}
	memory("search", "ada", "tea").Wants(t, command.ExitDone, "Prefers tea.", id)
	memory("ls", "ada", "--query", "NOTHING").Wants(t, command.ExitDone, "Nothing like that")
	memory("update", "ada", id, "--text", "Prefers green tea.", "--tags", "").Wants(t, command.ExitDone, id+" is now: Prefers green tea.")
	got := memory("update", "ada", id, "--expires-at", "2040-01-31T00:00:00Z", "--confidence", "0.5", "--json").JSONLines(t)[0]
	if got["text"] != "Prefers green tea." || got["category"] != "drinks" || got["confidence"] != 0.5 ||
		got["expires_at"] != "2040-01-31T00:00:00Z" {
		t.Errorf("changed to %v", got)
	}
	got = memory("update", "ada", id, "--expires-at", "", "--category", "", "--json").JSONLines(t)[0]
	if tags, _ := got["tags"].([]any); got["expires_at"] != nil || got["category"] != "" || len(tags) != 0 || got["confidence"] != 0.5 {
		t.Errorf("cleared to %v", got)
	}
	memory("update", "ada", id).Wants(t, command.ExitUsage, "nothing is to change")
	memory("update", "ada", id, "--expires-at", "soon").Wants(t, command.ExitUsage, "is not a time")
	memory("update", "ada", "mem_none", "--text", "x").Wants(t, command.ExitFailed, "correct mem_none")
	w.Env.Exec(t, "UPDATE memories SET status = 'pending' WHERE id = $1", id)
	memory("ls", "ada", "--status", "pending").Wants(t, command.ExitDone, id)
	memory("approve", "ada", id).Wants(t, command.ExitDone, id+" is active: Prefers green tea.")
	memory("approve", "ada").Wants(t, command.ExitUsage, "--status pending")
	memory("approve", "ada", "mem_none").Wants(t, command.ExitFailed, "approve mem_none")
	memory("users").Wants(t, command.ExitDone, "ada", "2")
	memory("rm", "ada").Wants(t, command.ExitUsage, "--all")
	memory("rm", "ada", "mem_none").Wants(t, command.ExitFailed, "forget mem_none")
	memory("rm", "ada", id).Wants(t, command.ExitDone, "forgot")
	memory("rm", "ada", "--all").Wants(t, command.ExitDone, "1 memory is forgotten")
	memory("search", "ada", "tea").Wants(t, command.ExitDone, "Nothing is found.")
}
