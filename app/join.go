package app

import (
	"context"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/worker/task"
	"parlance.dev/parlance/workspaces"
)

// The types in this file fit one noun's method to the small interface another declares, so that
// neither imports the other.

// retriever is knowledge as a conversation sees it.
type retriever struct{ knowledge *knowledge.Service }

// Retrieve implements turns.Retriever.
func (r retriever) Retrieve(ctx context.Context, ref workspaces.Ref, agentID agents.ID, question string, p turns.RetrieveParams) ([]sessions.Passage, *sessions.Retrieval, error) {
	found, trace, err := r.knowledge.Retrieve(ctx, ref, agentID, question, knowledge.RetrieveParams{
		TopK: p.TopK, MinSimilarity: p.MinSimilarity, Ranking: knowledge.Ranking(p.Ranking), Rerank: p.Rerank,
	})
	retrieval := &sessions.Retrieval{
		Ranking: string(trace.Ranking), Model: trace.Model, Floor: trace.Floor, Rerank: string(trace.Reranked),
		Chunks: make([]sessions.RetrievedChunk, len(trace.Considered)),
	}
	for i, c := range trace.Considered {
		retrieval.Chunks[i] = sessions.RetrievedChunk{
			ChunkID: string(c.ChunkID), SourceID: string(c.SourceID), Similarity: c.Similarity,
			SimilarityPlace: c.Scores.SimilarityPlace, WordPlace: c.Scores.WordPlace, WordScore: c.Scores.WordScore,
			Fused: c.Scores.Fused, Rerank: c.Scores.Rerank, Use: string(c.Use),
		}
	}
	if err != nil {
		return nil, retrieval, err
	}
	passages := make([]sessions.Passage, len(found))
	for i, f := range found {
		passages[i] = sessions.Passage{
			SourceID: string(f.SourceID), SourceName: f.SourceName, ChunkID: string(f.ChunkID), Heading: f.Heading,
			PageStart: f.PageStart, PageEnd: f.PageEnd, Similarity: f.Similarity, Text: f.Content,
			CharStart: f.CharStart, CharEnd: f.CharEnd,
		}
	}
	return passages, retrieval, nil
}

// searches is the other housekeeping of knowledge.
type searches struct{ knowledge *knowledge.Service }

// Sweep implements worker.Housekeeper.
func (s searches) Sweep(ctx context.Context, now time.Time) error { return s.knowledge.Tend(ctx, now) }

// ingester is knowledge as the worker sees it.
type ingester struct{ knowledge *knowledge.Service }

// Ingest implements task.Ingester.
func (i ingester) Ingest(ctx context.Context, sourceID string) error {
	return i.knowledge.Ingest(ctx, knowledge.SourceID(sourceID))
}

// DueSources implements task.Ingester.
func (i ingester) DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]task.DueSource, error) {
	found, err := i.knowledge.DueSources(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	return dueSources(found), nil
}

func dueSources(found []knowledge.DueSource) []task.DueSource {
	due := make([]task.DueSource, len(found))
	for n, source := range found {
		due[n] = task.DueSource{
			TenantID: string(source.TenantID), WorkspaceID: string(source.WorkspaceID), ID: string(source.ID),
			Origin: telemetry.Origin{Traceparent: source.Traceparent, RequestID: source.RequestID},
		}
	}
	return due
}

// PutOff implements task.Ingester.
func (i ingester) PutOff(ctx context.Context, source task.DueSource) error {
	return i.knowledge.PutOff(ctx, knowledge.DueSource{TenantID: workspaces.TenantID(source.TenantID), ID: knowledge.SourceID(source.ID)})
}

// Reembed implements task.Reembedder.
func (i ingester) Reembed(ctx context.Context, sourceID string) error {
	return i.knowledge.Reembed(ctx, knowledge.SourceID(sourceID))
}

// DueReembeddings implements task.Reembedder.
func (i ingester) DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]task.DueSource, error) {
	found, err := i.knowledge.DueReembeddings(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	return dueSources(found), nil
}

// PutOffReembedding implements task.Reembedder.
func (i ingester) PutOffReembedding(ctx context.Context, source task.DueSource) error {
	return i.knowledge.PutOffReembedding(ctx, knowledge.DueSource{TenantID: workspaces.TenantID(source.TenantID), ID: knowledge.SourceID(source.ID)})
}

// modelSweep is knowledge as the worker sees it when the embedding model changes.
type modelSweep struct{ knowledge *knowledge.Service }

// Sweep implements worker.Housekeeper.
func (m modelSweep) Sweep(ctx context.Context, now time.Time) error {
	return m.knowledge.SweepModels(ctx, now)
}

// blobs is knowledge as the worker's blob task sees it.
type blobs struct{ knowledge *knowledge.Service }

// ReleaseBlob implements task.BlobReleaser.
func (b blobs) ReleaseBlob(ctx context.Context, key string) error {
	return b.knowledge.SweepBlob(ctx, key)
}
