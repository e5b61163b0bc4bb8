package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/workspaces"
)

type workspacesServer struct {
	access     Access
	workspaces *workspaces.Service
}

// NewWorkspaces serves WorkspaceService.
func NewWorkspaces(access Access, service *workspaces.Service) parlancev1connect.WorkspaceServiceHandler {
	return &workspacesServer{access: access, workspaces: service}
}

func (s *workspacesServer) GetTenant(ctx context.Context, _ *parlancev1.GetTenantRequest) (*parlancev1.Tenant, error) {
	caller := workspaces.PrincipalFrom(ctx)
	tenant, err := s.workspaces.Tenant(ctx, caller.TenantID)
	return tenantProto(tenant.VisibleTo(caller), s.workspaces.PlanNamed(tenant.Plan)), err
}

func (s *workspacesServer) UpdateTenant(ctx context.Context, req *parlancev1.UpdateTenantRequest) (*parlancev1.Tenant, error) {
	mask := req.GetUpdateMask()
	tenant, err := s.workspaces.UpdateTenant(ctx, workspaces.PrincipalFrom(ctx), workspaces.TenantChange{
		Name: changed(mask, "name", req.Name), Timezone: changed(mask, "timezone", req.Timezone),
		StripeCustomerID: changed(mask, "stripe_customer_id", req.StripeCustomerId),
	})
	return tenantProto(tenant, s.workspaces.PlanNamed(tenant.Plan)), err
}

func (s *workspacesServer) CreateWorkspace(ctx context.Context, req *parlancev1.CreateWorkspaceRequest) (*parlancev1.Workspace, error) {
	workspace, err := s.workspaces.CreateWorkspace(ctx, workspaces.PrincipalFrom(ctx), req.GetName())
	return workspaceProto(workspace), err
}

func (s *workspacesServer) ListWorkspaces(
	ctx context.Context, req *parlancev1.ListWorkspacesRequest,
) (*parlancev1.ListWorkspacesResponse, error) {
	list, next, err := s.workspaces.ListWorkspaces(ctx, workspaces.PrincipalFrom(ctx), pageParams(req))
	return &parlancev1.ListWorkspacesResponse{Workspaces: each(list, workspaceProto), NextPageToken: next}, err
}

func (s *workspacesServer) GetWorkspace(ctx context.Context, req *parlancev1.GetWorkspaceRequest) (*parlancev1.Workspace, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	workspace, err := s.workspaces.Workspace(ctx, ref)
	return workspaceProto(workspace), err
}

func (s *workspacesServer) UpdateWorkspace(ctx context.Context, req *parlancev1.UpdateWorkspaceRequest) (*parlancev1.Workspace, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	stored, err := s.workspaces.Workspace(ctx, ref)
	if err != nil {
		return nil, err
	}
	workspace, err := s.workspaces.UpdateWorkspace(ctx, ref, workspaceChange(req, stored))
	return workspaceProto(workspace), err
}

// workspaceChange has the fields that were sent.
func workspaceChange(req *parlancev1.UpdateWorkspaceRequest, stored workspaces.Workspace) (changed workspaces.WorkspaceChange) {
	mask := req.GetUpdateMask()
	applyChanges(mask, []change{
		{"name", req.Name != nil, func() { changed.Name = new(req.GetName()) }},
		{"retention", req.GetRetention() != nil, func() {
			changed.Retention = new(retention(merged(mask, "retention", retentionProto(stored.Retention()), req.GetRetention())))
		}},
	})
	return changed
}

func retention(r *parlancev1.RetentionSettings) workspaces.Retention {
	return workspaces.Retention{TranscriptDays: int(r.GetTranscriptDays()), AudioDays: int(r.GetAudioDays())}
}

func retentionProto(r workspaces.Retention) *parlancev1.RetentionSettings {
	return &parlancev1.RetentionSettings{TranscriptDays: int32(r.TranscriptDays), AudioDays: int32(r.AudioDays)}
}

func (s *workspacesServer) DeleteWorkspace(ctx context.Context, req *parlancev1.DeleteWorkspaceRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.workspaces.DeleteWorkspace(ctx, workspaces.PrincipalFrom(ctx), req.GetWorkspaceId())
}

func tenantProto(t workspaces.Tenant, plan workspaces.Plan) *parlancev1.Tenant {
	return &parlancev1.Tenant{
		Id: string(t.ID), Name: t.Name, Plan: t.Plan, CreatedAt: timestamp(t.CreatedAt), Timezone: t.Timezone,
		StripeCustomerId: t.StripeCustomerID,
		Limits: &parlancev1.PlanLimits{
			KbStorageBytes: float64(plan.KBStorageBytes), KbUploadBytes: float64(plan.KBUploadBytes),
			ConcurrentSessions: uint32(max(plan.ConcurrentSessions, 0)), Tools: plan.Tools, Mcp: plan.MCP,
		},
	}
}

func workspaceProto(w workspaces.Workspace) *parlancev1.Workspace {
	return &parlancev1.Workspace{
		Id: string(w.ID), TenantId: string(w.TenantID), Name: w.Name, KbUsedBytes: float64(w.KBUsedBytes),
		CreatedAt: timestamp(w.CreatedAt), UpdatedAt: timestamp(w.UpdatedAt), Retention: retentionProto(w.Retention()),
	}
}
