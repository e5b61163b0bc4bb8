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
	memory("users").Wants(t, command.ExitDone, "ada", "2")
	memory("rm", "ada").Wants(t, command.ExitUsage, "--all")
	memory("rm", "ada", "mem_none").Wants(t, command.ExitFailed, "forget mem_none")
	memory("rm", "ada", id).Wants(t, command.ExitDone, "forgot")
	memory("rm", "ada", "--all").Wants(t, command.ExitDone, "1 memory is forgotten")
	memory("search", "ada", "tea").Wants(t, command.ExitDone, "Nothing is found.")
}
