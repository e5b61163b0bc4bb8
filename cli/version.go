package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/sqlmigrations"
)

// version is the release; a build of a working tree adds its commit.
const version = "0.1.0-dev"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and the schema it works with", GroupID: "admin", Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "parlance %s (%s, schema %s, %s %s/%s)\n",
				version, commit(), sqlmigrations.Hash(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// commit is the commit the binary was built from, as the go command stamped it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown commit"
	}
	revision, dirty := "unknown commit", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision" && len(setting.Value) >= 12:
			revision = setting.Value[:12]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "+changes"
		}
	}
	return revision + dirty
}
