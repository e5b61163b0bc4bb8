package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

func endpointParams(req *parlancev1.CreateWebhookEndpointRequest) webhooks.CreateParams {
	return webhooks.CreateParams{
		URL: req.GetUrl(), Events: req.GetEvents(), Description: req.GetDescription(),
		Headers: req.GetHeaders(), AgentIDs: req.GetAgentIds(), Ordered: req.GetOrdered(),
		MaxPerSecond: int(req.GetMaxPerSecond()), MaxInFlight: int(req.GetMaxInFlight()),
	}
}

// endpointUpdate returns the fields sent; a field sent without a value is cleared.
func endpointUpdate(req *parlancev1.UpdateWebhookEndpointRequest) webhooks.UpdateParams {
	mask := req.GetUpdateMask()
	return webhooks.UpdateParams{
		URL: changed(mask, "url", req.Url), Events: changedList(mask, "events", req.GetEvents()),
		Description:  changed(mask, "description", req.Description),
		Headers:      changedList(mask, "headers", req.GetHeaders()),
		AgentIDs:     changedList(mask, "agent_ids", req.GetAgentIds()),
		Ordered:      changed(mask, "ordered", req.Ordered),
		MaxPerSecond: intOf(changed(mask, "max_per_second", req.MaxPerSecond)),
		MaxInFlight:  intOf(changed(mask, "max_in_flight", req.MaxInFlight)),
		Status:       (*webhooks.Status)(changed(mask, "status", req.Status)),
	}
}

// deliveriesPage checks limit, which unlike page_size may not be 0.
func deliveriesPage(req *parlancev1.ListWebhookDeliveriesRequest) (postgres.PageParams, error) {
	params := postgres.PageParams{Token: req.GetPageToken()}
	if req.Limit == nil {
		return params, nil
	}
	if req.GetLimit() < 1 || req.GetLimit() > postgres.MaxPageSize {
		return params, fault.InvalidField("limit", "out_of_range", "limit must be from 1 to %d.", postgres.MaxPageSize)
	}
	params.Size = int(req.GetLimit())
	return params, nil
}

// feedParams uses the page token before after, which says where reading began.
func feedParams(req *parlancev1.ListEventsRequest) webhooks.FeedParams {
	after := req.GetPageToken()
	if after == "" {
		after = req.GetAfter()
	}
	return webhooks.FeedParams{After: after, Events: req.GetEvents(), Size: int(req.GetPageSize())}
}

// watchParams uses last_event_id before after: a stream that broke continues where it was.
func watchParams(req *parlancev1.WatchEventsRequest) webhooks.FeedParams {
	return webhooks.FeedParams{After: cmp.Or(req.GetLastEventId(), req.GetAfter()), Events: req.GetEvents(), Size: postgres.MaxPageSize}
}

func attemptFilter(req *parlancev1.ListWebhookDeliveriesRequest) webhooks.AttemptFilter {
	return webhooks.AttemptFilter{
		Status: webhooks.AttemptStatus(req.GetStatus()), Event: events.Type(req.GetEvent()), EventID: req.GetEventId(),
		StartedAfter: timeOf(req.GetStartedAfter()), StartedBefore: timeOf(req.GetStartedBefore()), OmitBodies: req.GetOmitBodies(),
	}
}

func (s *webhooksServer) endpointProto(e webhooks.Endpoint) *parlancev1.WebhookEndpoint {
	outlook := s.webhooks.Outlook(e)
	return &parlancev1.WebhookEndpoint{
		Id: string(e.ID), Url: e.URL, Events: each(e.Events, func(t events.Type) string { return string(t) }),
		Description: e.Description, Status: string(e.Status), DisabledReason: e.DisabledReason,
		ConsecutiveFailures: int32(e.ConsecutiveFailures),
		LastSuccessAt:       timestamp(e.LastSuccessAt), LastFailureAt: timestamp(e.LastFailureAt),
		CreatedAt: timestamp(e.CreatedAt), UpdatedAt: timestamp(e.UpdatedAt), SecretHint: e.SecretHint,
		DisableProgress: outlook.Progress, Health: string(outlook.State),
		HeaderNames: e.HeaderNames, AgentIds: e.AgentIDs, Ordered: e.Ordered,
		MaxPerSecond: int32(e.MaxPerSecond), MaxInFlight: int32(e.MaxInFlight),
	}
}

// enabledEndpointProto adds how many deliveries were requeued, if that was asked for.
func (s *webhooksServer) enabledEndpointProto(e webhooks.EnabledEndpoint) *parlancev1.WebhookEndpoint {
	endpoint := s.endpointProto(e.Endpoint)
	if e.Replayed {
		endpoint.Requeued = new(int32(e.Requeued))
	}
	return endpoint
}

