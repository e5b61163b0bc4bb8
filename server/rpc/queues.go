package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/insights"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/workspaces"
)

type queuesServer struct {
	insights *insights.Service
}

// NewQueues serves QueueService.
func NewQueues(service *insights.Service) parlancev1connect.QueueServiceHandler {
	return &queuesServer{insights: service}
}

func (s *queuesServer) GetBacklog(ctx context.Context, _ *parlancev1.GetBacklogRequest) (*parlancev1.Backlog, error) {
	kinds, err := s.insights.Backlog(ctx, workspaces.PrincipalFrom(ctx))
	return &parlancev1.Backlog{Kinds: each(kinds, backlogKindProto)}, err
}

func backlogKindProto(w insights.Work) *parlancev1.BacklogKind {
	return &parlancev1.BacklogKind{
		Kind: w.Kind, Waiting: int32(w.Waiting), Running: int32(w.Running), Retrying: int32(w.Retrying), Failed: int32(w.Failed),
		OldestAt: timestamp(w.OldestAt),
	}
}

func (s *queuesServer) ListQueues(ctx context.Context, _ *parlancev1.ListQueuesRequest) (*parlancev1.ListQueuesResponse, error) {
	all, err := s.insights.Queues(workspaces.PrincipalFrom(ctx))
	return &parlancev1.ListQueuesResponse{Queues: each(all.Queues, queueProto), Workers: each(all.Workers, workerProto)}, err
}

func queueProto(q queue.Info) *parlancev1.Queue {
	return &parlancev1.Queue{
		Name: string(q.Name), Pending: int32(q.Pending), Active: int32(q.Active), Scheduled: int32(q.Scheduled),
		Retrying: int32(q.Retrying), Archived: int32(q.Archived), ProcessedToday: int32(q.ProcessedToday), FailedToday: int32(q.FailedToday),
		LatencyMs: int32(q.Latency.Milliseconds()), Paused: q.Paused,
	}
}

func workerProto(p queue.Process) *parlancev1.Worker {
	return &parlancev1.Worker{
		Host: p.Host, Pid: int32(p.PID), StartedAt: timestamp(p.StartedAt), Concurrency: int32(p.Concurrency), Active: int32(p.Active),
		Queues: each(p.Queues, func(name queue.Name) string { return string(name) }),
	}
}
