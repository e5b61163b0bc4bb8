package privacy_test

import (
	"os"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

func TestPrivacy(t *testing.T) {
	t.Parallel()
	w := clitest.Start(t, clitest.Options{})
	privacy := func(args ...string) clitest.Result {
		t.Helper()
		return w.Run(t, "", "privacy", args[0], args[1:]...)
	}
	w.Run(t, "", "memory", "add", "ada", "Prefers tea.").Wants(t, command.ExitDone, "remembered")
	file := filepath.Join(t.TempDir(), "ada.zip")
	privacy("export", "ada", "-o", file).Wants(t, command.ExitDone, "export: ready", "1 memory", "saved as "+file)
	verify := func() clitest.Result { return clitest.Execute(t, "", "privacy", "verify", file) }
	verify().Wants(t, command.ExitDone, "is whole", "about ada")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	verify().Wants(t, command.ExitFailed, "not a whole ZIP file")
	privacy("erase", "ada").Wants(t, command.ExitUsage, "--dry-run")
	privacy("erase", "ada", "--dry-run").Wants(t, command.ExitDone, "dry run", "1 memory", "1 export")
	done := privacy("erase", "ada", "--yes", "--json").JSONLines(t)[0]
	id, _ := done["id"].(string)
	privacy("show", id).Wants(t, command.ExitDone, "erasure: ready", "(erased)", "0 memories", "not covered", "Backups")
	privacy("ls").Wants(t, command.ExitDone, "export", "erasure", "(erased)", id)
	privacy("ls", "--status", "failed").Wants(t, command.ExitDone, "no such request")
	privacy("show", "dsar_none").Wants(t, command.ExitFailed, "show dsar_none")
	w.Run(t, "", "memory", "ls", "ada").Wants(t, command.ExitDone, "Nothing like that")
}
