package knowledge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/pgvector/pgvector-go"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
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

const (
	defaultTopK = 5
	maxTopK     = 50
)

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
	// ExplainSourceID asks why a source is not among the chunks; empty: nobody asks.
	ExplainSourceID SourceID
}

// Answer is what a query found.
type Answer struct {
	// Chunks are best first.
	Chunks []Found
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
		s.metrics.retrieved(err, s.now().Sub(begun))
		span.End(err)
	}()
	return s.query(ctx, ref, p)
}

func (s *Service) query(ctx context.Context, ref workspaces.Ref, p QueryParams) (Answer, error) {
	if err := p.check(); err != nil {
		return Answer{}, err
	}
	if err := s.agent(ctx, ref, p.AgentID); err != nil {
		return Answer{}, err
	}
	probe, err := s.probe(ctx, ref, p)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Chunks: []Found{}}
	var got searched
	if !probe.empty() {
		if got, err = s.search(ctx, ref, probe); err != nil {
			return Answer{}, err
		}
		answer.Chunks, answer.Reranked = s.rerank(ctx, probe, got.found)
		answer.Chunks = answer.Chunks[:min(p.TopK, len(answer.Chunks))]
	}
	if p.ExplainSourceID != "" {
		answer.Explanation, err = s.explain(ctx, ref, probe, answer.Chunks, got.ranked.hits)
	}
	return answer, err
}

func (p *QueryParams) check() error {
	if p.TopK == 0 {
		p.TopK = defaultTopK
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
	return nil
}

// probe is a question with its vector.
type probe struct {
	QueryParams
	vector pgvector.Vector
	model  string
	floor  float64
	// defaultFloor is the model's, for conversations.
	defaultFloor float64
	// without leaves out sources in this usage mode; empty: none.
	without UsageMode
	// want is how many chunks are read: TopK, or more for what chooses among them.
	want int
	// exact is up to how many chunks are compared one by one, coded up to how many by their codes.
	exact int
	coded int
	shelf *sourceShelf
	// numbers are of the sources to look into, as attached.Numbers.
	numbers []int64
	// whole says that all that is ranked is wanted, not only what is read.
	whole bool
}

// empty says that the agent has nothing to look in.
func (p probe) empty() bool { return p.model == "" }

// probe embeds the question; an agent with nothing attached costs no call of the embedder,
// unless an explanation needs one.
func (s *Service) probe(ctx context.Context, ref workspaces.Ref, p QueryParams) (probe, error) {
	has, err := s.beforeSearch(ctx, ref, p.AgentID, "")
	if err != nil {
		return probe{}, err
	}
	return s.probeWith(ctx, ref, p, has)
}

func (s *Service) probeWith(ctx context.Context, ref workspaces.Ref, p QueryParams, has attached) (probe, error) {
	if !has.Any {
		return probe{QueryParams: p}, nil
	}
	embedder := s.answering(ctx, ref, has.Model)
	vectors, err := embedder.Embed(ctx, []string{p.Question}, embedding.Query)
	if err != nil {
		return probe{}, fmt.Errorf("embed the question: %w", err)
	}
	made := probe{
		QueryParams: p, exact: s.exactChunks, coded: s.codedChunks, shelf: s.shelf, want: p.TopK,
		vector: pgvector.NewVector(vectors[0]), model: embedder.Model().Name, defaultFloor: embedder.Model().DefaultFloor,
		numbers: has.Numbers, whole: p.ExplainSourceID != "",
	}
	if p.Rerank && s.reranker != nil {
		made.want = max(made.want, rerankCandidates)
	}
	if p.MinSimilarity != nil {
		made.floor = *p.MinSimilarity
	}
	return made, nil
}

// attached is what is known of an agent before a search.
type attached struct {
	// Any says that sources are attached, Always that some of them are always in the prompt.
	Any, Always bool
	// Model answers in the workspace; empty: nothing was embedded yet.
	Model string
	// Numbers are of the sets of chunks to look into, in the order of their sources; 0: one has none of this version.
	Numbers []int64
}

var selectAttached = `
	SELECT count(*) > 0 AS attached,
	       coalesce(bool_or(a.usage_mode = 'prompt'), false) AS always,
	       ` + selectAnswering("$1", "$2") + ` AS model,
	       coalesce(array_agg(CASE WHEN w.version = $4 THEN w.number ELSE 0 END ORDER BY a.source_id) FILTER (WHERE a.usage_mode <> $5), '{}') AS numbers
	FROM source_attachments AS a
	LEFT JOIN source_words AS w ON w.workspace_id = a.workspace_id AND w.source_id = a.source_id
	WHERE a.tenant_id = $1
	  AND a.workspace_id = $2
	  AND a.agent_id = $3`

// attachedStep asks in one go what a search begins with. Sources in the usage mode without are not looked into.
func attachedStep(ref workspaces.Ref, agent agents.ID, without UsageMode, answered func(attached)) postgres.Step {
	return postgres.Step{
		SQL:  selectAttached,
		Args: []any{string(ref.TenantID), string(ref.ID), string(agent), lexicon.Version, string(without)},
		Row: func(scan func(into ...any) error) error {
			var has attached
			if err := scan(&has.Any, &has.Always, &has.Model, &has.Numbers); err != nil {
				return err
			}
			answered(has)
			return nil
		},
	}
}

// beforeSearch asks attachedStep alone.
func (s *Service) beforeSearch(ctx context.Context, ref workspaces.Ref, agent agents.ID, without UsageMode) (has attached, err error) {
	_, err = s.db.Ask(ctx, attachedStep(ref, agent, without, func(found attached) { has = found }))
	if err != nil {
		return has, fmt.Errorf("look for attachments: %w", err)
	}
	return has, nil
}

// hasSource says whether a chunk of the source was found.
func hasSource(found []Found, id SourceID) bool {
	return slices.ContainsFunc(found, func(f Found) bool { return f.SourceID == id })
}
