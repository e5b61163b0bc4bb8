package knowledge

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// embedderOf is the embedder that makes a model's vectors; false when this process has none.
func (s *Service) embedderOf(model string) (embedding.Embedder, bool) {
	for _, one := range append([]embedding.Embedder{s.embedder}, s.previous...) {
		if one.Model().Name == model {
			return one, true
		}
	}
	return nil, false
}

// answering is the embedder of the questions to a workspace that answers with the model. When this
// process has none for that, it is the configured one, which finds what it has embedded already.
func (s *Service) answering(ctx context.Context, ref workspaces.Ref, model string) embedding.Embedder {
	if embedder, known := s.embedderOf(model); known {
		return embedder
	}
	if model != "" {
		s.log.WarnContext(ctx, "the answering embedding model is not configured here; passages it embedded are not found",
			telemetry.KeyWorkspaceID, string(ref.ID), telemetry.KeyReason, model)
	}
	return s.embedder
}

// search is searchOnce, and once more with the new model when the workspace's model was changed
// between the question's embedding and the search: there was nothing of the one before any more.
func (s *Service) search(ctx context.Context, ref workspaces.Ref, p probe) (searched, error) {
	got, err := s.searchOnce(ctx, ref, p)
	if err != nil || len(got.ranked.hits)+len(got.ranked.below) > 0 {
		return got, err
	}
	model, err := answeringModel(ctx, s.db, ref)
	if _, known := s.embedderOf(model); err != nil || !known || model == p.model {
		return got, err
	}
	again, err := s.probe(ctx, ref, p.QueryParams)
	if err != nil || again.empty() {
		return got, err
	}
	again.numbers = nil // of other sources, perhaps
	again.without, again.want = p.without, p.want
	if p.MinSimilarity == nil && p.floor == p.defaultFloor {
		again.floor = again.defaultFloor
	}
	return s.searchOnce(ctx, ref, again)
}

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
	model, err := answeringModel(ctx, s.db, ref)
	if err != nil || model == "" {
		return s.embedder, model, err
	}
	embedder, known := s.embedderOf(model)
	if !known {
		return nil, model, nil
	}
	return embedder, model, nil
}

// nameModel makes a model the one that answers in a workspace that has none yet. It is a statement of
// its own: in the transaction of the commit, the first sources of a workspace would wait for each other.
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
func holdModel(ctx context.Context, tx bun.IDB, source Source, model string, now time.Time) error {
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

// selectAnswering is an expression for the model whose vectors a query compares, of tenant and workspace, for which
// it has placeholders; empty: nothing was embedded yet. A workspace of 0.1.0 has none noted until a worker has looked
// (nameAnswering).
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

// answeringModel is the model whose vectors a query compares; empty: nothing was embedded yet.
func answeringModel(ctx context.Context, db bun.IDB, ref workspaces.Ref) (string, error) {
	var model string
	if err := db.NewRaw("SELECT"+selectAnswering("?0", "?1"), ref.TenantID, ref.ID).Scan(ctx, &model); err != nil {
		return "", fmt.Errorf("find the answering model: %w", err)
	}
	return model, nil
}

// EmbeddingStatus is which model answers in a workspace, and which one will.
type EmbeddingStatus struct {
	AnsweringModel string `bun:"answering_model"`
	// TargetModel is another than AnsweringModel while sources are re-embedded.
	TargetModel string `bun:"target_model"`
	// SourcesTotal have chunks, ChunksTotal of them; Done are embedded by TargetModel.
	SourcesTotal int `bun:"sources_total"`
	SourcesDone  int `bun:"sources_done"`
	ChunksTotal  int `bun:"chunks_total"`
	ChunksDone   int `bun:"chunks_done"`
	// StartedAt is when the re-embedding began; zero: none is under way.
	StartedAt time.Time `bun:"started_at,nullzero"`
	// Error is what went wrong last in the re-embedding; empty: nothing.
	Error string `bun:"error"`
}

// EmbeddingStatus says which model answers in the workspace and how far its sources are embedded
// by the one that will.
func (s *Service) EmbeddingStatus(ctx context.Context, ref workspaces.Ref) (EmbeddingStatus, error) {
	var status EmbeddingStatus
	configured := s.embedder.Model().Name
	err := s.db.NewRaw(`
		WITH state AS (
			SELECT model,
			       target_model,
			       started_at,
			       error
			FROM workspace_embeddings
			WHERE tenant_id = ?
			  AND workspace_id = ?
		), goal AS (
			SELECT coalesce((SELECT model FROM state), ?) AS answering,
			       coalesce((SELECT nullif(target_model, '') FROM state), (SELECT model FROM state), ?) AS target
		), usable AS (
			SELECT s.chunk_count,
			       s.embedding_model = goal.target OR coalesce(r.state = 'done', false) AS done,
			       CASE WHEN s.embedding_model = goal.target THEN s.chunk_count
			            ELSE (SELECT count(*) FROM next_vectors AS v
			                  WHERE v.workspace_id = s.workspace_id AND v.source_id = s.id AND v.model = goal.target)
			       END AS chunks_done
			FROM goal
			CROSS JOIN sources AS s
			LEFT JOIN source_reembeddings AS r ON r.workspace_id = s.workspace_id AND r.source_id = s.id AND r.model = goal.target
			WHERE s.tenant_id = ?
			  AND s.workspace_id = ?
			  AND s.ready_at IS NOT NULL
		)
		SELECT goal.answering AS answering_model,
		       goal.target AS target_model,
		       (SELECT count(*) FROM usable) AS sources_total,
		       (SELECT count(*) FROM usable WHERE done) AS sources_done,
		       (SELECT coalesce(sum(chunk_count), 0) FROM usable) AS chunks_total,
		       (SELECT coalesce(sum(chunks_done), 0) FROM usable) AS chunks_done,
		       (SELECT started_at FROM state WHERE target_model <> '') AS started_at,
		       coalesce((SELECT error FROM state), '') AS error
		FROM goal`, ref.TenantID, ref.ID, configured, configured, ref.TenantID, ref.ID).Scan(ctx, &status)
	if err != nil {
		return EmbeddingStatus{}, fmt.Errorf("read the embedding status: %w", err)
	}
	return status, nil
}
