package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// UsageReader reads usage.
type UsageReader struct {
	Usage      *usage.Service
	Workspaces *workspaces.Service
	Sessions   *sessions.Service
	// Currency is that of the prices; empty without prices.
	Currency string
}

type usageServer struct{ UsageReader }

// NewUsage serves UsageService.
func NewUsage(r UsageReader) parlancev1connect.UsageServiceHandler { return &usageServer{r} }

func (s *usageServer) GetUsage(ctx context.Context, req *parlancev1.GetUsageRequest) (*parlancev1.Usage, error) {
	p := workspaces.PrincipalFrom(ctx)
	filter := filterOf(p, req)
	month, err := s.Usage.Month(ctx, p.TenantID, req.GetMonth(), filter)
	if err != nil {
		return nil, err
	}
	answer := &parlancev1.Usage{
		Month: month.Month, BeginsAt: timestamp(month.Begins), EndsAt: timestamp(month.Ends), Timezone: month.Timezone, Plan: month.Plan.Name,
		Meters: each(month.Sums, s.meterProto(month.Plan)), Currency: s.Currency, Features: featuresProto(month.Plan),
	}
	if filter == (usage.Filter{}) {
		if answer.Limits, err = s.planLimits(ctx, p.TenantID, month.Plan); err != nil {
			return nil, err
		}
	}
	if s.Currency != "" {
		answer.Cost = month.Cost()
	}
	return answer, nil
}

// usageFilter is what requests for usage have in common.
type usageFilter interface {
	GetWorkspaceId() string
	GetAgentId() string
}

// filterOf narrows usage to what was asked for and to what the key may see. Nothing was used in a
// workspace that the key may not see.
func filterOf(p workspaces.Principal, req usageFilter) usage.Filter {
	filter := usage.Filter{WorkspaceID: workspaces.ID(req.GetWorkspaceId()), AgentID: req.GetAgentId()}
	if filter.WorkspaceID == "" {
		filter.WorkspaceID = p.WorkspaceID
	}
	if p.WorkspaceID != "" && filter.WorkspaceID != p.WorkspaceID {
		filter.AgentID, filter.WorkspaceID = "-", p.WorkspaceID
	}
	return filter
}

func (s *usageServer) meterProto(plan workspaces.Plan) func(usage.Sum) *parlancev1.MeterUsage {
	return func(sum usage.Sum) *parlancev1.MeterUsage {
		proto := &parlancev1.MeterUsage{
			Meter: string(sum.Meter), Quantity: float64(sum.Quantity), Limit: float64(sum.Limit), Percent: sum.Percent(),
			Expected: float64(sum.AtEnd), LimitReachedOn: sum.ReachedOn,
		}
		if sum.Limit > 0 {
			proto.PlanWithMore = s.Workspaces.PlanWithMore(plan, func(p workspaces.Plan) int64 { return usage.Limit(p, sum.Meter) })
		}
		return proto
	}
}

func (s *usageServer) ListUsageDays(ctx context.Context, req *parlancev1.ListUsageDaysRequest) (*parlancev1.ListUsageDaysResponse, error) {
	p := workspaces.PrincipalFrom(ctx)
	rows, err := s.Usage.Days(ctx, p.TenantID, usage.DaysParams{
		From: req.GetFrom(), To: req.GetTo(), Filter: filterOf(p, req), Meter: usage.Meter(req.GetMeter()),
		GroupBy: each(req.GetGroupBy(), func(name string) usage.Group { return usage.Group(name) }),
	})
	return &parlancev1.ListUsageDaysResponse{Rows: each(rows, usageRowProto), Currency: s.Currency}, err
}

func usageRowProto(r usage.Row) *parlancev1.UsageRow {
	return &parlancev1.UsageRow{
		Day: r.Day, Month: r.Month, WorkspaceId: r.WorkspaceID, AgentId: r.AgentID, Model: r.Model, Meter: string(r.Meter),
		Quantity: float64(r.Quantity), Cost: r.Cost,
	}
}

func (s *usageServer) CreateUsageAlert(ctx context.Context, req *parlancev1.CreateUsageAlertRequest) (*parlancev1.UsageAlert, error) {
	p := workspaces.PrincipalFrom(ctx)
	if err := p.RequireWholeTenant(); err != nil {
		return nil, err
	}
	alert, err := s.Usage.CreateAlert(ctx, p.TenantID, usage.Alert{
		Meter: usage.Meter(req.GetMeter()), Quantity: int64(req.GetQuantity()), Percent: int(req.GetPercent()),
	})
	return usageAlertProto(alert), err
}

func (s *usageServer) ListUsageAlerts(
	ctx context.Context, _ *parlancev1.ListUsageAlertsRequest,
) (*parlancev1.ListUsageAlertsResponse, error) {
	p := workspaces.PrincipalFrom(ctx)
	if p.WorkspaceID != "" { // alerts are of the whole tenant
		return &parlancev1.ListUsageAlertsResponse{}, nil
	}
	alerts, err := s.Usage.Alerts(ctx, p.TenantID)
	return &parlancev1.ListUsageAlertsResponse{Alerts: each(alerts, usageAlertProto)}, err
}

func (s *usageServer) DeleteUsageAlert(ctx context.Context, req *parlancev1.DeleteUsageAlertRequest) (*emptypb.Empty, error) {
	p := workspaces.PrincipalFrom(ctx)
	if err := p.RequireWholeTenant(); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.Usage.DeleteAlert(ctx, p.TenantID, usage.AlertID(req.GetAlertId()))
}

func usageAlertProto(a usage.Alert) *parlancev1.UsageAlert {
	return &parlancev1.UsageAlert{
		Id: string(a.ID), Meter: string(a.Meter), Quantity: float64(a.Quantity), Percent: int32(a.Percent), CreatedAt: timestamp(a.CreatedAt),
	}
}