// mintedEndpointProto is the only answer that contains the secret.
func (s *webhooksServer) mintedEndpointProto(m webhooks.MintedEndpoint) *parlancev1.WebhookEndpoint {
	endpoint := s.endpointProto(m.Endpoint)
	endpoint.Secret = new(m.Secret.Reveal())
	return endpoint
}

func healthProto(h webhooks.Health) *parlancev1.WebhookEndpointHealth {
	out := &parlancev1.WebhookEndpointHealth{
		EndpointId: string(h.Endpoint.ID), Health: string(h.State), WindowStart: timestamp(h.Since),
		Attempts: int32(h.Attempts), Succeeded: int32(h.Succeeded), Pending: int32(h.Pending), FailedEvents: int32(h.Failed),
		ConsecutiveFailures: int32(h.Endpoint.ConsecutiveFailures), DisableFailures: int32(h.DisableFailures),
		DisableNotBefore: timestamp(h.NotBefore), DisableProgress: h.Progress,
	}
	if h.Attempts > 0 {
		out.SuccessRate = new(float64(h.Succeeded) / float64(h.Attempts))
		out.P50LatencyMs, out.P95LatencyMs = new(h.P50MS), new(h.P95MS)
	}
	return out
}

func deliveryProto(ctx context.Context, a webhooks.Attempt) *parlancev1.WebhookDelivery {
	return &parlancev1.WebhookDelivery{
		Id: string(a.ID), EndpointId: string(a.EndpointID), EventId: a.EventID, Event: string(a.EventType),
		Attempt: int32(a.Number), Status: string(a.Status), StatusCode: int32(a.StatusCode), Error: a.Error,
		RequestHeaders: a.RequestHeaders, RequestBody: string(bodyFor(ctx, a.EventType, a.RequestBody)),
		ResponseHeaders: a.ResponseHeaders, ResponseBody: a.ResponseBody,
		StartedAt: timestamp(a.StartedAt), DurationMs: int32(a.DurationMS),
		NextAttemptAt: timestamp(a.NextAttemptAt),
	}
}

func eventProtos(ctx context.Context, page []webhooks.FeedEvent) ([]*parlancev1.Event, error) {
	list := make([]*parlancev1.Event, len(page))
	for i, event := range page {
		converted, err := eventProto(ctx, event)
		if err != nil {
			return nil, err
		}
		list[i] = converted
	}
	return list, nil
}

// downloadURL is the link in the body of dsar.ready.
var downloadURL = regexp.MustCompile(`"download_url":\s*"[^"]*"`)

// bodyFor returns the body of an event as a caller may see it: the link of an export, which is read
// without a key, is for callers who may ask for exports.
func bodyFor(ctx context.Context, of events.Type, body []byte) []byte {
	if of != events.DSARReady || workspaces.PrincipalFrom(ctx).Require(workspaces.ScopeOperator) == nil {
		return body
	}
	return downloadURL.ReplaceAll(body, []byte(`"download_url":""`))
}

// eventProto takes data from the body that endpoints get.
func eventProto(ctx context.Context, e webhooks.FeedEvent) (*parlancev1.Event, error) {
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(bodyFor(ctx, e.Type, e.Body), &body); err != nil {
		return nil, fmt.Errorf("read the body of event %s: %w", e.EventID, err)
	}
	data := new(structpb.Struct)
	if err := protojson.Unmarshal(body.Data, data); err != nil {
		return nil, fmt.Errorf("read the data of event %s: %w", e.EventID, err)
	}
	event := &parlancev1.Event{
		Type: string(e.Type), EventId: e.EventID, TenantId: e.TenantID, WorkspaceId: e.WorkspaceID,
		CreatedAt: timestamp(e.CreatedAt), Data: data, DataJson: textOf(body.Data), Cursor: e.Cursor,
	}
	return event, setPayload(event, e.Type, body.Data)
}

// setPayload sets the member of the oneof that has the message of the event's type.
func setPayload(event *parlancev1.Event, of events.Type, data json.RawMessage) error {
	payload, err := events.ReadPayload(of, data)
	if payload == nil || err != nil {
		return err
	}
	message := event.ProtoReflect()
	members := message.Descriptor().Oneofs().ByName("payload").Fields()
	for i := range members.Len() {
		if members.Get(i).Message() == payload.ProtoReflect().Descriptor() {
			message.Set(members.Get(i), protoreflect.ValueOfMessage(payload.ProtoReflect()))
		}
	}
	return nil
}
