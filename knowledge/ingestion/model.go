package ingestion

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// embedderFor is the embedder of the workspace's chunks. Errors: Unavailable unavailable when this
// process has none for the model that answers; another may.
func (s *Service) embedderFor(ctx context.Context, ref workspaces.Ref) (embedding.Embedder, error) {
	embedder, model, err := s.configuredFor(ctx, ref)
	if err == nil && embedder == nil {
		err = fault.New(fault.ServiceUnavailable, "The workspace answers with the embedding model %q, which is not configured here.", model)
	}
	return embedder, err
}

// configuredFor is the embedder of the workspace's answering model, nil when this process has none
// for it, and the model's name. Where no model answers yet it is the configured one.
func (s *Service) configuredFor(ctx context.Context, ref workspaces.Ref) (embedding.Embedder, string, error) {
	model, err := knowledge.AnsweringModel(ctx, s.db, ref)
	if err != nil || model == "" {
		return s.embedders[0], model, err
	}
	embedder, known := s.embedders.Of(model)
	if !known {
		return nil, model, nil
	}
	return embedder, model, nil
}

// nameModel makes a model the one that answers in a workspace that has none yet. It is a statement
// of its own: in the transaction of the commit, the first sources of a workspace would wait for
// each other.
func nameModel(ctx context.Context, db bun.IDB, ref workspaces.Ref, model string) error {
	_, err := db.ExecContext(ctx, `
		INSERT INTO workspace_embeddings (workspace_id, tenant_id, model)
		VALUES (?, ?, ?)
		ON CONFLICT (workspace_id) DO NOTHING`, ref.ID, ref.TenantID, model)
	if err != nil {
		return fmt.Errorf("note the answering model: %w", err)
	}
	return nil
}

// holdModel sees to it that the chunks' model answers in the workspace until tx ends. Where another
// model is to take over, the source is one more to be embedded by that. Errors: errMoved.
func holdModel(ctx context.Context, tx bun.IDB, source knowledge.Source, model string, now time.Time) error {
	var answering, target string
	err := tx.NewRaw(`
		SELECT model,
		       target_model
		FROM workspace_embeddings
		WHERE tenant_id = ?
		  AND workspace_id = ?
		FOR SHARE`, source.TenantID, source.WorkspaceID).Scan(ctx, &answering, &target)
	if err != nil {
		return fmt.Errorf("hold the answering model: %w", err)
	}
	if answering != model {
		return errMoved
	}
	if target == "" || target == model {
		return forgetReembedding(ctx, tx, source)
	}
	return queueReembedding(ctx, tx, source, target, now)
}
