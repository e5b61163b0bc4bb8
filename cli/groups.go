package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"parlance.dev/parlance/cli/command"
)

// suggestionDistance is how many letters a suggested command may differ in.
const suggestionDistance = 2

// refuseUnknown makes every command that only holds others refuse a word that names none of them.
// Cobra prints the help and reports success. Call it when the tree is complete.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 { // the flag may be one of the command that was meant
			return unknown(cmd, cmd.Flags().Arg(0))
		}
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "int" {
			return command.Usagef("--%s must be a whole number, not %q", wrong.GetFlag().Name, wrong.GetValue())
		}
		return command.Usage(err)
	})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		switch {
		case cmd.HasSubCommands():
			cmd.Args = refuseArgs
			if !cmd.Runnable() {
				cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			}
		case cmd.Name() == "help" && cmd.Parent() == root:
			cmd.Args = knownTopic
		case cmd.Parent().Name() == "completion":
			cmd.Args = command.ExactArgs()
		}
	}
	walk(root)
}

// refuseArgs refuses every argument as an unknown command.
func refuseArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknown(cmd, args[0])
	}
	return nil
}

// knownTopic refuses arguments of `parlance help` that name no command.
func knownTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err == nil && found.HasSubCommands() && len(rest) > 0 {
		return unknown(found, rest[0])
	}
	return err
}

// unknown says that a group has no such command, and names those that are like it.
func unknown(group *cobra.Command, word string) error {
	group.SuggestionsMinimumDistance = suggestionDistance
	hint := ""
	if near := group.SuggestionsFor(word); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return command.Usage(fmt.Errorf("%s has no command %q%s", group.CommandPath(), word, hint))
}
