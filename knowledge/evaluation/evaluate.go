package evaluation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// ID names an evaluation (evl_…).
type ID string

const (
	maxQuestions = 200
	// maxExpected is how many ids and how many names a question may expect.
	maxExpected = 20
	// maxQuestionChars is QueryKnowledge's limit too.
	maxQuestionChars = 8000
	// maxEvaluations is how many of a workspace are kept; older ones go when another is made.
	maxEvaluations = 200
	// evaluateAtOnce is how many questions of an evaluation are asked at the same time.
	evaluateAtOnce = 4
)

// Evaluation is how well questions with known answers were found, at one time.
type Evaluation struct {
	bun.BaseModel `bun:"table:knowledge_evaluations,alias:e"`

	ID            ID                  `bun:"id,pk"`
	TenantID      workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID   workspaces.ID       `bun:"workspace_id"`
	AgentID       agents.ID           `bun:"agent_id"`
	Name          string              `bun:"name"`
	TopK          int                 `bun:"top_k"`
	MinSimilarity *float64            `bun:"min_similarity"`
	QuestionCount int                 `bun:"question_count"`
	// EmbeddingModel embedded the questions.
	EmbeddingModel string    `bun:"embedding_model"`
	Metrics        []Metrics `bun:"metrics,type:jsonb"`
	// Results are in the order of the questions; nil in lists.
	Results    []Result  `bun:"results,type:jsonb"`
	CreatedAt  time.Time `bun:"created_at"`
	DurationMs int       `bun:"duration_ms"`
}

// Metrics is how well one ranking did.
type Metrics struct {
	Ranking knowledge.Ranking `json:"ranking"`
	// HitRate is the part of the questions with an expected source among the top passages.
	HitRate float64 `json:"hit_rate"`
	// MRR is the mean of 1 / place of the first expected passage, 0 for a miss.
	MRR  float64 `json:"mrr"`
	Hits int     `json:"hits"`
}

// Result is what became of one question.
type Result struct {
	Question  string               `json:"q"`
	SourceIDs []knowledge.SourceID `json:"source_ids"`
	// Places has one of each ranking, in the order of the metrics.
	Places []Place `json:"places"`
}

// Place is where the first passage of an expected source stood.
type Place struct {
	Ranking knowledge.Ranking `json:"ranking"`
	// Rank counts from 1; 0 is a miss.
	Rank     int                `json:"rank"`
	SourceID knowledge.SourceID `json:"source_id"`
	// Similarity of that passage; for a miss, of the nearest one of the first expected source.
	Similarity float64           `json:"similarity"`
	Outcome    knowledge.Outcome `json:"outcome"`
}

// Params is questions with known answers.
type Params struct {
	AgentID agents.ID
	Name    string
	// TopK is 1 to 50; 0 means 5.
	TopK int
	// MinSimilarity nil is no floor.
	MinSimilarity *float64
	// Rankings: empty is both.
	Rankings []knowledge.Ranking
	// Filters choose among the sources that are attached.
	Filters []agents.TagFilter
	// Questions are 1 to 200.
	Questions []Question
}

// Question is a question and the sources of which a passage answers it, by id, by
// name or both; every source of a name counts.
type Question struct {
	Question    string
	SourceIDs   []knowledge.SourceID
	SourceNames []string
}

