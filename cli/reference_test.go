package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// The references are files so that they can be read without the program; these are the tables
// they are made from.
func TestReferencesAreCurrent(t *testing.T) {
	t.Parallel()
	for file, args := range map[string][]string{
		"configuration.md": {"config", "--markdown"},
		"errors.md":        {"errors", "--markdown"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			made := execute(t, "", args...)
			made.wants(t, exitDone)
			written, err := os.ReadFile(filepath.Join("..", "docs", file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made.out, string(written)); diff != "" {
				t.Errorf("run: go run ./cmd/parlance %s --markdown > docs/%s\n%s", args[0], file, diff)
			}
		})
	}
}

func TestExplainsErrors(t *testing.T) {
	t.Parallel()
	execute(t, "", "errors", "kb-source-not-ready").wants(t, exitDone, "HTTP 409", "The source is not ready")
	execute(t, "", "errors", "no-such").wants(t, exitUsage, `no error code "no-such"`)
}

func TestListsSettings(t *testing.T) {
	t.Parallel()
	execute(t, "", "config").wants(t, exitDone, "PARLANCE_MODEL_NAME (--model-name)", "DATABASE_URL (--database-url)")
}

// valueOfWords is "--flag word word", where help has "--flag string   What it is".
var valueOfWords = regexp.MustCompile(`--[a-z-]+ [^ ]+ [^ ].*`)

// TestFlagsAreReadable: pflag takes a word in back quotes for the name of the value, so a sentence that
// quotes a command that way prints "--data-dir parlance dev".
func TestFlagsAreReadable(t *testing.T) {
	t.Parallel()
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, line := range valueOfWords.FindAllString(cmd.Flags().FlagUsages(), -1) {
			t.Errorf("%s: the value is called by several words: %s", cmd.CommandPath(), line)
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(IO{}))
}
