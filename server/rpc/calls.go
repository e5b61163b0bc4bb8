package rpc

import (
	"context"
	"net/http"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/numbers"
)

type telephonyServer struct {
	phoneNumbersServer

	calls *telephony.Service
}

// NewTelephony serves TelephonyService.
func NewTelephony(calls *telephony.Service, service *numbers.Service) parlancev1connect.TelephonyServiceHandler {
	return &telephonyServer{phoneNumbersServer: phoneNumbersServer{numbers: service}, calls: calls}
}

func (s *telephonyServer) ListCalls(ctx context.Context, req *parlancev1.ListCallsRequest) (*parlancev1.ListCallsResponse, error) {
	list, next, err := s.calls.List(ctx, refOf(ctx), telephony.ListParams{
		Page: pageParams(req), Direction: telephony.Direction(req.GetDirection()), Status: telephony.Status(req.GetStatus()),
		AgentID: req.GetAgentId(), UserID: req.GetUserId(),
	})
	return &parlancev1.ListCallsResponse{Calls: each(list, callProto), NextPageToken: next}, err
}

func (s *telephonyServer) GetCall(ctx context.Context, req *parlancev1.GetCallRequest) (*parlancev1.PhoneCall, error) {
	call, err := s.calls.Get(ctx, refOf(ctx), telephony.ID(req.GetCallId()))
	return callProto(call), err
}

func (s *telephonyServer) HangUpCall(ctx context.Context, req *parlancev1.HangUpCallRequest) (*parlancev1.PhoneCall, error) {
	call, err := s.calls.HangUp(ctx, refOf(ctx), telephony.ID(req.GetCallId()))
	return callProto(call), err
}

func (s *telephonyServer) TransferCall(ctx context.Context, req *parlancev1.TransferCallRequest) (*parlancev1.PhoneCall, error) {
	call, err := s.calls.Transfer(ctx, refOf(ctx), telephony.ID(req.GetCallId()), telephony.TransferParams{
		To: req.GetTo(), Mode: req.GetMode(), Summary: req.GetSummary(),
	})
	return callProto(call), err
}

func callProto(c telephony.Call) *parlancev1.PhoneCall {
	converted := &parlancev1.PhoneCall{
		Id: string(c.ID), WorkspaceId: string(c.WorkspaceID), AgentId: string(c.AgentID), UserId: c.UserID, Direction: string(c.Direction),
		From: c.From, To: c.To, Status: string(c.Status), EndReason: c.EndReason, SessionId: string(c.SessionID),
		CallbackId: string(c.CallbackID), NumberId: string(c.NumberID), AnsweredBy: c.AnsweredBy, Carrier: c.Carrier,
		CarrierCallId: string(c.CarrierCallID), CreatedAt: timestamp(c.CreatedAt), AnsweredAt: timestamp(c.AnsweredAt),
		EndedAt: timestamp(c.EndedAt), DurationSeconds: int32(c.DurationSeconds), PstnMinutes: int32(c.PSTNMinutes),
	}
	if c.Transfer.Status != "" {
		converted.Transfer = &parlancev1.CallTransfer{
			Status: c.Transfer.Status, To: c.Transfer.To, Mode: c.Transfer.Mode, Summary: c.Transfer.Summary, EndReason: c.Transfer.Reason,
			RequestedAt: timestamp(c.Transfer.RequestedAt), ConnectedAt: timestamp(c.Transfer.ConnectedAt),
		}
	}
	return converted
}

// maxHookBytes bounds the body of a carrier's request. Twilio's have about 1 KiB.
const maxHookBytes = 64 << 10

// NewCarrierHooks serves the addresses that carriers call, below telephony.Path. They prove
// themselves by a signature.
func NewCarrierHooks(calls *telephony.Service, problems problem.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hook, known := telephony.ParsePath(r.URL.Path)
		if !known {
			problems.Write(w, r, errNoHook(r))
			return
		}
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			problems.Write(w, r, errHookMethod())
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxHookBytes)
		if err := r.ParseForm(); err != nil {
			problems.Write(w, r, errHookForm(err))
			return
		}
		hook.URI, hook.Header, hook.Form = r.URL.RequestURI(), r.Header, r.PostForm
		answer, err := calls.Receive(r.Context(), hook)
		if err != nil {
			problems.Write(w, r, err)
			return
		}
		w.Header().Set("Content-Type", answer.ContentType)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(answer.Body) // the carrier may be gone; it asks again
	})
}

func errNoHook(r *http.Request) error {
	return fault.New(fault.RouteNotFound, "No webhook of a carrier at %s.", r.URL.Path)
}

func errHookMethod() error {
	return fault.New(fault.MethodNotAllowedReason, "Carriers POST here.")
}

func errHookForm(err error) error {
	return fault.Wrap(err, fault.InvalidRequest, "The body must be a form of at most %d bytes.", maxHookBytes)
}

// NewLine serves the telephones of a simulated line to callers who may run conversations; nil when
// there are none.
func NewLine(phones http.Handler, admit AdmitFunc, problems problem.Writer) http.Handler {
	if phones == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := admit(r.Context(), parlancev1connect.TelephonyServiceHangUpCallProcedure, r.Header, w.Header()); err != nil {
			problems.Write(w, r, err)
			return
		}
		phones.ServeHTTP(w, r)
	})
}