// Evaluate asks the agent's sources the questions and stores at which place each answer was found.
// Misses are explained as Query explains them. Errors: NotFound (the agent, a source id), Invalid
// invalid-request, Upstream upstream-failed (the embedder).
func (s *Service) Evaluate(ctx context.Context, ref workspaces.Ref, p Params) (Evaluation, error) {
	begun := s.moment()
	if err := p.check(); err != nil {
		return Evaluation{}, err
	}
	if err := s.agent(ctx, ref, p.AgentID); err != nil {
		return Evaluation{}, err
	}
	results, err := expected(ctx, s.db, ref, p.Questions)
	if err != nil {
		return Evaluation{}, err
	}
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(evaluateAtOnce)
	for i := range results {
		group.Go(func() error {
			for _, ranking := range p.Rankings {
				place, err := s.place(asking, ref, p, ranking, results[i])
				if err != nil {
					return err
				}
				results[i].Places = append(results[i].Places, place)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Evaluation{}, err
	}
	made := Evaluation{
		ID: ID(idgen.In(ctx, idgen.Evaluation)), TenantID: ref.TenantID, WorkspaceID: ref.ID, AgentID: p.AgentID,
		Name: p.Name, TopK: p.TopK, MinSimilarity: p.MinSimilarity, QuestionCount: len(results),
		EmbeddingModel: s.knowledge.ConfiguredModel(), Metrics: metricsOf(results, p.Rankings), Results: results, CreatedAt: begun,
		DurationMs: int(min(s.now().Sub(begun).Milliseconds(), math.MaxInt32)),
	}
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error { return insertEvaluation(ctx, tx, made) })
	if err != nil {
		if stored, findErr := selectEvaluation(ctx, s.db, ref, made.ID); findErr == nil { // see idgen.In
			return stored, nil
		}
	}
	return made, err
}

// check fills in what was left out.
func (p *Params) check() error {
	if len(p.Rankings) == 0 {
		p.Rankings = []knowledge.Ranking{knowledge.RankSimilarity, knowledge.RankHybrid}
	}
	if p.TopK == 0 {
		p.TopK = knowledge.DefaultTopK
	}
	if len(p.Questions) == 0 || len(p.Questions) > maxQuestions {
		return fault.InvalidField("questions", "out_of_range", "questions must be 1 to %d.", maxQuestions)
	}
	for i, ranking := range p.Rankings {
		if slices.Contains(p.Rankings[:i], ranking) {
			return fault.InvalidField("rankings", "unique", "rankings must name %s once.", ranking)
		}
		one := knowledge.QueryParams{TopK: p.TopK, MinSimilarity: p.MinSimilarity, Ranking: ranking, Filters: p.Filters}
		if err := one.Check(); err != nil {
			return err
		}
	}
	for i, q := range p.Questions {
		field := fmt.Sprintf("questions[%d]", i)
		switch {
		case q.Question == "" || len([]rune(q.Question)) > maxQuestionChars:
			return fault.InvalidField(field+".q", "out_of_range", "q must be 1 to %d characters.", maxQuestionChars)
		case strings.ContainsRune(q.Question, 0):
			return fault.InvalidField(field+".q", "invalid", "q must not hold U+0000.")
		case len(q.SourceIDs) == 0 && len(q.SourceNames) == 0:
			return fault.InvalidField(field, "required", "Name the sources that answer the question, in source_ids or source_names.")
		case len(q.SourceIDs) > maxExpected || len(q.SourceNames) > maxExpected:
			return fault.InvalidField(field, "max_items", "A question may expect %d source_ids and %d source_names.",
				maxExpected, maxExpected)
		}
	}
	return nil
}

// expected is a result for each question, its expected sources resolved: ids as they were
// given, then those of the names, oldest first, each once.
// Errors: NotFound (an id), Invalid invalid-request (a name).
func expected(ctx context.Context, db bun.IDB, ref workspaces.Ref, questions []Question) ([]Result, error) {
	var ids []knowledge.SourceID
	var names []string
	for _, q := range questions {
		ids, names = append(ids, q.SourceIDs...), append(names, q.SourceNames...)
	}
	known, err := namedSources(ctx, db, ref, ids, names)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(questions))
	for i, q := range questions {
		result := Result{Question: q.Question}
		add := func(id knowledge.SourceID) {
			if !slices.Contains(result.SourceIDs, id) {
				result.SourceIDs = append(result.SourceIDs, id)
			}
		}
		for _, id := range q.SourceIDs {
			if !slices.ContainsFunc(known, func(s knowledge.Source) bool { return s.ID == id }) {
				return nil, fault.NoSuch("source", string(id))
			}
			add(id)
		}
		for j, name := range q.SourceNames {
			found := false
			for _, source := range known {
				if source.Name == name {
					add(source.ID)
					found = true
				}
			}
			if !found {
				return nil, fault.InvalidField(fmt.Sprintf("questions[%d].source_names[%d]", i, j), "unknown",
					"The workspace has no source named %q; names are compared letter by letter.", name)
			}
		}
		results[i] = result
	}
	return results, nil
}

// place asks one question.
func (s *Service) place(ctx context.Context, ref workspaces.Ref, p Params, ranking knowledge.Ranking, result Result) (Place, error) {
	query := knowledge.QueryParams{
		AgentID: p.AgentID, Question: result.Question, TopK: p.TopK,
		MinSimilarity: p.MinSimilarity, Ranking: ranking, Filters: p.Filters,
	}
	answer, err := s.knowledge.Query(ctx, ref, query)
	if err != nil {
		return Place{}, err
	}
	for i, found := range answer.Chunks {
		if slices.Contains(result.SourceIDs, found.SourceID) {
			return Place{
				Ranking: ranking, Rank: i + 1, SourceID: found.SourceID, Similarity: found.Similarity,
				Outcome: knowledge.OutcomeFound,
			}, nil
		}
	}
	query.ExplainSourceID = result.SourceIDs[0]
	answer, err = s.knowledge.Query(ctx, ref, query)
	if err != nil {
		return Place{}, err
	}
	return Place{Ranking: ranking, Similarity: answer.Explanation.BestSimilarity, Outcome: answer.Explanation.Outcome}, nil
}

func metricsOf(results []Result, rankings []knowledge.Ranking) []Metrics {
	metrics := make([]Metrics, len(rankings))
	for i, ranking := range rankings {
		ranks := make([]int, len(results))
		for j, result := range results {
			ranks[j] = result.Places[i].Rank
		}
		metrics[i] = measure(ranks)
		metrics[i].Ranking = ranking
	}
	return metrics
}

// measure is the metrics of places counted from 1, 0 for a miss; none have no metrics.
func measure(ranks []int) Metrics {
	var m Metrics
	if len(ranks) == 0 {
		return m
	}
	for _, rank := range ranks {
		if rank > 0 {
			m.Hits++
			m.MRR += 1 / float64(rank)
		}
	}
	m.MRR /= float64(len(ranks))
	m.HitRate = float64(m.Hits) / float64(len(ranks))
	return m
}
