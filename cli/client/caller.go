package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/platform/stablejson"
)

// Caller is what commands on one workspace of an installation work with.
type Caller struct {
	Installation
	HTTP   *http.Client
	In     io.Reader
	Screen *term.Screen
	Now    func() time.Time
	Agents parlancev1connect.AgentServiceClient
}

// AddWorkspace adds the flags that name a workspace and its installation.
func AddWorkspace(cmds ...*cobra.Command) {
	for _, cmd := range cmds {
		AddInstallation(cmd)
		cmd.Flags().String("workspace", "", "workspace, ws_… ["+command.EnvWorkspace+"]")
	}
}

// With makes the RunE of a command on a workspace. It reads the flags of AddWorkspace, and calls
// run with what open makes of them.
func With[T any](open func(Caller) T, run func(ctx context.Context, opened T, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return WithInstallation(func(c Caller) Caller { return c }, func(ctx context.Context, caller Caller, args []string) error {
			if caller.WorkspaceID == "" {
				return command.Usagef("--workspace is missing: the id of the workspace, ws_…")
			}
			return run(ctx, open(caller), args)
		})(cmd, args)
	}
}

// WithInstallation is With for commands that work on no workspace or on several. It reads the flags
// of AddInstallation.
func WithInstallation[T any](open func(Caller) T, run func(ctx context.Context, opened T, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		caller, err := openCaller(cmd)
		if err != nil {
			return err
		}
		defer caller.HTTP.CloseIdleConnections()
		return run(cmd.Context(), open(caller), args)
	}
}

func openCaller(cmd *cobra.Command) (Caller, error) {
	lookupEnv := app.OSSource(nil).LookupEnv
	found, err := FindInstallation(cmd, lookupEnv)
	if err != nil {
		return Caller{}, err
	}
	client, err := found.Client()
	if err != nil {
		return Caller{}, err
	}
	return Caller{
		Installation: found, HTTP: client, In: cmd.InOrStdin(), Screen: term.Open(cmd.OutOrStdout(), lookupEnv), Now: time.Now,
		Agents: parlancev1connect.NewAgentServiceClient(client, found.Base, found.Options()...),
	}, nil
}

// ChooseAgent returns the agent that a flag names; "default" and "" are the installation's own.
func (c *Caller) ChooseAgent(given string) (string, error) {
	if given != "" && given != "default" {
		return given, nil
	}
	if c.AgentID == "" {
		return "", command.Usagef("which agent? There is no %s: give --agent agt_…", command.EnvAgent)
	}
	return c.AgentID, nil
}

// FindAgent is ChooseAgent that also checks that the agent exists.
func (c *Caller) FindAgent(ctx context.Context, given string) (string, error) {
	agent, err := c.ChooseAgent(given)
	if err != nil {
		return "", err
	}
	_, err = c.Agents.GetAgent(ctx, &parlancev1.GetAgentRequest{WorkspaceId: c.WorkspaceID, AgentId: agent})
	if err != nil {
		return "", c.Explain("find the agent", err)
	}
	return agent, nil
}

// Line writes a line. Strings among args may be anybody's: characters that control a terminal are
// removed from them.
func (c *Caller) Line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = term.Clean(text)
		}
	}
	c.Screen.Line(format, args...)
}

// PrintMessage writes a message as one line of JSON, in the form of the REST API.
func (c *Caller) PrintMessage(message proto.Message) error {
	line, err := stablejson.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Screen.Out, "%s\n", line)
	return err
}

// SayMore says how to see more than the limit.
func (c *Caller) SayMore(limit int) {
	c.Screen.Line("%s", c.Screen.Dim(fmt.Sprintf("… there are more: --limit %d", limit*4)))
}

// Moment is a time in the local time zone; nil is empty.
func Moment(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().Local().Format(time.DateTime)
}

// Place says where a passage stands in its source: its heading and pages.
func Place(heading string, first, last int32) string {
	var places []string
	if heading != "" {
		places = append(places, heading)
	}
	switch {
	case first > 0 && last > first:
		places = append(places, fmt.Sprintf("pages %d–%d", first, last))
	case first > 0:
		places = append(places, fmt.Sprintf("page %d", first))
	}
	return strings.Join(places, ", ")
}
