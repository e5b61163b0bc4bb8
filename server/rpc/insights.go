package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/workspaces"
)

type insightsServer struct {
	insights *insights.Service
}

// NewInsights serves InsightService.
func NewInsights(service *insights.Service) parlancev1connect.InsightServiceHandler {
	return &insightsServer{insights: service}
}

func (s *insightsServer) GetActivity(ctx context.Context, req *parlancev1.GetActivityRequest) (*parlancev1.Activity, error) {
	activity, err := s.insights.Activity(ctx, workspaces.PrincipalFrom(ctx), insights.ActivityParams{
		WorkspaceID: workspaces.ID(req.GetWorkspaceId()), AgentID: req.GetAgentId(),
		Since: timeOf(req.GetSince()), Until: timeOf(req.GetUntil()), Step: insights.Step(req.GetStep()), Timezone: req.GetTimezone(),
	})
	return &parlancev1.Activity{
		Step: string(activity.Step), Timezone: activity.Timezone, Currency: activity.Currency,
		Steps: each(activity.Steps, activityStepProto), Total: activityStepProto(activity.Total),
	}, err
}

func activityStepProto(s insights.ActivityStep) *parlancev1.ActivityStep {
	c := s.Counts
	return &parlancev1.ActivityStep{
		StartsAt: timestamp(s.StartsAt), Sessions: int32(c.Sessions), FailedSessions: int32(c.FailedSessions),
		VoiceMinutes: float64(c.VoiceMinutes), Turns: int32(c.Turns), FailedTurns: int32(c.FailedTurns),
		KnowledgeAnswers: int32(c.KnowledgeAnswers), AnswersWithoutPassage: int32(c.AnswersWithoutPassage),
		Tokens: float64(c.Tokens), Cost: c.Cost, ToolCalls: int32(c.ToolCalls), FailedToolCalls: int32(c.FailedToolCalls),
		Deliveries: int32(c.Deliveries), FailedDeliveries: int32(c.FailedDeliveries),
		SourcesReady: int32(c.SourcesReady), FailedSources: int32(c.FailedSources),
	}
}
