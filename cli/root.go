package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/fault"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// IO is where a command reads and writes.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// usageError marks a call with wrong arguments.
type usageError struct{ error }

// Execute runs the command that args name and returns the process's exit code.
func Execute(ctx context.Context, streams IO, args []string) int {
	root := newRoot(streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitDone // asked to stop, and stopped
	}
	fmt.Fprintf(streams.Err, "parlance: %s\n", explain(err))
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintln(streams.Err, "Run the command with --help to see how it is used.")
		return exitUsage
	}
	return exitFailed
}

// explain is an error in words for a person: a decision's message without its reason.
func explain(err error) string {
	if decided, ok := errors.AsType[*fault.Error](err); ok && decided.Kind() != fault.Internal {
		return decided.Message
	}
	return err.Error()
}

func newRoot(streams IO) *cobra.Command {
	root := &cobra.Command{
		Use:   "parlance",
		Short: "Run conversational agents for your own users, over voice and text",
		Long: `Parlance runs conversational agents: tools, knowledge, sessions and webhooks.

Start here:
  parlance dev        everything on this machine, with a demo agent
  parlance chat       talk to an agent from the terminal

In production:
  parlance migrate up, parlance server, parlance worker, parlance tenants create`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddGroup(
		&cobra.Group{ID: "run", Title: "Run:"},
		&cobra.Group{ID: "use", Title: "Use:"},
		&cobra.Group{ID: "admin", Title: "Administer:"},
	)
	root.AddCommand(commands()...)
	return root
}

// exactArgs is cobra.ExactArgs that says what is missing and counts as a wrong call.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageError{fmt.Errorf("%s is missing", names[len(args)])}
		case len(args) > len(names):
			return usageError{fmt.Errorf("%q is one argument too many", args[len(names)])}
		}
		return nil
	}
}

// addSettings gives a command a flag for every setting.
func addSettings(cmd *cobra.Command) {
	for _, setting := range app.Settings() {
		help := strings.ReplaceAll(setting.Help, "`", "") + " [" + setting.Env() + "]" // a quoted word would be taken for the value's name
		if setting.Default != "" {
			help += " Default: " + setting.Default + "."
		}
		cmd.Flags().String(setting.Flag(), "", help)
	}
}

// settingFlags are the settings given as flags.
func settingFlags(cmd *cobra.Command) map[string]string {
	given := map[string]string{}
	for _, setting := range app.Settings() {
		if flag := cmd.Flags().Lookup(setting.Flag()); flag != nil && flag.Changed {
			given[setting.Flag()] = flag.Value.String()
		}
	}
	return given
}

// loadConfig reads the settings of a command and insists on those named.
func loadConfig(cmd *cobra.Command, required ...string) (app.Config, error) {
	config, err := app.Load(app.OSSource(settingFlags(cmd)))
	if err != nil {
		return app.Config{}, usageError{err}
	}
	if err := config.Require(required...); err != nil {
		return app.Config{}, usageError{err}
	}
	return config, nil
}
