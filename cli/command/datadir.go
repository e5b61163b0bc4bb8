package command

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
)

// Files in the data directory of `parlance dev` that other commands read.
const (
	// EnvFile names the running installation: the variables below.
	EnvFile       = "dev.env"
	MasterKeyFile = "master.key"
	// CAFile is the local certificate authority.
	CAFile = "tls/ca.pem"
)

// Variables in EnvFile, and in the environment of commands that call an installation.
const (
	EnvBaseURL   = "PARLANCE_BASE_URL"
	EnvAPIKey    = "PARLANCE_API_KEY" //nolint:gosec // the name of a variable
	EnvWorkspace = "PARLANCE_WORKSPACE_ID"
	EnvAgent     = "PARLANCE_AGENT_ID"
)

// AddDataDir adds --data-dir, which names the database of a `parlance dev`.
func AddDataDir(cmd *cobra.Command) {
	cmd.Flags().String("data-dir", "", "use the database of the parlance dev with this data directory (default: "+
		app.DefaultDataDir()+", when no DATABASE_URL is set)")
}

// DataDir returns --data-dir as an absolute path.
func DataDir(cmd *cobra.Command) (string, error) {
	dir, _ := cmd.Flags().GetString("data-dir") // the flag is a string
	if dir == "" {
		dir = app.DefaultDataDir()
	}
	return filepath.Abs(dir)
}

// ReadEnvFile reads lines of the form NAME=value; # begins a comment.
func ReadEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	values := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, value, found := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if found && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values, lines.Err()
}
