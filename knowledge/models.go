package knowledge

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// ConfiguredModel is the name of the model that all workspaces are to answer with.
func (s *Service) ConfiguredModel() string { return s.embedders[0].Model().Name }

// answering is the embedder of the questions to a workspace that answers with the model. When this
// process has none for that, it is the configured one, which finds what it has embedded already.
func (s *Service) answering(ctx context.Context, ref workspaces.Ref, model string) embedding.Embedder {
	if embedder, known := s.embedders.Of(model); known {
		return embedder
	}
	if model != "" {
		s.log.WarnContext(ctx, "the answering embedding model is not configured here; passages it embedded are not found",
			telemetry.KeyWorkspaceID, string(ref.ID), telemetry.KeyReason, model)
	}
	return s.embedders[0]
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
	configured := s.embedders[0].Model().Name
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

// EmbeddingDimension is how long the vectors of a model are that are stored here; 0: none are.
func EmbeddingDimension(ctx context.Context, db bun.IDB, model string) (int, error) {
	var dimension int
	err := db.NewRaw(postgres.RawForAllTenants("a model's dimension is the same for all", `
		SELECT coalesce(
			(SELECT nullif(dimension, 0) FROM embedding_models WHERE name = ?),
			(SELECT vector_dims(embedding) FROM chunks WHERE model = ? LIMIT 1),
			0)`), model, model).Scan(ctx, &dimension)
	if err != nil {
		return 0, fmt.Errorf("find the dimension of stored vectors: %w", err)
	}
	return dimension, nil
}
