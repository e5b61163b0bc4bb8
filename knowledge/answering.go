package knowledge

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// Embedders are those that a process has. The first is the one that all workspaces are to answer
// with, the others embed questions until a workspace's sources have been embedded anew.
type Embedders []embedding.Embedder

// Of returns the embedder that makes a model's vectors; false when this process has none.
func (e Embedders) Of(model string) (embedding.Embedder, bool) {
	for _, one := range e {
		if one.Model().Name == model {
			return one, true
		}
	}
	return nil, false
}

// selectAnswering is an expression for the model whose vectors a query compares, of tenant and
// workspace, for which it has placeholders; empty: nothing was embedded yet. A workspace of 0.1.0
// has none noted until a worker has looked (nameAnswering).
func selectAnswering(tenant, workspace string) string {
	ofBoth := " WHERE tenant_id = " + tenant + " AND workspace_id = " + workspace
	return `
	coalesce(
		(
			SELECT model
			FROM workspace_embeddings` + ofBoth + `
		), (
			SELECT mode() WITHIN GROUP (ORDER BY embedding_model)
			FROM sources` + ofBoth + `
			  AND ready_at IS NOT NULL
		), '')`
}

// AnsweringModel is the model whose vectors a query compares; empty: nothing was embedded yet.
func AnsweringModel(ctx context.Context, db bun.IDB, ref workspaces.Ref) (string, error) {
	var model string
	if err := db.NewRaw("SELECT"+selectAnswering("?0", "?1"), ref.TenantID, ref.ID).Scan(ctx, &model); err != nil {
		return "", fmt.Errorf("find the answering model: %w", err)
	}
	return model, nil
}
