package knowledge

import (
	"context"
	"math"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// Ranking says how chunks are ordered.
type Ranking string

// The rankings.
const (
	// RankSimilarity orders by vector similarity.
	RankSimilarity Ranking = "similarity"
	// RankHybrid fuses that order with the one by words (BM25).
	RankHybrid Ranking = "hybrid"
)

// DefaultTopK is how many chunks a query returns when its caller does not say.
const DefaultTopK = 5

const maxTopK = 50

// QueryParams is a question to an agent's sources.
type QueryParams struct {
	AgentID  agents.ID
	Question string
	// TopK is 1 to 50; 0 means 5.
	TopK int
	// MinSimilarity leaves out chunks below it; nil: none.
	MinSimilarity *float64
	// Ranking: empty is RankSimilarity.
	Ranking Ranking
	// Rerank has the reranking server order the best candidates anew, where one is configured.
	Rerank bool
	// Filters choose among the sources that are attached, beside the agent's: one must pass all.
	Filters []agents.TagFilter
	// ExplainSourceID asks why a source is not among the chunks; empty: nobody asks.
	ExplainSourceID SourceID
}

// Answer is what a query found.
type Answer struct {
	// Chunks are best first.
	Chunks []Found
	// Ranking is the one that ordered them, and Model the embedding model whose vectors were compared.
	Ranking Ranking
	Model   string
	// Reranked says what the reranking came to.
	Reranked Reranked
	// Explanation is nil unless it was asked for.
	Explanation *Explanation
}

// Query returns at most TopK chunks of the sources attached to the agent, nearest first; equal
// ones in the order of source and place. Similarity is max(0, cosine); chunks under
// MinSimilarity are left out, so the result may be shorter. Only chunks that the configured
// model embedded are compared.
// Errors: NotFound (the agent, the source to explain), Invalid invalid-request (TopK outside
// 1..50, MinSimilarity outside 0..1), Upstream upstream-failed (the embedder).
// Source: interface, Knowledge base, POST knowledge-base/query.
func (s *Service) Query(ctx context.Context, ref workspaces.Ref, p QueryParams) (answer Answer, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "query knowledge")
	begun := s.now()
	defer func() {
		observe(s.metrics.retrieval, s.now().Sub(begun), err)
		span.End(err)
	}()
	return s.query(ctx, ref, p)
}

func (s *Service) query(ctx context.Context, ref workspaces.Ref, p QueryParams) (Answer, error) {
	if err := p.Check(); err != nil {
		return Answer{}, err
	}
	agent, err := s.agent(ctx, ref, p.AgentID)
	if err != nil {
		return Answer{}, err
	}
	p.Filters = append(slices.Clone(p.Filters), agent.Config.Retrieval.Tags)
	found, err := s.search(ctx, ref, lookup{QueryParams: p, chunks: p.TopK})
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Chunks: []Found{}, Ranking: p.Ranking, Model: found.model}
	if len(found.Hits) > 0 {
		read, err := s.readHits(ctx, ref, found, found.best())
		if err != nil {
			return Answer{}, err
		}
		answer.Chunks, answer.Reranked = s.rerank(ctx, p, read)
		answer.Chunks = answer.Chunks[:min(p.TopK, len(answer.Chunks))]
	}
	if p.ExplainSourceID != "" {
		answer.Explanation, err = s.explain(ctx, ref, p, found, answer.Chunks)
	}
	return answer, err
}

// Check fills in what was left out. Errors: Invalid invalid-request.
func (p *QueryParams) Check() error {
	if p.TopK == 0 {
		p.TopK = DefaultTopK
	}
	if p.Ranking == "" {
		p.Ranking = RankSimilarity
	}
	switch {
	case p.TopK < 1 || p.TopK > maxTopK:
		return fault.InvalidField("top_k", "out_of_range", "top_k must be from 1 to %d.", maxTopK)
	case p.MinSimilarity != nil && (*p.MinSimilarity < 0 || *p.MinSimilarity > 1 || math.IsNaN(*p.MinSimilarity)):
		return fault.InvalidField("min_similarity", "out_of_range", "min_similarity must be from 0 to 1.")
	case p.Ranking != RankSimilarity && p.Ranking != RankHybrid:
		return fault.InvalidField("ranking", "in", "ranking must be similarity or hybrid.")
	}
	for _, filter := range p.Filters {
		if err := filter.Check("tags"); err != nil {
			return err
		}
	}
	return nil
}

// hasSource says whether a chunk of the source was found.
func hasSource(found []Found, id SourceID) bool {
	return slices.ContainsFunc(found, func(f Found) bool { return f.SourceID == id })
}
