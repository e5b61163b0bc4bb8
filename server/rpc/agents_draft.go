package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/workspaces"
)

func (s *agentsServer) GetAgentDraft(ctx context.Context, req *parlancev1.GetAgentDraftRequest) (*parlancev1.AgentDraft, error) {
	draft, err := s.agents.Draft(ctx, refOf(ctx), agents.ID(req.GetAgentId()))
	return agentDraftProto(draft), err
}

func (s *agentsServer) SaveAgentDraft(ctx context.Context, req *parlancev1.SaveAgentDraftRequest) (*parlancev1.AgentDraft, error) {
	draft, err := s.agents.SaveDraft(ctx, refOf(ctx), agents.ID(req.GetAgentId()), agents.SaveDraftParams{
		Name: req.GetAgent().GetName(), Config: newAgentConfig(req.GetAgent()), Revision: seenRevision(req.Revision),
		BaseVersion: int(req.GetBaseVersion()), By: workspaces.PrincipalFrom(ctx).CallerName(),
	})
	return agentDraftProto(draft), err
}

func (s *agentsServer) CompareAgentDraft(
	ctx context.Context, req *parlancev1.CompareAgentDraftRequest,
) (*parlancev1.CompareAgentVersionsResponse, error) {
	changes, err := s.agents.CompareDraft(ctx, refOf(ctx), agents.ID(req.GetAgentId()))
	return &parlancev1.CompareAgentVersionsResponse{Changes: each(changes, versionChangeProto)}, err
}

func (s *agentsServer) PublishAgentDraft(ctx context.Context, req *parlancev1.PublishAgentDraftRequest) (*parlancev1.Agent, error) {
	agent, err := s.agents.PublishDraft(ctx, refOf(ctx), agents.ID(req.GetAgentId()), agents.PublishParams{
		Revision: seenRevision(req.Revision), Overwrite: req.GetOverwrite(),
	})
	return agentProto(agent), err
}

func (s *agentsServer) DeleteAgentDraft(ctx context.Context, req *parlancev1.DeleteAgentDraftRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.agents.DeleteDraft(ctx, refOf(ctx), agents.ID(req.GetAgentId()))
}

// seenRevision is nil when the caller names none.
func seenRevision(of *int32) *int {
	if of == nil {
		return nil
	}
	revision := int(*of)
	return &revision
}

func agentDraftProto(d agents.Draft) *parlancev1.AgentDraft {
	return &parlancev1.AgentDraft{
		AgentId: string(d.AgentID), Agent: agentProto(d.Agent()), Revision: int32Of(d.Revision), UpdatedBy: d.UpdatedBy,
		CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt), Stale: d.Stale(),
	}
}

func agentWidget(w *parlancev1.AgentWidget) agents.Widget {
	return agents.Widget{AllowedOrigins: w.GetAllowedOrigins()}
}

func agentWidgetProto(w agents.Widget) *parlancev1.AgentWidget {
	return &parlancev1.AgentWidget{AllowedOrigins: w.AllowedOrigins}
}
