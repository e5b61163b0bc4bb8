package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/evaluation"
)

func (s *knowledgeServer) CreateKnowledgeEvaluation(
	ctx context.Context, req *parlancev1.CreateKnowledgeEvaluationRequest,
) (*parlancev1.KnowledgeEvaluation, error) {
	evaluation, err := s.evaluations.Evaluate(ctx, refOf(ctx), evaluateParams(req))
	return evaluationProto(evaluation), err
}

func (s *knowledgeServer) ListKnowledgeEvaluations(
	ctx context.Context, req *parlancev1.ListKnowledgeEvaluationsRequest,
) (*parlancev1.ListKnowledgeEvaluationsResponse, error) {
	list, next, err := s.evaluations.List(ctx, refOf(ctx),
		evaluation.ListParams{PageParams: pageParams(req), AgentID: agents.ID(req.GetAgentId())})
	return &parlancev1.ListKnowledgeEvaluationsResponse{Evaluations: each(list, evaluationProto), NextPageToken: next}, err
}

func (s *knowledgeServer) GetKnowledgeEvaluation(
	ctx context.Context, req *parlancev1.GetKnowledgeEvaluationRequest,
) (*parlancev1.KnowledgeEvaluation, error) {
	evaluation, comparison, err := s.evaluations.Get(ctx, refOf(ctx),
		evaluation.ID(req.GetEvaluationId()), evaluation.ID(req.GetCompareTo()))
	if err != nil {
		return nil, err
	}
	answer := evaluationProto(evaluation)
	answer.Comparison = comparisonProto(comparison)
	return answer, nil
}

func (s *knowledgeServer) DeleteKnowledgeEvaluation(
	ctx context.Context, req *parlancev1.DeleteKnowledgeEvaluationRequest,
) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.evaluations.Delete(ctx, refOf(ctx), evaluation.ID(req.GetEvaluationId()))
}

func evaluateParams(req *parlancev1.CreateKnowledgeEvaluationRequest) evaluation.Params {
	return evaluation.Params{
		AgentID: agents.ID(req.GetAgentId()), Name: req.GetName(), TopK: int(req.GetTopK()), MinSimilarity: req.MinSimilarity,
		Filters:  []agents.TagFilter{tagFilter(req.GetTags())},
		Rankings: each(req.GetRankings(), func(r string) knowledge.Ranking { return knowledge.Ranking(r) }),
		Questions: each(req.GetQuestions(), func(q *parlancev1.EvaluationQuestion) evaluation.Question {
			return evaluation.Question{
				Question:    q.GetQ(),
				SourceIDs:   each(q.GetSourceIds(), func(id string) knowledge.SourceID { return knowledge.SourceID(id) }),
				SourceNames: q.GetSourceNames(),
			}
		}),
	}
}

func evaluationProto(e evaluation.Evaluation) *parlancev1.KnowledgeEvaluation {
	return &parlancev1.KnowledgeEvaluation{
		Id: string(e.ID), WorkspaceId: string(e.WorkspaceID), AgentId: string(e.AgentID), Name: e.Name,
		TopK: int32(e.TopK), MinSimilarity: e.MinSimilarity, QuestionCount: int32(e.QuestionCount),
		EmbeddingModel: e.EmbeddingModel, Metrics: each(e.Metrics, metricsProto), Results: each(e.Results, resultProto),
		CreatedAt: timestamp(e.CreatedAt), DurationMs: int32(e.DurationMs),
	}
}

func metricsProto(m evaluation.Metrics) *parlancev1.EvaluationMetrics {
	return &parlancev1.EvaluationMetrics{Ranking: string(m.Ranking), HitRate: m.HitRate, Mrr: m.MRR, Hits: int32(m.Hits)}
}

func resultProto(r evaluation.Result) *parlancev1.EvaluationResult {
	return &parlancev1.EvaluationResult{
		Q: r.Question, SourceIds: each(r.SourceIDs, func(id knowledge.SourceID) string { return string(id) }), Places: each(r.Places, placeProto),
	}
}

func placeProto(p evaluation.Place) *parlancev1.EvaluationPlace {
	return &parlancev1.EvaluationPlace{
		Ranking: string(p.Ranking), Rank: int32(p.Rank), SourceId: string(p.SourceID),
		Similarity: p.Similarity, Outcome: string(p.Outcome),
	}
}

// comparisonProto is nil when nothing was compared.
func comparisonProto(c *evaluation.Comparison) *parlancev1.EvaluationComparison {
	if c == nil {
		return nil
	}
	return &parlancev1.EvaluationComparison{
		ComparedTo: string(c.ComparedTo), Changes: each(c.Changes, changeProto),
		OnlyHere: int32(c.OnlyHere), OnlyThere: int32(c.OnlyThere),
	}
}

func changeProto(c evaluation.Change) *parlancev1.EvaluationChange {
	return &parlancev1.EvaluationChange{
		Ranking: string(c.Ranking), RankingBefore: string(c.RankingBefore), HitRateChange: c.HitRate, MrrChange: c.MRR,
		Same: int32(c.Same), Better: each(c.Better, moveProto), Worse: each(c.Worse, moveProto),
	}
}

func moveProto(m evaluation.Move) *parlancev1.EvaluationMove {
	return &parlancev1.EvaluationMove{Q: m.Question, RankBefore: int32(m.RankBefore), Rank: int32(m.Rank)}
}
