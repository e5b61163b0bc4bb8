package app

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// retriever adapts knowledge for conversations, so that neither imports the other.
type retriever struct{ knowledge *knowledge.Service }

// Search implements turns.Retriever.
func (r retriever) Search(ref workspaces.Ref, agentID agents.ID, filters []agents.TagFilter) turns.Search {
	return passageSearch{r.knowledge.Search(ref, agentID, filters)}
}

// passageSearch implements turns.Search.
type passageSearch struct{ *knowledge.Search }

func (s passageSearch) Retrieve(ctx context.Context, question string, p turns.RetrieveParams,
) ([]sessions.Passage, *sessions.Retrieval, error) {
	found, trace, err := s.Search.Retrieve(ctx, question, knowledge.RetrieveParams{
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
