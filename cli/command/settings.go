package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
)

// AddSettings adds a flag for every setting.
func AddSettings(cmd *cobra.Command) {
	for _, setting := range app.Settings() {
		// pflag would take a word in back quotes for the name of the flag's value.
		help := strings.ReplaceAll(setting.Help, "`", "") + " [" + setting.Env() + "]"
		if setting.Default != "" {
			help += " Default: " + setting.Default + "."
		}
		cmd.Flags().String(setting.Flag(), "", help)
	}
}

// SettingFlags returns the settings that were given as flags.
func SettingFlags(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, setting := range app.Settings() {
		if flag := cmd.Flags().Lookup(setting.Flag()); flag != nil && flag.Changed {
			given[setting.Flag()] = flag.Value.String()
		}
	}
	return given
}

// LoadConfig reads the settings of a command. Those named in required must be set. Variables with
// our prefix that are no settings are named on stderr: a misspelt one has no effect.
func LoadConfig(cmd *cobra.Command, required ...string) (app.Config, error) {
	warnOfUnknown(cmd)
	config, err := app.Load(app.OSSource(SettingFlags(cmd)))
	if err != nil {
		return app.Config{}, Usage(err)
	}
	if err := config.Require(required...); err != nil {
		return app.Config{}, Usage(err)
	}
	return config, nil
}

// warnOfUnknown names the variables with our prefix that nothing reads.
func warnOfUnknown(cmd *cobra.Command) {
	for _, name := range app.UnknownVariables(os.Environ()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "Warning: %s is set, and no setting has that name; `parlance config` lists the settings.\n", name)
	}
}
