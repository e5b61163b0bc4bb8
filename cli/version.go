package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/sqlmigrations"
)

// The linker sets these for releases and images, which are built without the repository:
// -X parlance.dev/parlance/cli.version=1.2.3 -X parlance.dev/parlance/cli.revision=<commit>.
var (
	version  = "0.3.0-dev"
	revision = ""
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and the schema it works with", GroupID: "admin", Args: command.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "parlance %s (%s, schema %s, %s %s/%s)\n",
				version, commit(), sqlmigrations.Hash(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// commit returns the commit that the binary was built from, as set by the linker or the go command.
func commit() string {
	if revision != "" {
		return revision[:min(len(revision), 12)]
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown commit"
	}
	stamped, dirty := "unknown commit", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
			stamped = setting.Value[:12]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "+changes"
		}
	}
	return stamped + dirty
}
