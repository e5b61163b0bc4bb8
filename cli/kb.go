package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/intake"
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
	addWorkspace(cmd.Commands()...)
	return cmd
}

// kb is what the commands of the knowledge base work with.
type kb struct {
	caller

	knowledge  parlancev1connect.KnowledgeServiceClient
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
	c, err := openCaller(cmd)
	if err != nil {
		return nil, err
	}
	if transport, ok := c.client.Transport.(*http.Transport); ok {
		transport.ExpectContinueTimeout = kbContinueWait
	}
	return &kb{
		caller:     c,
		knowledge:  parlancev1connect.NewKnowledgeServiceClient(c.client, c.where.base, c.where.options()...),
		workspaces: parlancev1connect.NewWorkspaceServiceClient(c.client, c.where.base, c.where.options()...),
	}, nil
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

// someArgs is cobra.MinimumNArgs(1) that says what is missing.
func someArgs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("%s is missing", name)}
		}
		return nil
	}
}
