package app

import (
	"context"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/worker/task"
	"parlance.dev/parlance/workspaces"
)

// The types in this file adapt methods of one service to the small interfaces that others declare,
// so that the services do not import each other.

// retriever adapts knowledge for conversations.
type retriever struct{ knowledge *knowledge.Service }

// Retrieve implements turns.Retriever.
func (r retriever) Retrieve(ctx context.Context, ref workspaces.Ref, agentID agents.ID, question string,
	p turns.RetrieveParams,
) ([]sessions.Passage, *sessions.Retrieval, error) {
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

// Ahead implements turns.Retriever. A search asks itself what is attached to the agent.
func (retriever) Ahead(workspaces.Ref, agents.ID) turns.SourcesAhead { return nil }

// indexes adapts the upkeep of indexes for the worker.
type indexes struct{ ingestion *ingestion.Service }

// Sweep implements worker.Housekeeper.
func (i indexes) Sweep(ctx context.Context, now time.Time) error {
	return i.ingestion.Maintain(ctx, now)
}

// ingester adapts ingestion for the worker.
type ingester struct{ ingestion *ingestion.Service }

// Ingest implements task.Ingester.
func (i ingester) Ingest(ctx context.Context, sourceID string) error {
	return i.ingestion.Ingest(ctx, knowledge.SourceID(sourceID))
}

// DueSources implements task.Ingester.
func (i ingester) DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]task.DueSource, error) {
	found, err := i.ingestion.DueSources(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	return dueSources(found), nil
}

func dueSources(found []ingestion.DueSource) []task.DueSource {
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
	return i.ingestion.PutOff(ctx, ingestion.DueSource{TenantID: workspaces.TenantID(source.TenantID), ID: knowledge.SourceID(source.ID)})
}

// Reembed implements task.Reembedder.
func (i ingester) Reembed(ctx context.Context, sourceID string) error {
	return i.ingestion.Reembed(ctx, knowledge.SourceID(sourceID))
}

// DueReembeddings implements task.Reembedder.
func (i ingester) DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]task.DueSource, error) {
	found, err := i.ingestion.DueReembeddings(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	return dueSources(found), nil
}

// PutOffReembedding implements task.Reembedder.
func (i ingester) PutOffReembedding(ctx context.Context, source task.DueSource) error {
	return i.ingestion.PutOffReembedding(ctx, ingestion.DueSource{
		TenantID: workspaces.TenantID(source.TenantID),
		ID:       knowledge.SourceID(source.ID),
	})
}

// modelSweep adapts changes of the embedding model for the worker.
type modelSweep struct{ ingestion *ingestion.Service }

// Sweep implements worker.Housekeeper.
func (m modelSweep) Sweep(ctx context.Context, now time.Time) error {
	return m.ingestion.SweepModels(ctx, now)
}

// blobs adapts the deletion of blobs for the worker.
type blobs struct{ knowledge *knowledge.Service }

// ReleaseBlob implements task.BlobReleaser.
func (b blobs) ReleaseBlob(ctx context.Context, key string) error {
	return b.knowledge.SweepBlob(ctx, key)
}
