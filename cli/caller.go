package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/stablejson"
)

// caller is what commands on a workspace of an installation work with.
type caller struct {
	where  installation
	client *http.Client
	screen *term.Screen
	now    func() time.Time
	agents parlancev1connect.AgentServiceClient
}

// addWorkspace gives commands the flags that say which workspace of which installation they are for.
func addWorkspace(cmds ...*cobra.Command) {
	for _, cmd := range cmds {
		addInstallation(cmd)
		cmd.Flags().String("workspace", "", "workspace, ws_… ["+envWorkspace+"]")
	}
}

func openCaller(cmd *cobra.Command) (caller, error) {
	lookupEnv := app.OSSource(nil).LookupEnv
	where, err := findInstallation(cmd, lookupEnv)
	if err != nil {
		return caller{}, err
	}
	if where.workspaceID == "" {
		return caller{}, usageError{errors.New("--workspace is missing: the id of the workspace, ws_…")}
	}
	client, err := where.client()
	if err != nil {
		return caller{}, err
	}
	return caller{
		where: where, client: client, screen: term.Open(cmd.OutOrStdout(), lookupEnv), now: time.Now,
		agents: parlancev1connect.NewAgentServiceClient(client, where.base, where.options()...),
	}, nil
}

// agentID is the agent that a flag names; "default" is the installation's own.
func (c *caller) agentID(given string) (string, error) {
	if given != "" && given != "default" {
		return given, nil
	}
	if c.where.agentID == "" {
		return "", usageError{fmt.Errorf("which agent? There is no %s: give --agent agt_…", envAgent)}
	}
	return c.where.agentID, nil
}

// agentFor resolves --attach and sees that there is such an agent before anything is sent.
func (c *caller) agentFor(ctx context.Context, agent *string) (err error) {
	if *agent, err = c.agentID(*agent); err != nil {
		return err
	}
	_, err = c.agents.GetAgent(ctx, &parlancev1.GetAgentRequest{WorkspaceId: c.where.workspaceID, AgentId: *agent})
	if err != nil {
		return c.where.explainCall("find the agent", err)
	}
	return nil
}

// line writes a line of words and of texts that others wrote, which are made harmless.
func (c *caller) line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = term.Clean(text)
		}
	}
	c.screen.Line(format, args...)
}

// printMessage writes a message as a line of JSON, as the API has it.
func (c *caller) printMessage(message proto.Message) error {
	line, err := stablejson.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.screen.Out, "%s\n", line)
	return err
}
