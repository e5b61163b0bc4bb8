package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/telephony/callbacks"
)

type callbacksServer struct {
	access    Access
	callbacks *callbacks.Service
}

// NewCallbacks serves CallbackService.
func NewCallbacks(access Access, service *callbacks.Service) parlancev1connect.CallbackServiceHandler {
	return &callbacksServer{access: access, callbacks: service}
}

func (s *callbacksServer) CreateCallback(ctx context.Context, req *parlancev1.CreateCallbackRequest) (*parlancev1.Callback, error) {
	callback, err := s.callbacks.Create(ctx, refOf(ctx), callbacks.CreateParams{
		AgentID: agents.ID(req.GetAgentId()), UserID: req.GetUserId(), PhoneNumber: req.GetPhoneNumber(), At: req.GetAt(),
		InMinutes: int(req.GetInMinutes()), Timezone: req.GetTimezone(), Reason: req.GetReason(), DynamicVariables: req.GetDynamicVariables(),
		IgnoreLimits: req.GetIgnoreLimits(), CreatedBy: callbacks.ByOperator,
	})
	return callbackProto(callback), err
}

func (s *callbacksServer) ListCallbacks(
	ctx context.Context, req *parlancev1.ListCallbacksRequest,
) (*parlancev1.ListCallbacksResponse, error) {
	list, next, err := s.callbacks.List(ctx, refOf(ctx), callbacks.ListParams{
		Page: pageParams(req), Status: callbacks.Status(req.GetStatus()), AgentID: req.GetAgentId(), UserID: req.GetUserId(),
		ScheduleID: req.GetScheduleId(), BatchID: req.GetBatchId(), From: timeOf(req.GetFrom()), Until: timeOf(req.GetUntil()),
	})
	return &parlancev1.ListCallbacksResponse{Callbacks: each(list, callbackProto), NextPageToken: next}, err
}

func (s *callbacksServer) GetCallbackCalendar(
	ctx context.Context, req *parlancev1.GetCallbackCalendarRequest,
) (*parlancev1.GetCallbackCalendarResponse, error) {
	span := callbacks.Span{From: timeOf(req.GetFrom()), Until: timeOf(req.GetUntil())}
	entries, truncated, err := s.callbacks.Calendar(ctx, refOf(ctx), span)
	return &parlancev1.GetCallbackCalendarResponse{Entries: each(entries, calendarEntryProto), Truncated: truncated}, err
}

func (s *callbacksServer) GetCallback(ctx context.Context, req *parlancev1.GetCallbackRequest) (*parlancev1.Callback, error) {
	callback, err := s.callbacks.Get(ctx, refOf(ctx), callbacks.ID(req.GetCallbackId()))
	return callbackProto(callback), err
}

func (s *callbacksServer) UpdateCallback(ctx context.Context, req *parlancev1.UpdateCallbackRequest) (*parlancev1.Callback, error) {
	mask := req.GetUpdateMask()
	callback, err := s.callbacks.Update(ctx, refOf(ctx), callbacks.ID(req.GetCallbackId()), callbacks.UpdateParams{
		At: changed(mask, "at", req.At), PhoneNumber: changed(mask, "phone_number", req.PhoneNumber),
		Timezone: changed(mask, "timezone", req.Timezone), Reason: changed(mask, "reason", req.Reason),
		IgnoreLimits: changed(mask, "ignore_limits", req.IgnoreLimits),
	})
	return callbackProto(callback), err
}

func (s *callbacksServer) CancelCallback(ctx context.Context, req *parlancev1.CancelCallbackRequest) (*parlancev1.Callback, error) {
	callback, err := s.callbacks.Cancel(ctx, refOf(ctx), callbacks.ID(req.GetCallbackId()), "")
	return callbackProto(callback), err
}

func (s *callbacksServer) CreateCallbackSchedule(
	ctx context.Context, req *parlancev1.CreateCallbackScheduleRequest,
) (*parlancev1.CallbackSchedule, error) {
	schedule, err := s.callbacks.CreateSchedule(ctx, refOf(ctx), newSchedule(req))
	return scheduleProto(schedule), err
}

