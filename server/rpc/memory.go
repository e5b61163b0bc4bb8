package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/memory"
)

type memoryServer struct {
	memory *memory.Service
}

// NewMemory serves MemoryService.
func NewMemory(service *memory.Service) parlancev1connect.MemoryServiceHandler {
	return &memoryServer{memory: service}
}

func (s *memoryServer) ListUsers(ctx context.Context, req *parlancev1.ListUsersRequest) (*parlancev1.ListUsersResponse, error) {
	ref := refOf(ctx)
	users, next, err := s.memory.Users(ctx, ref, req.GetPrefix(), pageParams(req))
	return &parlancev1.ListUsersResponse{
		Users:         each(users, func(u memory.User) *parlancev1.User { return userProto(ref, u) }),
		NextPageToken: next,
	}, err
}

func (s *memoryServer) GetUser(ctx context.Context, req *parlancev1.GetUserRequest) (*parlancev1.User, error) {
	ref := refOf(ctx)
	user, err := s.memory.User(ctx, ref, req.GetUserId())
	return userProto(ref, user), err
}

func (s *memoryServer) ListMemories(ctx context.Context, req *parlancev1.ListMemoriesRequest) (*parlancev1.ListMemoriesResponse, error) {
	items, next, err := s.memory.List(ctx, refOf(ctx), memory.ListParams{
		Page: pageParams(req), UserID: req.GetUserId(), Kind: memory.Kind(req.GetKind()), Category: req.GetCategory(),
		Query: req.GetQ(), Status: memory.Status(req.GetStatus()),
	})
	return &parlancev1.ListMemoriesResponse{Memories: each(items, memoryProto), NextPageToken: next}, err
}

func (s *memoryServer) SearchMemories(
	ctx context.Context, req *parlancev1.SearchMemoriesRequest,
) (*parlancev1.SearchMemoriesResponse, error) {
	found, err := s.memory.Search(ctx, refOf(ctx), req.GetUserId(), req.GetQuery(), int(req.GetTopK()))
	return &parlancev1.SearchMemoriesResponse{Results: each(found, foundMemoryProto)}, err
}

func (s *memoryServer) GetMemory(ctx context.Context, req *parlancev1.GetMemoryRequest) (*parlancev1.Memory, error) {
	item, err := s.memory.Get(ctx, refOf(ctx), req.GetUserId(), memory.ID(req.GetMemoryId()))
	return memoryProto(item), err
}

func (s *memoryServer) AddMemory(ctx context.Context, req *parlancev1.AddMemoryRequest) (*parlancev1.Memory, error) {
	kept, err := s.memory.Add(ctx, refOf(ctx), addMemoryParams(req))
	return memoryProto(kept.Item), err
}

func (s *memoryServer) UpdateMemory(ctx context.Context, req *parlancev1.UpdateMemoryRequest) (*parlancev1.Memory, error) {
	item, err := s.memory.Update(ctx, refOf(ctx), req.GetUserId(), memory.ID(req.GetMemoryId()), updateMemoryParams(req))
	return memoryProto(item), err
}

func (s *memoryServer) ApproveMemory(ctx context.Context, req *parlancev1.ApproveMemoryRequest) (*parlancev1.Memory, error) {
	item, err := s.memory.Approve(ctx, refOf(ctx), req.GetUserId(), memory.ID(req.GetMemoryId()))
	return memoryProto(item), err
}

func (s *memoryServer) DeleteMemory(ctx context.Context, req *parlancev1.DeleteMemoryRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.memory.Remove(ctx, refOf(ctx), req.GetUserId(), memory.ID(req.GetMemoryId()))
}

func (s *memoryServer) DeleteMemories(
	ctx context.Context, req *parlancev1.DeleteMemoriesRequest,
) (*parlancev1.DeleteMemoriesResponse, error) {
	count, err := s.memory.DeleteAll(ctx, refOf(ctx), req.GetUserId())
	return &parlancev1.DeleteMemoriesResponse{Deleted: int32(count)}, err
}
