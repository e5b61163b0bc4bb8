package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/webhooks"
)

type webhooksServer struct {
	access   Access
	webhooks *webhooks.Service
	stopping Stopping
}

// NewWebhooks serves WebhookService.
func NewWebhooks(access Access, service *webhooks.Service, stopping Stopping) parlancev1connect.WebhookServiceHandler {
	return &webhooksServer{access: access, webhooks: service, stopping: stopping}
}

func (s *webhooksServer) CreateWebhookEndpoint(
	ctx context.Context, req *parlancev1.CreateWebhookEndpointRequest,
) (*parlancev1.WebhookEndpoint, error) {
	minted, err := s.webhooks.Create(ctx, refOf(ctx), endpointParams(req))
	return s.mintedEndpointProto(minted), err
}

func (s *webhooksServer) ListWebhookEndpoints(
	ctx context.Context, req *parlancev1.ListWebhookEndpointsRequest,
) (*parlancev1.ListWebhookEndpointsResponse, error) {
	list, next, err := s.webhooks.List(ctx, refOf(ctx), pageParams(req))
	return &parlancev1.ListWebhookEndpointsResponse{Endpoints: each(list, s.endpointProto), NextPageToken: next}, err
}

func (s *webhooksServer) GetWebhookEndpoint(
	ctx context.Context, req *parlancev1.GetWebhookEndpointRequest,
) (*parlancev1.WebhookEndpoint, error) {
	endpoint, err := s.webhooks.Get(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()))
	return s.endpointProto(endpoint), err
}

func (s *webhooksServer) UpdateWebhookEndpoint(
	ctx context.Context, req *parlancev1.UpdateWebhookEndpointRequest,
) (*parlancev1.WebhookEndpoint, error) {
	endpoint, err := s.webhooks.Update(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), endpointUpdate(req))
	return s.endpointProto(endpoint), err
}

func (s *webhooksServer) DeleteWebhookEndpoint(ctx context.Context, req *parlancev1.DeleteWebhookEndpointRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.webhooks.Delete(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()))
}

func (s *webhooksServer) EnableWebhookEndpoint(
	ctx context.Context, req *parlancev1.EnableWebhookEndpointRequest,
) (*parlancev1.WebhookEndpoint, error) {
	enabled, err := s.webhooks.Enable(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), timeOf(req.GetSince()))
	return s.enabledEndpointProto(enabled), err
}

func (s *webhooksServer) RotateWebhookSecret(
	ctx context.Context, req *parlancev1.RotateWebhookSecretRequest,
) (*parlancev1.WebhookEndpoint, error) {
	minted, err := s.webhooks.RotateSecret(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()))
	return s.mintedEndpointProto(minted), err
}

func (s *webhooksServer) TestWebhookEndpoint(
	ctx context.Context, req *parlancev1.TestWebhookEndpointRequest,
) (*parlancev1.WebhookDelivery, error) {
	attempt, err := s.webhooks.Test(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), req.GetEvent())
	return deliveryProto(ctx, attempt), err
}

func (s *webhooksServer) ListWebhookDeliveries(
	ctx context.Context, req *parlancev1.ListWebhookDeliveriesRequest,
) (*parlancev1.ListWebhookDeliveriesResponse, error) {
	params, err := deliveriesPage(req)
	if err != nil {
		return nil, err
	}
	list, next, err := s.webhooks.Deliveries(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), attemptFilter(req), params)
	return &parlancev1.ListWebhookDeliveriesResponse{
		Deliveries:    each(list, func(a webhooks.Attempt) *parlancev1.WebhookDelivery { return deliveryProto(ctx, a) }),
		NextPageToken: next,
	}, err
}

func (s *webhooksServer) RedeliverWebhook(
	ctx context.Context, req *parlancev1.RedeliverWebhookRequest,
) (*parlancev1.WebhookDelivery, error) {
	attempt, err := s.webhooks.Redeliver(ctx, refOf(ctx), webhooks.EndpointID(req.GetEndpointId()), webhooks.AttemptID(req.GetDeliveryId()))
	return deliveryProto(ctx, attempt), err
}
