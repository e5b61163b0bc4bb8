package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/tools"
)

type toolsServer struct {
	tools *tools.Service
}

// NewTools serves ToolService.
func NewTools(service *tools.Service) parlancev1connect.ToolServiceHandler {
	return &toolsServer{tools: service}
}

func (s *toolsServer) CreateTool(ctx context.Context, req *parlancev1.CreateToolRequest) (*parlancev1.Tool, error) {
	tool, err := s.tools.Create(ctx, refOf(ctx), createToolParams(req))
	return toolProto(tool), err
}

func (s *toolsServer) ListTools(ctx context.Context, req *parlancev1.ListToolsRequest) (*parlancev1.ListToolsResponse, error) {
	list, next, err := s.tools.List(ctx, refOf(ctx), tools.ListParams{PageParams: searchParams(req), IncludeHidden: req.GetIncludeHidden()})
	return &parlancev1.ListToolsResponse{Tools: each(list, toolProto), NextPageToken: next}, err
}

func (s *toolsServer) GetTool(ctx context.Context, req *parlancev1.GetToolRequest) (*parlancev1.Tool, error) {
	tool, err := s.tools.Get(ctx, refOf(ctx), tools.ID(req.GetToolId()))
	return toolProto(tool), err
}

func (s *toolsServer) UpdateTool(ctx context.Context, req *parlancev1.UpdateToolRequest) (*parlancev1.Tool, error) {
	tool, err := s.tools.Update(ctx, refOf(ctx), tools.ID(req.GetToolId()), updateToolParams(req))
	return toolProto(tool), err
}

func (s *toolsServer) DeleteTool(ctx context.Context, req *parlancev1.DeleteToolRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.tools.Delete(ctx, refOf(ctx), tools.ID(req.GetToolId()))
}

func (s *toolsServer) RunTool(ctx context.Context, req *parlancev1.RunToolRequest) (*parlancev1.RunToolResponse, error) {
	outcome, err := s.tools.Run(ctx, refOf(ctx), tools.RunParams{
		ToolID: tools.ID(req.GetToolId()), Arguments: exactOf(req.GetArgsJson(), req.GetArgs()), DynamicVariables: req.GetDynamicVariables(),
		RemoteTool: req.GetRemoteTool(),
	})
	return toolRunProto(outcome), err
}

func (s *toolsServer) ListToolCalls(ctx context.Context, req *parlancev1.ListToolCallsRequest) (*parlancev1.ListToolCallsResponse, error) {
	list, next, err := s.tools.ListCalls(ctx, refOf(ctx), callFilter(req, req.GetSessionId(), req.GetAgentId()), pageParams(req))
	return &parlancev1.ListToolCallsResponse{ToolCalls: each(list, toolCallProto), NextPageToken: next}, err
}

func (s *toolsServer) ListWorkspaceToolCalls(
	ctx context.Context, req *parlancev1.ListWorkspaceToolCallsRequest,
) (*parlancev1.ListWorkspaceToolCallsResponse, error) {
	list, next, err := s.tools.ListAllCalls(ctx, refOf(ctx), callFilter(req, req.GetSessionId(), req.GetAgentId()), pageParams(req))
	return &parlancev1.ListWorkspaceToolCallsResponse{ToolCalls: each(list, toolCallProto), NextPageToken: next}, err
}

func (s *toolsServer) AttachTool(ctx context.Context, req *parlancev1.AttachToolRequest) (*parlancev1.ToolAttachment, error) {
	attachment, err := s.tools.Attach(ctx, refOf(ctx), attachToolParams(req))
	return toolAttachmentProto(attachment), err
}

func (s *toolsServer) DetachTool(ctx context.Context, req *parlancev1.DetachToolRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.tools.Detach(ctx, refOf(ctx), agents.ID(req.GetAgentId()), tools.ID(req.GetToolId()))
}

func (s *toolsServer) ListAgentTools(
	ctx context.Context, req *parlancev1.ListAgentToolsRequest,
) (*parlancev1.ListAgentToolsResponse, error) {
	registry, next, err := s.tools.PageOfAgentTools(ctx, refOf(ctx), agents.ID(req.GetAgentId()), pageParams(req))
	return &parlancev1.ListAgentToolsResponse{Tools: each(registry, agentToolProto), NextPageToken: next}, err
}

func (s *toolsServer) UpdateToolsConfig(ctx context.Context, req *parlancev1.UpdateToolsConfigRequest) (*parlancev1.ToolsConfig, error) {
	ref := refOf(ctx)
	id := agents.ID(req.GetAgentId())
	expected, err := expectedVersions(ctx)
	if err != nil {
		return nil, err
	}
	const present = true // without a mask an empty list clears: the request has no other field
	if !sent(req.GetUpdateMask(), "disabled_tools", present) {
		config, err := s.tools.AgentConfig(ctx, ref, id)
		return toolsConfigProto(config.DisabledTools, config), err
	}
	config, err := s.tools.UpdateConfig(ctx, ref, id, req.GetDisabledTools(), expected...)
	return toolsConfigProto(config.DisabledTools, config), err
}
