package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

type agentsServer struct {
	access Access
	agents *agents.Service
}

// NewAgents serves AgentService.
func NewAgents(access Access, service *agents.Service) parlancev1connect.AgentServiceHandler {
	return &agentsServer{access: access, agents: service}
}

func (s *agentsServer) CreateAgent(ctx context.Context, req *parlancev1.CreateAgentRequest) (*parlancev1.Agent, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Create(ctx, ref, req.GetName(), newAgentConfig(req))
	return agentProto(agent), err
}

func (s *agentsServer) ListAgents(ctx context.Context, req *parlancev1.ListAgentsRequest) (*parlancev1.ListAgentsResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	list, next, err := s.agents.List(ctx, ref, pageParams(req))
	return &parlancev1.ListAgentsResponse{Agents: each(list, agentProto), NextPageToken: next}, err
}

func (s *agentsServer) GetAgent(ctx context.Context, req *parlancev1.GetAgentRequest) (*parlancev1.Agent, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Get(ctx, ref, agents.ID(req.GetAgentId()))
	return agentProto(agent), err
}

func (s *agentsServer) UpdateAgent(ctx context.Context, req *parlancev1.UpdateAgentRequest) (*parlancev1.Agent, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Update(ctx, ref, agents.ID(req.GetAgentId()), func(name *string, config *agents.Config) {
		applyAgentUpdate(req, name, config)
	})
	return agentProto(agent), err
}

func (s *agentsServer) DeleteAgent(ctx context.Context, req *parlancev1.DeleteAgentRequest) (*emptypb.Empty, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.agents.Delete(ctx, ref, agents.ID(req.GetAgentId()))
}

func (s *agentsServer) ListAgentVersions(
	ctx context.Context, req *parlancev1.ListAgentVersionsRequest,
) (*parlancev1.ListAgentVersionsResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	versions, next, err := s.agents.Versions(ctx, ref, agents.ID(req.GetAgentId()), pageParams(req))
	return &parlancev1.ListAgentVersionsResponse{Versions: each(versions, agentVersionProto), NextPageToken: next}, err
}

func (s *agentsServer) CompareAgentVersions(
	ctx context.Context, req *parlancev1.CompareAgentVersionsRequest,
) (*parlancev1.CompareAgentVersionsResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	changes, err := s.agents.Compare(ctx, ref, agents.ID(req.GetAgentId()), int(req.GetVersion()), int(req.GetAgainst()))
	return &parlancev1.CompareAgentVersionsResponse{Changes: each(changes, versionChangeProto)}, err
}

func (s *agentsServer) RollbackAgent(ctx context.Context, req *parlancev1.RollbackAgentRequest) (*parlancev1.Agent, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Rollback(ctx, ref, agents.ID(req.GetAgentId()), int(req.GetVersion()))
	return agentProto(agent), err
}
