package complete

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/term"
)

// timeout limits how long a person who pressed Tab waits.
const timeout = 2 * time.Second

// flags are the flags that take an id, with the word for what they name.
var flags = map[string]string{
	"agent": "AGENT", "of-agent": "AGENT", "agents": "AGENT", "attach": "AGENT",
	"workspace": "WORKSPACE", "session": "SESSION", "endpoint": "ENDPOINT", "explain": "SOURCE",
	"schedule": "SCHEDULE", "batch": "BATCH",
}

// argument matches the name of an argument in the Use of a command: AGENT, TOOL…, [ENDPOINT].
var argument = regexp.MustCompile(`^\[?([A-Z]+)(…?)\]?$`)

// Add makes the arguments and flags of the whole tree that take an id offer ids. It knows them by
// the names of the flags and by the words in the Use of commands.
func Add(root *cobra.Command) {
	for _, sub := range root.Commands() {
		Add(sub)
	}
	if root.Flags().Lookup("api-key") == nil {
		return // it does not call the API
	}
	if arguments, repeated := argumentsOf(root.Use); slices.ContainsFunc(arguments, isListed) {
		root.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			at := len(args)
			if repeated {
				at = min(at, len(arguments)-1)
			}
			if at >= len(arguments) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return offer(cmd, arguments[at], args, typed)
		}
	}
	root.Flags().VisitAll(func(flag *pflag.Flag) {
		name, ok := flags[flag.Name]
		if !ok {
			return
		}
		_ = root.RegisterFlagCompletionFunc(flag.Name, // fails only for a flag that is not there, or the second time
			func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				return offer(cmd, name, nil, typed)
			})
	})
}

// argumentsOf returns the words for the arguments of a command, and whether the last may be
// repeated.
func argumentsOf(use string) (words []string, repeated bool) {
	for _, name := range strings.Fields(use)[1:] {
		if found := argument.FindStringSubmatch(name); found != nil {
			words, repeated = append(words, found[1]), found[2] != ""
		}
	}
	return words, repeated
}

func isListed(word string) bool { return lists[word] != nil }

// offer returns the ids of what word names that begin with what was typed, without those that
// stand in the command already. A flag may take several ids with commas between them.
func offer(cmd *cobra.Command, word string, given []string, typed string) ([]string, cobra.ShellCompDirective) {
	if !isListed(word) {
		return nil, cobra.ShellCompDirectiveDefault // such as a file
	}
	before := typed[:strings.LastIndex(typed, ",")+1]
	given = slices.Concat(given, strings.Split(before, ","))
	var offered []string
	for _, found := range ask(cmd, lists[word]) {
		if strings.HasPrefix(before+found.id, typed) && !slices.Contains(given, found.id) {
			offered = append(offered, cobra.CompletionWithDesc(before+found.id, term.Clean(found.name)))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// ask returns the first page of a list, or nothing when it cannot be had.
func ask(cmd *cobra.Command, list list) (found []item) {
	if tenant := cmd.Flags().Lookup("tenant"); tenant != nil && tenant.Changed {
		return nil // the command works on the database, maybe not on the tenant of the API key
	}
	_ = client.WithInstallation(func(c client.Caller) *client.Caller { return &c }, // completion has no place for an error
		func(ctx context.Context, c *client.Caller, _ []string) (err error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			found, err = list(ctx, c)
			return err
		})(cmd, nil)
	return found
}
