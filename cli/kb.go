package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/intake"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// kbContinueWait is how long an upload waits to be refused before its body is sent anyway.
const kbContinueWait = 2 * time.Second

func newKB() *cobra.Command {
	cmd := &cobra.Command{
		Use: "kb", Short: "Add documents to the knowledge base, look what is in it, and ask it", GroupID: "use", Args: exactArgs(),
		Long: `The knowledge base of a workspace: files, folders and web pages that agents answer from.
Without flags the commands work on the parlance dev of this machine. A source is named by its id
(src_…) or by its name where only one has it.`,
		Example: `  parlance kb add handbook/ https://example.org/returns --attach default
  parlance kb ls
  parlance kb query "How long can I return a book?"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKBAdd(), newKBList(), newKBShow(), newKBQuery(), newKBAttach(), newKBDetach(),
		newKBReprocess(), newKBRemove(), newKBDownload(), newKBStatus(), newKBEval())
	for _, sub := range cmd.Commands() {
		addInstallation(sub)
		sub.Flags().String("workspace", "", "workspace, ws_… ["+envWorkspace+"]")
	}
	return cmd
}

// kb is what the commands of the knowledge base work with.
type kb struct {
	where  installation
	client *http.Client
	screen *term.Screen
	now    func() time.Time

	knowledge  parlancev1connect.KnowledgeServiceClient
	agents     parlancev1connect.AgentServiceClient
	workspaces parlancev1connect.WorkspaceServiceClient
}

// withKB makes a command of what runs on an installation.
func withKB(run func(ctx context.Context, k *kb, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		k, err := openKB(cmd)
		if err != nil {
			return err
		}
		defer k.client.CloseIdleConnections()
		return run(cmd.Context(), k, args)
	}
}

func openKB(cmd *cobra.Command) (*kb, error) {
	lookupEnv := app.OSSource(nil).LookupEnv
	where, err := findInstallation(cmd, lookupEnv)
	if err != nil {
		return nil, err
	}
	if where.workspaceID == "" {
		return nil, usageError{errors.New("--workspace is missing: the id of the workspace, ws_…")}
	}
	client, err := where.client()
	if err != nil {
		return nil, err
	}
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.ExpectContinueTimeout = kbContinueWait
	}
	return &kb{
		where: where, client: client, screen: term.Open(cmd.OutOrStdout(), lookupEnv), now: time.Now,
		knowledge:  parlancev1connect.NewKnowledgeServiceClient(client, where.base, where.options()...),
		agents:     parlancev1connect.NewAgentServiceClient(client, where.base, where.options()...),
		workspaces: parlancev1connect.NewWorkspaceServiceClient(client, where.base, where.options()...),
	}, nil
}

// agentID is the agent that a flag names; "default" is the installation's own.
func (k *kb) agentID(given string) (string, error) {
	if given != "" && given != "default" {
		return given, nil
	}
	if k.where.agentID == "" {
		return "", usageError{fmt.Errorf("which agent? There is no %s: give --agent agt_…", envAgent)}
	}
	return k.where.agentID, nil
}

// source finds a source by its id or name.
func (k *kb) source(ctx context.Context, named string) (*parlancev1.Source, error) {
	if strings.HasPrefix(named, "src_") {
		source, err := k.knowledge.GetSource(ctx, &parlancev1.GetSourceRequest{WorkspaceId: k.where.workspaceID, SourceId: named})
		if err == nil {
			return source, nil
		}
		if connect.CodeOf(err) != connect.CodeNotFound {
			return nil, k.where.explainCall("find the source", err)
		}
	}
	var found []*parlancev1.Source
	err := intake.EachSource(ctx, k.knowledge, &parlancev1.ListSourcesRequest{WorkspaceId: k.where.workspaceID}, func(source *parlancev1.Source) bool {
		if source.GetName() == named {
			found = append(found, source)
		}
		return true
	})
	switch {
	case err != nil:
		return nil, k.where.explainCall("list the sources", err)
	case len(found) == 0:
		return nil, fmt.Errorf("there is no source %q in the workspace; `parlance kb ls` lists them", named)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, source := range found {
			ids[i] = source.GetId()
		}
		return nil, usageError{fmt.Errorf("%d sources are named %q; say which: %s", len(found), named, strings.Join(ids, ", "))}
	}
	return found[0], nil
}

// sources finds several.
func (k *kb) sources(ctx context.Context, named []string) ([]*parlancev1.Source, error) {
	list := make([]*parlancev1.Source, len(named))
	for i, one := range named {
		var err error
		if list[i], err = k.source(ctx, one); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// line writes a line of words and of texts that others wrote, which are made harmless.
func (k *kb) line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = term.Clean(text)
		}
	}
	k.screen.Line(format, args...)
}

// someArgs is cobra.MinimumNArgs(1) that says what is missing.
func someArgs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s is missing", name)}
		}
		return nil
	}
}
