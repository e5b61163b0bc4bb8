package knowledge

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/workspaces"
)

// maxRankDepth is how far Rank goes.
const maxRankDepth = 1000

// Rank is the sources of the chunks that a query would find, in its order and without a floor, for
// measurements that look further than a query may: up to depth, at most 1,000. A source is named
// once for each of its chunks. Hybrid ranking goes no further than it does for a query of 50.
// Errors: NotFound (the agent), Upstream upstream-failed (the embedder).
func (s *Service) Rank(ctx context.Context, ref workspaces.Ref, agentID agents.ID, question string, ranking Ranking,
	depth int,
) ([]SourceID, error) {
	if _, err := s.agent(ctx, ref, agentID); err != nil {
		return nil, err
	}
	depth = min(depth, maxRankDepth)
	chunks := depth
	if ranking == RankHybrid {
		chunks = maxTopK
	}
	got, err := s.search(ctx, ref, lookup{QueryParams: QueryParams{AgentID: agentID, Question: question, Ranking: ranking}, chunks: chunks})
	if err != nil {
		return nil, err
	}
	ids := make([]SourceID, 0, depth)
	for _, hit := range got.Hits[:min(depth, len(got.Hits))] {
		ids = append(ids, SourceID(got.sets[hit.Set].SourceID))
	}
	return ids, nil
}
