package kb_test

import (
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// Other content under the same name takes the place of the source when that is asked for, and is
// never a second answer without a word; the content before comes back, and names change.
func TestKBReplace(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	folder := clitest.WriteTree(t, map[string]string{"returns.md": returnsText})
	file := filepath.Join(folder, "returns.md")
	w.kb(t, "", "add", file, "--attach", "default").Wants(t, command.ExitDone, "1 ready")
	id := w.kb(t, "", "show", "returns.md", "--json").JSONLines(t)[0]["id"]
	folder = clitest.WriteTree(t, map[string]string{"returns.md": strings.Replace(returnsText, "30 days", "90 days", 1)})
	file = filepath.Join(folder, "returns.md")
	ask := func(want string) {
		t.Helper()
		w.kb(t, "", "query", "Within how many days can books be returned?").Wants(t, command.ExitDone, want)
	}

	w.kb(t, "", "add", file).Wants(t, command.ExitFailed, "is there with other content", "--replace", "--again")
	ask("within 30 days")
	w.kb(t, "", "add", file, "--replace").Wants(t, command.ExitDone, "1 ready")
	ask("within 90 days")
	if names := w.names(t); len(names) != 1 || w.kb(t, "", "show", "returns.md", "--json").JSONLines(t)[0]["id"] != id {
		t.Errorf("sources %q, want the one with its id", names)
	}
	w.kb(t, "", "show", "returns.md").Wants(t, command.ExitDone, "before", "parlance kb restore")
	w.kb(t, "", "add", file, "--replace").Wants(t, command.ExitDone, "1 there already")
	w.kb(t, "", "add", file, "--replace", "--again").Wants(t, command.ExitUsage, "give one of them")

	w.kb(t, "", "restore", "returns.md").Wants(t, command.ExitDone, "gets its content before back")
	w.kb(t, "", "add", filepath.Join(clitest.WriteTree(t, map[string]string{"returns.md": returnsText}), "returns.md")).
		Wants(t, command.ExitDone) // waits until it is ready
	ask("within 30 days")

	w.kb(t, "", "rename", "returns.md", "Giving back.md").Wants(t, command.ExitDone, "is now called Giving back.md")
	w.kb(t, "", "restore", "Giving back.md").Wants(t, command.ExitDone)
	w.kb(t, "", "add", file, "--again").Wants(t, command.ExitDone, "1 ready")
	w.kb(t, "", "add", file, "--again", "--name", "Giving back.md").Wants(t, command.ExitDone, "1 ready")
	w.kb(t, "Text.", "add", "-", "--name", "Giving back.md", "--replace").Wants(t, command.ExitFailed, "2 sources have this name")
	w.kb(t, "", "restore", file).Wants(t, command.ExitFailed, "no source")
}
