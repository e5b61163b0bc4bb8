package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// RetrieveParams says how passages are chosen for a turn; see agents.Retrieval.
type RetrieveParams struct {
	// TopK is 1 to 50; 0 means 5.
	TopK int
	// MinSimilarity nil is the floor of the embedding model.
	MinSimilarity *float64
	// Ranking: empty is RankSimilarity.
	Ranking Ranking
	// Rerank has the reranking server order the best candidates, where one is configured.
	Rerank bool
}

// Search is one search for the passages of a turn.
type Search struct {
	service *Service
	ref     workspaces.Ref
	agentID agents.ID
	filters []agents.TagFilter
	// attached is what Steps have read; nil: they were not asked for.
	attached *attached
}

// Search makes a search among the sources that are attached to the agent and pass all filters. The
// agent is a session's, so whether it exists is not asked again: an unknown one has no passages.
func (s *Service) Search(ref workspaces.Ref, agentID agents.ID, filters []agents.TagFilter) *Search {
	return &Search{service: s, ref: ref, agentID: agentID, filters: filters}
}

// Steps read what Retrieve begins with, in a pipeline of the caller. If it fails, this search must
// not be used.
func (s *Search) Steps() []postgres.Step {
	s.attached = &attached{}
	return []postgres.Step{attachedStep(s.ref, s.agentID, UsagePrompt, s.filters, s.attached)}
}

// Retrieve finds the passages for a turn of a conversation: first those that are always in the
// prompt, in reading order and at most 8,000 tokens, then at most TopK that were found, best first
// and at most 8,000 tokens. Of passages that say nearly the same one is taken; chunks that follow
// each other become one passage; the best two get their neighbours under the same heading.
// Errors: Invalid invalid-request, Upstream upstream-failed (the embedder).
func (s *Search) Retrieve(ctx context.Context, question string, p RetrieveParams) (passages []Passage, trace Trace, err error) {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "retrieve passages")
	begun := s.service.now()
	defer func() {
		observe(s.service.metrics.retrieval, s.service.now().Sub(begun), err)
		span.Set(telemetry.Number("parlance.passages", len(passages)))
		span.End(err)
	}()
	return s.service.retrieve(ctx, s.ref, s.attached, QueryParams{
		AgentID: s.agentID, Question: question, TopK: p.TopK, MinSimilarity: p.MinSimilarity, Ranking: p.Ranking, Rerank: p.Rerank,
		Filters: s.filters,
	})
}

func (s *Service) retrieve(ctx context.Context, ref workspaces.Ref, has *attached, params QueryParams) ([]Passage, Trace, error) {
	if err := params.Check(); err != nil {
		return nil, Trace{}, err
	}
	trace := Trace{Ranking: params.Ranking}
	got, err := s.search(ctx, ref, lookup{
		QueryParams: params, attached: has, without: UsagePrompt, chunks: 2 * params.TopK, modelFloor: true,
	})
	trace.Model, trace.Floor = got.model, got.least
	if err != nil {
		return nil, trace, err
	}
	var passages []Passage
	if len(got.always) > 0 {
		always, err := promptChunks(ctx, s.db, ref, params.AgentID, got.always)
		if err != nil {
			return nil, trace, err
		}
		for _, one := range always {
			passages = append(passages, passageOf(one, true))
		}
	}
	if len(got.Hits)+len(got.Below) == 0 {
		return passages, trace, nil
	}
	best := got.best()
	read, err := s.readHits(ctx, ref, got, slices.Concat(best, got.Below))
	if err != nil {
		return nil, trace, err
	}
	above := slices.IndexFunc(read, func(f Found) bool {
		return slices.ContainsFunc(got.Below, func(h search.Hit) bool { return f.spot == spot{h.Set, h.Chunk} })
	})
	if above < 0 {
		above = len(read)
	}
	ranked, reranked := s.rerank(ctx, params, read[:above])
	trace.Reranked = reranked
	chosen, considered := choose(ranked, params.TopK)
	for _, one := range read[above:] {
		considered = append(considered, one.considered(UseBelowFloor))
	}
	trace.Considered = considered
	if err := s.widen(ctx, ref, got, chosen); err != nil {
		return nil, trace, err
	}
	for _, one := range chosen {
		passages = append(passages, one.asPassage())
	}
	return passages, trace, nil
}

// promptChunks are the chunks of sources that are always in the agent's prompt, in the order in
// which the sources were attached, as far as the budget goes: a source may have grown since.
func promptChunks(ctx context.Context, db bun.IDB, ref workspaces.Ref, agent agents.ID, always []SourceID) ([]Found, error) {
	var chunks []Found
	err := db.NewSelect().Model(&chunks).ExcludeColumn("embedding", "source_name", "similarity").ColumnExpr("s.name AS source_name").
		Join("JOIN source_attachments AS a ON a.workspace_id = c.workspace_id AND a.source_id = c.source_id").
		Join("JOIN sources AS s ON s.workspace_id = c.workspace_id AND s.id = c.source_id").
		Where("a.tenant_id = ?", ref.TenantID).Where("a.workspace_id = ?", ref.ID).Where("a.agent_id = ?", agent).
		Where("a.source_id IN (?)", bun.List(always)).Where("c.index <> ALL (s.disabled_chunks)").
		OrderExpr("a.created_at, a.source_id, c.index").Limit(maxAlwaysTokens).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the passages of every prompt: %w", err)
	}
	left := maxAlwaysTokens
	for i, one := range chunks {
		if left -= one.TokenCount; left < 0 {
			return chunks[:i], nil
		}
	}
	return chunks, nil
}

// widen gives the best passages the chunks before and behind them that stand under the same
// heading, the later first, as long as there is room.
func (s *Service) widen(ctx context.Context, ref workspaces.Ref, in found, passages []passage) error {
	best := passages[:min(widened, len(passages))]
	var spots []spot
	for i := range best {
		spots = append(spots, best[i].behind(), best[i].before())
	}
	texts, err := s.readTexts(ctx, ref, in, spots)
	if err != nil {
		return err
	}
	left := maxFoundTokens
	for _, p := range passages {
		left -= p.tokens
	}
	for i := range best {
		p := &best[i]
		for _, at := range []spot{p.behind(), p.before()} {
			one, there := texts[at]
			switch {
			case !there || one.Heading != p.chunks[0].Heading || taken(passages, at):
			case p.tokens+one.TokenCount > maxWideTokens || one.TokenCount > left:
			default:
				left -= one.TokenCount
				p.add(one)
			}
		}
	}
	return nil
}
