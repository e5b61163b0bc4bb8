package kb

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// barColumns is the width of the bars of `kb status`.
const barColumns = 24

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how full the knowledge base is and what goes on in it", Args: command.ExactArgs(),
		Long: `Shows the storage used of the plan, how many sources are ready, being ingested or failed, which
embedding model answers, and after it was changed how far the new one is.`,
		Example: "  parlance kb status",
		RunE:    withKB(func(ctx context.Context, k *kb, _ []string) error { return k.status(ctx) }),
	}
}

func (k *kb) status(ctx context.Context) error {
	workspace, err := k.workspaces.GetWorkspace(ctx, &parlancev1.GetWorkspaceRequest{WorkspaceId: k.WorkspaceID})
	if err != nil {
		return k.Explain("find the workspace", err)
	}
	row := func(name, format string, args ...any) {
		k.Screen.Line("%s  %s", k.Screen.Dim(term.Pad(name, 10)), fmt.Sprintf(format, args...))
	}
	row("workspace", "%s (%s)", term.Clean(workspace.GetName()), workspace.GetId())
	used := workspace.GetKbUsedBytes()
	// Only keys that may read the tenant see the limits of the plan.
	if tenant, err := k.workspaces.GetTenant(ctx, &parlancev1.GetTenantRequest{}); err == nil && tenant.GetLimits().GetKbStorageBytes() > 0 {
		most := tenant.GetLimits().GetKbStorageBytes()
		row("storage", "%s  %s of %s (%.0f %%) of the plan %s", k.Screen.Bar(used/most, barColumns), term.Bytes(used),
			term.Bytes(most), used/most*100, term.Clean(tenant.GetPlan()))
		row("uploads", "up to %s each", term.Bytes(tenant.GetLimits().GetKbUploadBytes()))
	} else {
		row("storage", "%s", term.Bytes(used))
	}
	return k.statusOfSources(ctx, row)
}

// statusOfSources counts the sources by status.
func (k *kb) statusOfSources(ctx context.Context, row func(name, format string, args ...any)) error {
	list, err := command.All(k.pages(ctx, listOptions{}))
	if err != nil {
		return err
	}
	statuses, chunks := map[string]int{}, 0
	for _, source := range list {
		statuses[source.GetStatus()]++
		chunks += int(source.GetChunkCount())
	}
	row("sources", "%s with %s", term.Count(len(list), "source", "sources"), term.Count(chunks, "chunk", "chunks"))
	for _, status := range []string{"ready", "queued", "processing", "failed"} {
		if statuses[status] > 0 {
			cell := k.statusCell(&parlancev1.Source{Status: status})
			row("", "%d %s", statuses[status], cell.Paint(status))
		}
	}
	return k.statusOfModel(ctx, row)
}

// statusOfModel prints which embedding model answers, and the progress of a change to another one.
func (k *kb) statusOfModel(ctx context.Context, row func(name, format string, args ...any)) error {
	status, err := k.knowledge.GetEmbeddingStatus(ctx, &parlancev1.GetEmbeddingStatusRequest{WorkspaceId: k.WorkspaceID})
	if err != nil {
		if connect.CodeOf(err) == connect.CodeUnimplemented { // servers before 0.2 lack the call
			return nil
		}
		return k.Explain("ask for the embedding model", err)
	}
	row("model", "%s", term.Clean(status.GetAnsweringModel()))
	if status.GetTargetModel() == status.GetAnsweringModel() {
		return nil
	}
	share := 0.0
	if status.GetChunksTotal() > 0 {
		share = float64(status.GetChunksDone()) / float64(status.GetChunksTotal())
	}
	row("next model", "%s", term.Clean(status.GetTargetModel()))
	row("", "%s  %d of %d sources, %d of %d chunks (%.0f %%); until then the model before answers", k.Screen.Bar(share, barColumns),
		status.GetSourcesDone(), status.GetSourcesTotal(), status.GetChunksDone(), status.GetChunksTotal(), share*100)
	if trouble := status.GetError(); trouble != "" {
		row("trouble", "%s", k.Screen.Bad(term.Clean(trouble)))
	}
	return nil
}
