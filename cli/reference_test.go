package cli_test

import (
	"os"
	"path/filepath"
	"strings"
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

// The values are those that a command here would use; secrets are not shown.
func TestShowsSettingsInForce(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://ada:hunter2@db/parlance")
	t.Setenv("PARLANCE_LISTEN", "127.0.0.1:9")
	t.Setenv("PARLANCE_MODEL_BASE_URL", "http://ada:hunter3@models/v1")
	t.Setenv("PARLANCE_MODEL_API_KEY_FILE", "/no/such/file")
	got := clitest.Execute(t, "", "config")
	got.Wants(t, command.ExitDone, "DATABASE_URL (--database-url) = ***\n", "PARLANCE_LISTEN (--listen) = 127.0.0.1:9\n",
		"PARLANCE_DATABASE_MAX_CONNS (--database-max-conns) = 20\n", "(--model-base-url) = http://ada:***@models/v1\n",
		"(--model-api-key) cannot be read: PARLANCE_MODEL_API_KEY_FILE names a file")
	if strings.Contains(got.Out+got.Err, "hunter") {
		t.Error("a password is shown")
	}
}