func (s *callbacksServer) ListCallbackSchedules(
	ctx context.Context, req *parlancev1.ListCallbackSchedulesRequest,
) (*parlancev1.ListCallbackSchedulesResponse, error) {
	list, next, err := s.callbacks.ListSchedules(ctx, refOf(ctx), pageParams(req), req.GetAgentId(), req.GetUserId())
	return &parlancev1.ListCallbackSchedulesResponse{Schedules: each(list, scheduleProto), NextPageToken: next}, err
}

func (s *callbacksServer) GetCallbackSchedule(
	ctx context.Context, req *parlancev1.GetCallbackScheduleRequest,
) (*parlancev1.CallbackSchedule, error) {
	schedule, err := s.callbacks.GetSchedule(ctx, refOf(ctx), callbacks.ScheduleID(req.GetScheduleId()))
	return scheduleProto(schedule), err
}

func (s *callbacksServer) UpdateCallbackSchedule(
	ctx context.Context, req *parlancev1.UpdateCallbackScheduleRequest,
) (*parlancev1.CallbackSchedule, error) {
	schedule, err := s.callbacks.UpdateSchedule(ctx, refOf(ctx), callbacks.ScheduleID(req.GetScheduleId()), scheduleUpdate(req))
	return scheduleProto(schedule), err
}

func (s *callbacksServer) DeleteCallbackSchedule(
	ctx context.Context, req *parlancev1.DeleteCallbackScheduleRequest,
) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.callbacks.DeleteSchedule(ctx, refOf(ctx), callbacks.ScheduleID(req.GetScheduleId()))
}

func (s *callbacksServer) CreateCallbackBatch(
	ctx context.Context, req *parlancev1.CreateCallbackBatchRequest,
) (*parlancev1.CallbackBatch, error) {
	batch, err := s.callbacks.CreateBatch(ctx, refOf(ctx), callbacks.BatchParams{
		AgentID: agents.ID(req.GetAgentId()), Name: req.GetName(), Reason: req.GetReason(), StartsAt: timeOf(req.GetStartsAt()),
		WindowFrom: req.GetWindowFrom(), WindowUntil: req.GetWindowUntil(), Timezone: req.GetTimezone(), Concurrency: int(req.GetConcurrency()),
		Recipients: each(req.GetRecipients(), recipient),
	})
	return batchProto(batch), err
}

func (s *callbacksServer) ListCallbackBatches(
	ctx context.Context, req *parlancev1.ListCallbackBatchesRequest,
) (*parlancev1.ListCallbackBatchesResponse, error) {
	list, next, err := s.callbacks.ListBatches(ctx, refOf(ctx), pageParams(req))
	return &parlancev1.ListCallbackBatchesResponse{Batches: each(list, batchProto), NextPageToken: next}, err
}

func (s *callbacksServer) GetCallbackBatch(
	ctx context.Context, req *parlancev1.GetCallbackBatchRequest,
) (*parlancev1.CallbackBatch, error) {
	batch, err := s.callbacks.GetBatch(ctx, refOf(ctx), callbacks.BatchID(req.GetBatchId()))
	return batchProto(batch), err
}

func (s *callbacksServer) ControlCallbackBatch(
	ctx context.Context, req *parlancev1.ControlCallbackBatchRequest,
) (*parlancev1.CallbackBatch, error) {
	batch, err := s.callbacks.ControlBatch(ctx, refOf(ctx), callbacks.BatchID(req.GetBatchId()), req.GetAction())
	return batchProto(batch), err
}

func (s *callbacksServer) SetCallConsent(ctx context.Context, req *parlancev1.SetCallConsentRequest) (*parlancev1.CallConsent, error) {
	consent, err := s.callbacks.SetConsent(ctx, refOf(ctx), req.GetUserId(), req.GetGranted(), req.GetNote())
	return consentProto(consent), err
}

func (s *callbacksServer) GetCallConsent(ctx context.Context, req *parlancev1.GetCallConsentRequest) (*parlancev1.CallConsent, error) {
	consent, err := s.callbacks.Consent(ctx, refOf(ctx), req.GetUserId())
	return consentProto(consent), err
}
