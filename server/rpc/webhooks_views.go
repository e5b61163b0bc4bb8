package rpc

import (
	"context"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

func (s *webhooksServer) GetWebhookDelivery(
	ctx context.Context, req *parlancev1.GetWebhookDeliveryRequest,
) (*parlancev1.WebhookDelivery, error) {
	attempt, err := s.webhooks.Attempt(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), webhooks.AttemptID(req.GetDeliveryId()))
	return deliveryProto(ctx, attempt), err
}

func (s *webhooksServer) GetWebhookEndpointHealth(
	ctx context.Context, req *parlancev1.GetWebhookEndpointHealthRequest,
) (*parlancev1.WebhookEndpointHealth, error) {
	health, err := s.webhooks.Health(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()))
	return healthProto(health), err
}

func (s *webhooksServer) RecoverWebhookDeliveries(
	ctx context.Context, req *parlancev1.RecoverWebhookDeliveriesRequest,
) (*parlancev1.RecoverWebhookDeliveriesResponse, error) {
	done, err := s.webhooks.Recover(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), timeOf(req.GetSince()))
	return &parlancev1.RecoverWebhookDeliveriesResponse{Recovered: int32(done.Deliveries), More: done.More}, err
}

func (s *webhooksServer) ListEvents(ctx context.Context, req *parlancev1.ListEventsRequest) (*parlancev1.ListEventsResponse, error) {
	page, next, err := s.webhooks.Feed(ctx, refOf(ctx), feedParams(req))
	if err != nil {
		return nil, err
	}
	list, err := eventProtos(ctx, page)
	return &parlancev1.ListEventsResponse{Events: list, NextPageToken: next}, err
}

func (s *webhooksServer) WatchEvents(
	ctx context.Context, req *parlancev1.WatchEventsRequest,
	stream *connect.ServerStream[parlancev1.WatchEventsResponse],
) error {
	ref, err := s.access.Workspace(ctx, req.GetWorkspaceId())
	if err != nil {
		return err
	}
	params := watchParams(req)
	params.AllowedFunc = func(ctx context.Context) error {
		if err := workspaces.Standing(ctx); err != nil {
			return err
		}
		_, err := s.access.Workspace(ctx, req.GetWorkspaceId())
		return err
	}
	if req.GetAnnounce() {
		params.OpenedFunc = func(cursor string) error { return stream.Send(&parlancev1.WatchEventsResponse{Cursor: cursor}) }
	}
	return s.stopping.watch(ctx, func(ctx context.Context) error {
		return s.webhooks.Watch(ctx, ref, params, func(event webhooks.FeedEvent) error {
			converted, err := eventProto(ctx, event)
			if err != nil {
				return err
			}
			return stream.Send(&parlancev1.WatchEventsResponse{Event: converted, Type: converted.GetType(), Cursor: converted.GetCursor()})
		})
	})
}
