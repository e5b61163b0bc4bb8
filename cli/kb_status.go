package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/intake"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newKBStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show how full the knowledge base is and what goes on in it", Args: exactArgs(),
		Long: `Shows the storage used of the plan, how many sources are ready, being ingested or failed, and which
model embedded them.`,
		Example: "  parlance kb status",
		RunE:    withKB(func(ctx context.Context, k *kb, _ []string) error { return k.status(ctx) }),
	}
}

func (k *kb) status(ctx context.Context) error {
	const barColumns = 24
	workspace, err := k.workspaces.GetWorkspace(ctx, &parlancev1.GetWorkspaceRequest{WorkspaceId: k.where.workspaceID})
	if err != nil {
		return k.where.explainCall("find the workspace", err)
	}
	row := func(name, format string, args ...any) {
		k.screen.Line("%s  %s", k.screen.Dim(term.Pad(name, 9)), fmt.Sprintf(format, args...))
	}
	row("workspace", "%s (%s)", term.Clean(workspace.GetName()), workspace.GetId())
	used := workspace.GetKbUsedBytes()
	// What the plan allows is for keys that may read the tenant; others see what is used.
	if tenant, err := k.workspaces.GetTenant(ctx, &parlancev1.GetTenantRequest{}); err == nil && tenant.GetLimits().GetKbStorageBytes() > 0 {
		most := tenant.GetLimits().GetKbStorageBytes()
		row("storage", "%s  %s of %s (%.0f %%) of the plan %s", k.screen.Bar(used/most, barColumns), bytesWords(used), bytesWords(most), used/most*100, term.Clean(tenant.GetPlan()))
		row("uploads", "up to %s each", bytesWords(tenant.GetLimits().GetKbUploadBytes()))
	} else {
		row("storage", "%s", bytesWords(used))
	}
	return k.statusOfSources(ctx, row)
}

// statusOfSources counts the sources by status and by the model that embedded them.
func (k *kb) statusOfSources(ctx context.Context, row func(name, format string, args ...any)) error {
	statuses, models := map[string]int{}, map[string]int{}
	sources, chunks := 0, 0
	err := intake.EachSource(ctx, k.knowledge, &parlancev1.ListSourcesRequest{WorkspaceId: k.where.workspaceID}, func(source *parlancev1.Source) bool {
		sources++
		statuses[source.GetStatus()]++
		chunks += int(source.GetChunkCount())
		if source.GetEmbeddingModel() != "" {
			models[source.GetEmbeddingModel()]++
		}
		return true
	})
	if err != nil {
		return k.where.explainCall("list the sources", err)
	}
	row("sources", "%s with %s", countWords(sources, "source", "sources"), countWords(chunks, "chunk", "chunks"))
	for _, status := range []string{"ready", "queued", "processing", "failed"} {
		if statuses[status] > 0 {
			cell := k.statusCell(&parlancev1.Source{Status: status})
			row("", "%d %s", statuses[status], cell.Paint(status))
		}
	}
	for model, n := range models {
		row("embedded", "%d by %s", n, term.Clean(model))
	}
	return nil
}
