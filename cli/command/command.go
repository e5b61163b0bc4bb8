package command

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ExitDone   = 0
	ExitFailed = 1
	// ExitUsage is for wrong arguments, flags or settings.
	ExitUsage = 2
)

// UsageError says that a command was called with wrong arguments.
type UsageError struct{ cause error }

// Usage marks an error as one of wrong arguments.
func Usage(cause error) error { return UsageError{cause} }

// Usagef is Usage for a formatted message.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func (e UsageError) Error() string { return e.cause.Error() }

// Unwrap implements errors.Unwrap.
func (e UsageError) Unwrap() error { return e.cause }

// ExactArgs is cobra.ExactArgs with an error that names the missing argument.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return Usagef("%s is missing", names[len(args)])
		case len(args) > len(names):
			return Usagef("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// AtMostOneArg refuses a second argument.
func AtMostOneArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usagef("%q is one argument too many", args[1])
	}
	return nil
}

// SomeArgs asks for at least one argument; name is used in the error.
func SomeArgs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("%s is missing", name)
		}
		return nil
	}
}

// PrintJSON prints a value as one line of JSON.
func PrintJSON(cmd *cobra.Command, value any) error {
	return json.NewEncoder(cmd.OutOrStdout()).Encode(value)
}
