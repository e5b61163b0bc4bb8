package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// planLimits are the limits of a tenant that are not of a month, with what is used now.
func (s *usageServer) planLimits(ctx context.Context, tenant workspaces.TenantID, plan workspaces.Plan) ([]*parlancev1.PlanLimit, error) {
	open, err := s.Sessions.CountOpen(ctx, tenant)
	if err != nil {
		return nil, err
	}
	room, err := s.Workspaces.Room(ctx, tenant)
	if err != nil {
		return nil, err
	}
	alerts, err := s.Usage.Alerts(ctx, tenant)
	if err != nil {
		return nil, err
	}
	ofPlan := func(name string, of func(workspaces.Plan) int64, used *float64) *parlancev1.PlanLimit {
		return &parlancev1.PlanLimit{
			Name: name, Limit: float64(of(plan)), Used: used, PlanWithMore: s.Workspaces.PlanWithMore(plan, of),
		}
	}
	limits := []*parlancev1.PlanLimit{
		ofPlan("concurrent_sessions", func(p workspaces.Plan) int64 { return int64(p.ConcurrentSessions) }, new(float64(open))),
		ofPlan("kb_upload_bytes", func(p workspaces.Plan) int64 { return p.KBUploadBytes }, nil),
	}
	for _, bucket := range workspaces.RateBuckets {
		rate := func(p workspaces.Plan) int64 { return int64(p.RatesPerMinute[bucket]) }
		limits = append(limits, ofPlan(bucket+"_requests_per_minute", rate, nil))
	}
	return append(limits,
		&parlancev1.PlanLimit{Name: "workspaces", Limit: float64(room.MaxWorkspaces), Used: new(float64(room.Workspaces))},
		&parlancev1.PlanLimit{Name: "api_keys", Limit: float64(room.MaxKeys), Used: new(float64(room.Keys))},
		&parlancev1.PlanLimit{Name: "usage_alerts", Limit: usage.MaxAlerts, Used: new(float64(len(alerts)))},
	), nil
}

func featuresProto(plan workspaces.Plan) *parlancev1.PlanFeatures {
	return &parlancev1.PlanFeatures{
		Tools: plan.Tools, Mcp: plan.MCP, Models: plan.Models,
		TranscriptDays: int32(plan.TranscriptDays), AudioDays: int32(plan.AudioDays),
	}
}
