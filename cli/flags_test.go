package cli

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
)

// valueOfWords matches "--flag word word"; help should have "--flag string   What it is".
var valueOfWords = regexp.MustCompile(`--[a-z-]+ [^ ]+ [^ ].*`)

// TestFlagsAreReadable looks for sentences with a quoted command: pflag takes a word in back quotes
// for the name of the value, and prints "--data-dir parlance dev".
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
