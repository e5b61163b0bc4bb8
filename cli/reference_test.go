package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// The generated pages in docs/ are those that the commands print.
func TestReferencesAreCurrent(t *testing.T) {
	t.Parallel()
	for file, args := range map[string][]string{
		"configuration.md": {"config", "--markdown"},
		"errors.md":        {"errors", "--markdown"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			made := clitest.Execute(t, "", args...)
			made.Wants(t, command.ExitDone)
			written, err := os.ReadFile(filepath.Join("..", "docs", file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made.Out, string(written)); diff != "" {
				t.Errorf("run: go run ./cmd/parlance %s --markdown > docs/%s\n%s", args[0], file, diff)
			}
		})
	}
}

func TestExplainsErrors(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "errors", "kb-source-not-ready").Wants(t, command.ExitDone, "HTTP 409", "The source is not ready")
	clitest.Execute(t, "", "errors", "no-such").Wants(t, command.ExitUsage, `no error code "no-such"`)
}

func TestListsSettings(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "config").Wants(t, command.ExitDone, "PARLANCE_MODEL_NAME (--model-name)", "DATABASE_URL (--database-url)")
}
