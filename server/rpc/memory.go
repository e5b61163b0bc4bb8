package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/memory"
)

type memoryServer struct {
	access Access
	memory *memory.Service
}

// NewMemory serves MemoryService.
func NewMemory(access Access, service *memory.Service) parlancev1connect.MemoryServiceHandler {
	return &memoryServer{access: access, memory: service}
}

func (s *memoryServer) ListUsers(ctx context.Context, req *parlancev1.ListUsersRequest) (*parlancev1.ListUsersResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	users, next, err := s.memory.Users(ctx, ref, req.GetPrefix(), pageParams(req))
	return &parlancev1.ListUsersResponse{
		Users:         each(users, func(u memory.User) *parlancev1.User { return userProto(ref, u) }),
		NextPageToken: next,
	}, err
}

func (s *memoryServer) GetUser(ctx context.Context, req *parlancev1.GetUserRequest) (*parlancev1.User, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	user, err := s.memory.User(ctx, ref, req.GetUserId())
	return userProto(ref, user), err
}

func (s *memoryServer) ListMemories(ctx context.Context, req *parlancev1.ListMemoriesRequest) (*parlancev1.ListMemoriesResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	items, next, err := s.memory.List(ctx, ref, memory.ListParams{
		Page: pageParams(req), UserID: req.GetUserId(), Kind: memory.Kind(req.GetKind()), Category: req.GetCategory(),
		Query: req.GetQ(), Status: memory.Status(req.GetStatus()),
	})
	return &parlancev1.ListMemoriesResponse{Memories: each(items, memoryProto), NextPageToken: next}, err
}

func (s *memoryServer) SearchMemories(
	ctx context.Context, req *parlancev1.SearchMemoriesRequest,
) (*parlancev1.SearchMemoriesResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	found, err := s.memory.Search(ctx, ref, req.GetUserId(), req.GetQuery(), int(req.GetTopK()))
	return &parlancev1.SearchMemoriesResponse{Results: each(found, foundMemoryProto)}, err
}

func (s *memoryServer) GetMemory(ctx context.Context, req *parlancev1.GetMemoryRequest) (*parlancev1.Memory, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	item, err := s.memory.Get(ctx, ref, req.GetUserId(), memory.ID(req.GetMemoryId()))
	return memoryProto(item), err
}

func (s *memoryServer) AddMemory(ctx context.Context, req *parlancev1.AddMemoryRequest) (*parlancev1.Memory, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	kept, err := s.memory.Add(ctx, ref, addMemoryParams(req))
	return memoryProto(kept.Item), err
}

func (s *memoryServer) UpdateMemory(ctx context.Context, req *parlancev1.UpdateMemoryRequest) (*parlancev1.Memory, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	item, err := s.memory.Update(ctx, ref, req.GetUserId(), memory.ID(req.GetMemoryId()), updateMemoryParams(req))
	return memoryProto(item), err
}

func (s *memoryServer) ApproveMemory(ctx context.Context, req *parlancev1.ApproveMemoryRequest) (*parlancev1.Memory, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	item, err := s.memory.Approve(ctx, ref, req.GetUserId(), memory.ID(req.GetMemoryId()))
	return memoryProto(item), err
}

func (s *memoryServer) DeleteMemory(ctx context.Context, req *parlancev1.DeleteMemoryRequest) (*emptypb.Empty, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.memory.Remove(ctx, ref, req.GetUserId(), memory.ID(req.GetMemoryId()))
}

func (s *memoryServer) DeleteMemories(
	ctx context.Context, req *parlancev1.DeleteMemoriesRequest,
) (*parlancev1.DeleteMemoriesResponse, error) {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return nil, err
	}
	count, err := s.memory.DeleteAll(ctx, ref, req.GetUserId())
	return &parlancev1.DeleteMemoriesResponse{Deleted: int32(count)}, err
}
