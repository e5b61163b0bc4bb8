package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/sessions/latency"
)

type agentsServer struct {
	agents  *agents.Service
	latency *latency.Service
}

// NewAgents serves AgentService.
func NewAgents(service *agents.Service, times *latency.Service) parlancev1connect.AgentServiceHandler {
	return &agentsServer{agents: service, latency: times}
}

func (s *agentsServer) CreateAgent(ctx context.Context, req *parlancev1.CreateAgentRequest) (*parlancev1.Agent, error) {
	agent, err := s.agents.Create(ctx, refOf(ctx), req.GetName(), newAgentConfig(req))
	return agentProto(agent), err
}

func (s *agentsServer) ListAgents(ctx context.Context, req *parlancev1.ListAgentsRequest) (*parlancev1.ListAgentsResponse, error) {
	list, next, err := s.agents.List(ctx, refOf(ctx), searchParams(req))
	return &parlancev1.ListAgentsResponse{Agents: each(list, agentProto), NextPageToken: next}, err
}

func (s *agentsServer) GetAgent(ctx context.Context, req *parlancev1.GetAgentRequest) (*parlancev1.Agent, error) {
	agent, err := s.agents.Get(ctx, refOf(ctx), agents.ID(req.GetAgentId()))
	return agentProto(agent), err
}

func (s *agentsServer) CheckGuards(ctx context.Context, req *parlancev1.CheckGuardsRequest) (*parlancev1.CheckGuardsResponse, error) {
	verdicts, err := s.agents.CheckGuards(ctx, refOf(ctx), agents.ID(req.GetAgentId()), req.GetText())
	answer := &parlancev1.CheckGuardsResponse{Verdicts: each(verdicts, guardVerdictProto)}
	if len(verdicts) > 0 {
		answer.Reply = verdicts[0].Reply
	}
	return answer, err
}

func guardVerdictProto(v agents.GuardVerdict) *parlancev1.GuardVerdict {
	return &parlancev1.GuardVerdict{
		Guard: v.Name, Action: v.Action, Matched: v.Matched, MatchedBy: v.MatchedBy, Similarity: v.Similarity,
	}
}

func (s *agentsServer) UpdateAgent(ctx context.Context, req *parlancev1.UpdateAgentRequest) (*parlancev1.Agent, error) {
	expected, err := expectedVersions(ctx)
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Update(ctx, refOf(ctx), agents.ID(req.GetAgentId()), func(name *string, config *agents.Config) {
		applyAgentUpdate(req, name, config)
	}, expected...)
	return agentProto(agent), err
}

func (s *agentsServer) DeleteAgent(ctx context.Context, req *parlancev1.DeleteAgentRequest) (*emptypb.Empty, error) {
	expected, err := expectedVersions(ctx)
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.agents.Delete(ctx, refOf(ctx), agents.ID(req.GetAgentId()), expected...)
}

func (s *agentsServer) ListAgentVersions(
	ctx context.Context, req *parlancev1.ListAgentVersionsRequest,
) (*parlancev1.ListAgentVersionsResponse, error) {
	versions, next, err := s.agents.Versions(ctx, refOf(ctx), agents.ID(req.GetAgentId()), pageParams(req))
	return &parlancev1.ListAgentVersionsResponse{Versions: each(versions, agentVersionProto), NextPageToken: next}, err
}

func (s *agentsServer) CompareAgentVersions(
	ctx context.Context, req *parlancev1.CompareAgentVersionsRequest,
) (*parlancev1.CompareAgentVersionsResponse, error) {
	changes, err := s.agents.Compare(ctx, refOf(ctx), agents.ID(req.GetAgentId()), int(req.GetVersion()), int(req.GetAgainst()))
	return &parlancev1.CompareAgentVersionsResponse{Changes: each(changes, versionChangeProto)}, err
}

func (s *agentsServer) GetAgentLatency(
	ctx context.Context, req *parlancev1.GetAgentLatencyRequest,
) (*parlancev1.AgentLatency, error) {
	found, err := s.latency.Of(ctx, refOf(ctx), latency.Params{
		AgentID: agents.ID(req.GetAgentId()), Since: timeOf(req.GetSince()), Until: timeOf(req.GetUntil()),
		Version: int(req.GetAgentVersion()),
	})
	return &parlancev1.AgentLatency{Answers: int32Of(found.Answers), Stages: each(found.Stages, latencyStageProto)}, err
}

func latencyStageProto(s latency.Stage) *parlancev1.LatencyStage {
	return &parlancev1.LatencyStage{
		Stage: s.Name, Answers: int32Of(s.Answers), MinMs: int32Of(s.MinMS), P50Ms: int32Of(s.P50MS), P90Ms: int32Of(s.P90MS),
		P95Ms: int32Of(s.P95MS), P99Ms: int32Of(s.P99MS), MaxMs: int32Of(s.MaxMS),
	}
}

func (s *agentsServer) RollbackAgent(ctx context.Context, req *parlancev1.RollbackAgentRequest) (*parlancev1.Agent, error) {
	expected, err := expectedVersions(ctx)
	if err != nil {
		return nil, err
	}
	agent, err := s.agents.Rollback(ctx, refOf(ctx), agents.ID(req.GetAgentId()), int(req.GetVersion()), expected...)
	return agentProto(agent), err
}
