package kb

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/kb/intake"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// continueWait is how long an upload waits for 100 Continue before it sends the body.
const continueWait = 2 * time.Second

// New makes the command.
func New(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kb", Short: "Add documents to the knowledge base, look what is in it, and ask it", GroupID: "use", Args: command.ExactArgs(),
		Long: `The knowledge base of a workspace: files, folders and web pages that agents answer from.
Without flags the commands work on the parlance dev of this machine. A source is named by its id
(src_…) or by its name where only one has it.`,
		Example: `  parlance kb add handbook/ https://example.org/returns --attach default
  parlance kb ls
  parlance kb query "How long can I return a book?"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAdd(version), newList(), newShow(), newQuery(), newAttach(), newDetach(),
		newWeb(), newRefresh(), newReprocess(version), newRestore(), newRename(), newTag(), newPassage(), newRemove(),
		newDownload(), newStatus(), newEval())
	client.AddWorkspace(cmd.Commands()...)
	return cmd
}

// kb is what the commands share.
type kb struct {
	client.Caller

	knowledge  parlancev1connect.KnowledgeServiceClient
	workspaces parlancev1connect.WorkspaceServiceClient
}

// withKB makes the RunE of a command.
func withKB(run func(ctx context.Context, k *kb, args []string) error) func(*cobra.Command, []string) error {
	return client.With(func(c client.Caller) *kb {
		if transport, ok := c.HTTP.Transport.(*http.Transport); ok {
			transport.ExpectContinueTimeout = continueWait
		}
		return &kb{
			Caller:     c,
			knowledge:  parlancev1connect.NewKnowledgeServiceClient(c.HTTP, c.Base, c.Options()...),
			workspaces: parlancev1connect.NewWorkspaceServiceClient(c.HTTP, c.Base, c.Options()...),
		}
	}, run)
}

// pages lists the sources of the workspace that o selects.
func (k *kb) pages(ctx context.Context, o listOptions) command.PageFunc[*parlancev1.Source] {
	list := intake.SourcePages(ctx, k.knowledge, &parlancev1.ListSourcesRequest{
		WorkspaceId: k.WorkspaceID, Status: o.status, Tags: o.tags, Q: o.search.Query, OrderBy: o.search.OrderBy,
	})
	return func(token string) ([]*parlancev1.Source, string, error) {
		page, next, err := list(token)
		if err != nil {
			return nil, "", k.Explain("list the sources", err)
		}
		return page, next, nil
	}
}

// source finds a source by id or name.
func (k *kb) source(ctx context.Context, named string) (*parlancev1.Source, error) {
	if strings.HasPrefix(named, "src_") {
		source, err := k.knowledge.GetSource(ctx, &parlancev1.GetSourceRequest{WorkspaceId: k.WorkspaceID, SourceId: named})
		if err == nil {
			return source, nil
		}
		if connect.CodeOf(err) != connect.CodeNotFound {
			return nil, k.Explain("find the source", err)
		}
	}
	found, err := command.All(k.pages(ctx, listOptions{}))
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(source *parlancev1.Source) bool { return source.GetName() != named && source.GetUrl() != named })
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no source %q in the workspace; `parlance kb ls` lists them", named)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, source := range found {
			ids[i] = source.GetId()
		}
		return nil, command.Usagef("%d sources are named %q; say which: %s", len(found), named, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// sources finds several sources.
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
