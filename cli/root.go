package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/agents"
	"parlance.dev/parlance/cli/billing"
	"parlance.dev/parlance/cli/callbacks"
	"parlance.dev/parlance/cli/calls"
	"parlance.dev/parlance/cli/chat"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/complete"
	"parlance.dev/parlance/cli/dev"
	"parlance.dev/parlance/cli/events"
	"parlance.dev/parlance/cli/importer"
	"parlance.dev/parlance/cli/kb"
	"parlance.dev/parlance/cli/memory"
	"parlance.dev/parlance/cli/numbers"
	"parlance.dev/parlance/cli/people"
	"parlance.dev/parlance/cli/privacy"
	"parlance.dev/parlance/cli/sessions"
	"parlance.dev/parlance/cli/tools"
	"parlance.dev/parlance/cli/webhooks"
	"parlance.dev/parlance/cli/workspaces"
	"parlance.dev/parlance/fault"
)

// IO is where a command reads and writes.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Execute runs the command that args name and returns the exit code of the process.
func Execute(ctx context.Context, streams IO, args []string) int {
	root := newRoot(streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return command.ExitDone
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return command.ExitDone // a person or the system stopped the command
	}
	fmt.Fprintf(streams.Err, "parlance: %s\n", explain(err))
	if _, ok := errors.AsType[command.UsageError](err); ok {
		fmt.Fprintln(streams.Err, "Run the command with --help to see how it is used.")
		return command.ExitUsage
	}
	return command.ExitFailed
}

// explain returns the text of an error, without the reason of a fault.
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
  parlance call       be a telephone that an agent calls

In production:
  parlance migrate up, parlance server, parlance worker, parlance tenants create`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddGroup(
		&cobra.Group{ID: "run", Title: "Run:"},
		&cobra.Group{ID: "use", Title: "Use:"},
		&cobra.Group{ID: "admin", Title: "Administer:"},
	)
	root.AddCommand(
		dev.New(version), newServer(), newWorker(),
		chat.New(), agents.New(), sessions.New(), workspaces.New(), workspaces.NewTenant(), billing.New(), events.New(),
		memory.New(), privacy.New(),
		kb.New(version), tools.New(version), webhooks.New(), webhooks.NewListen(), newModels(), newErrors(),
		numbers.New(), callbacks.New(), callbacks.NewSchedules(), callbacks.NewBatches(), calls.New(), calls.NewCall(),
		people.New(), people.NewWhoAmI(), importer.New(version),
		newDoctor(), newHealth(), newMigrate(), newTenants(), newPlans(), newKeys(), newUsage(), newActivity(), newQueues(),
		newAudit(), newConfig(), newVersion(),
	)
	refuseUnknown(root)
	complete.Add(root)
	return root
}
