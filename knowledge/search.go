package knowledge

import (
	"context"
	"fmt"

	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// searchAttempts is how often a search starts again because sources or the model changed under it.
const searchAttempts = 3

// lookup is what is searched for an agent.
type lookup struct {
	QueryParams
	// attached is what is attached to the agent; nil: it is read.
	attached *attached
	// without leaves out sources in this usage mode; empty: none.
	without UsageMode
	// chunks is how many chunks are read of those that are found, before reranking.
	chunks int
	// modelFloor gives the search the floor of the embedding model where its caller names none.
	modelFloor bool
}

// found is what a search found, and how it was made.
type found struct {
	search.Ranking
	lookup lookup
	// sets are those that were searched: the hits' Set counts among them.
	sets   []search.Set
	vector []float32
	model  string
	// least is the floor.
	least float64
	// always are the sources whose text is always in the prompt, filteredOut those that are attached
	// and do not pass the filters.
	always, filteredOut []SourceID
}

// best are the hits that are read.
func (f found) best() []search.Hit { return f.Hits[:min(f.lookup.chunks, len(f.Hits))] }

// search ranks the chunks that the agent may see. When a source was replaced, or the workspace's
// model, while it read, it starts again with what there is then.
func (s *Service) search(ctx context.Context, ref workspaces.Ref, l lookup) (found, error) {
	if l.Rerank && s.reranker != nil {
		l.chunks = max(l.chunks, rerankCandidates)
	}
	l.Question = lexicon.Visible(l.Question)
	has := l.attached
	if has == nil {
		var err error
		if has, err = s.attached(ctx, ref, l.AgentID, l.without, l.Filters); err != nil {
			return found{}, err
		}
	}
	for attempt := 1; ; attempt++ {
		got, err := s.searchAttached(ctx, ref, l, has)
		if err != nil || !got.Incomplete || attempt == searchAttempts {
			return got, err
		}
		now, err := s.attached(ctx, ref, l.AgentID, l.without, l.Filters)
		if err != nil || now.same(has) {
			return got, err
		}
		has = now
	}
}

// searchAttached embeds the question and ranks the chunks of what is attached. An agent with
// nothing attached costs no call of the embedder.
func (s *Service) searchAttached(ctx context.Context, ref workspaces.Ref, l lookup, has *attached) (found, error) {
	got := found{lookup: l, always: has.always, filteredOut: has.filteredOut}
	if !has.any {
		return got, nil
	}
	embedder := s.answering(ctx, ref, has.model)
	vectors, err := embedder.Embed(ctx, []string{l.Question}, embedding.Query)
	if err != nil {
		return got, fmt.Errorf("embed the question: %w", err)
	}
	got.sets, got.vector, got.model = has.sets, vectors[0], embedder.Model().Name
	switch {
	case l.MinSimilarity != nil:
		got.least = *l.MinSimilarity
	case l.modelFloor:
		got.least = embedder.Model().DefaultFloor
	}
	got.Ranking, err = s.index.Rank(ctx, ref, has.sets, search.Question{
		Text: l.Question, Vector: got.vector, Model: got.model, Limit: l.chunks,
		Hybrid: l.Ranking == RankHybrid, Weight: embedder.Model().HybridWeight, Floor: got.least,
	})
	return got, err
}
