package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/analysis"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/recordings"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/turns/requests"
	"parlance.dev/parlance/workspaces"
)

// Conversations are the rooms that SessionService is served from.
type Conversations struct {
	Sessions *sessions.Service
	Turns    *turns.Service
	Requests *requests.Service
	Analysis *analysis.Service
	// Tools have the traces of tool calls.
	Tools *tools.Service
	// Privacy deletes sessions.
	Privacy *privacy.Service
	// Handover hands sessions over to people.
	Handover *handover.Service
	// Recordings are those of voice sessions.
	Recordings *recordings.Service
	// Currency is that of the prices of models; empty without prices.
	Currency string
}

type sessionsServer struct{ Conversations }

// NewSessions serves SessionService.
func NewSessions(c Conversations) parlancev1connect.SessionServiceHandler {
	return &sessionsServer{c}
}

func (s *sessionsServer) CreateSession(
	ctx context.Context, req *parlancev1.CreateSessionRequest,
) (*parlancev1.CreateSessionResponse, error) {
	params := createSessionParams(req)
	params.BaseURL = interceptor.BaseURL(ctx)
	created, err := s.Sessions.Create(ctx, workspaces.PrincipalFrom(ctx), params)
	return createdSessionProto(created), err
}

func (s *sessionsServer) ListSessions(ctx context.Context, req *parlancev1.ListSessionsRequest) (*parlancev1.ListSessionsResponse, error) {
	list, next, err := s.Sessions.List(ctx, workspaces.PrincipalFrom(ctx), sessions.ListParams{
		Page: pageParams(req), WorkspaceID: workspaces.ID(req.GetWorkspaceId()), AgentID: agents.ID(req.GetAgentId()),
		UserID: req.GetUserId(), Status: sessions.Status(req.GetStatus()),
		Modality: sessions.Modality(req.GetModality()), EndReason: req.GetEndReason(), Handover: sessions.HandoverStatus(req.GetHandover()),
		CreatedAfter: timeOf(req.GetCreatedAfter()), CreatedBefore: timeOf(req.GetCreatedBefore()),
	})
	if err != nil {
		return nil, err
	}
	analyses, err := s.Analysis.Analyses(ctx, list...)
	if err != nil {
		return nil, err
	}
	recorded, err := s.Recordings.Views(ctx, list...)
	if err != nil {
		return nil, err
	}
	if list, err = s.Handover.Opened(ctx, list); err != nil {
		return nil, err
	}
	shown := each(list, func(one sessions.Session) *parlancev1.Session {
		return s.sessionProto(ctx, one, analyses[one.ID], recorded[one.ID])
	})
	return &parlancev1.ListSessionsResponse{Sessions: shown, NextPageToken: next}, nil
}

func (s *sessionsServer) GetSession(ctx context.Context, req *parlancev1.GetSessionRequest) (*parlancev1.Session, error) {
	session, err := s.Sessions.Get(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()))
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, session)
}

// shown returns a session with the results of its analysis and its recording.
func (s *sessionsServer) shown(ctx context.Context, session sessions.Session) (*parlancev1.Session, error) {
	analyses, err := s.Analysis.Analyses(ctx, session)
	if err != nil {
		return nil, err
	}
	recorded, err := s.Recordings.View(ctx, session)
	if err != nil {
		return nil, err
	}
	opened, err := s.Handover.Opened(ctx, []sessions.Session{session})
	if err != nil {
		return nil, err
	}
	return s.sessionProto(ctx, opened[0], analyses[session.ID], recorded), nil
}

func (s *sessionsServer) DeleteSession(ctx context.Context, req *parlancev1.DeleteSessionRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.Privacy.DeleteSession(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()))
}

func (s *sessionsServer) EndSession(ctx context.Context, req *parlancev1.EndSessionRequest) (*parlancev1.Session, error) {
	session, err := s.Sessions.End(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()),
		sessions.EndParams{Status: sessions.Status(req.GetStatus()), Reason: req.GetReason()})
	if err != nil {
		return nil, err
	}
	if workspaces.PrincipalFrom(ctx).SessionID != "" {
		return endedProto(session), nil
	}
	return s.shown(ctx, session)
}

func (s *sessionsServer) CreateTurn(ctx context.Context, req *parlancev1.CreateTurnRequest) (*parlancev1.CreateTurnResponse, error) {
	turn, err := s.Requests.Say(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), turnParams(req), nil)
	return answeredTurnProto(turn), err
}

func (s *sessionsServer) StreamTurn(
	ctx context.Context, req *parlancev1.StreamTurnRequest, stream *connect.ServerStream[parlancev1.StreamTurnResponse],
) error {
	emit := turnEmitter(req.GetSessionId(), stream)
	switch {
	case idempotency.IsRunning(ctx):
		turn := sessions.TurnID(idgen.In(ctx, idgen.Turn)) // as the first request has it
		return s.Requests.Follow(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), turn, "", emit)
	case req.GetLastEventId() == "":
		return s.Requests.Stream(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), turnParams(req), emit)
	}
	turn, err := requests.TurnOfEvent(req.GetLastEventId())
	if err != nil {
		return err
	}
	return s.Requests.Follow(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), turn, req.GetLastEventId(), emit)
}

func (s *sessionsServer) FollowTurn(ctx context.Context, req *parlancev1.FollowTurnRequest,
	stream *connect.ServerStream[parlancev1.StreamTurnResponse],
) error {
	return s.Requests.Follow(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), sessions.TurnID(req.GetTurnId()),
		req.GetLastEventId(), turnEmitter(req.GetSessionId(), stream))
}

func (s *sessionsServer) GetTurn(ctx context.Context, req *parlancev1.GetTurnRequest) (*parlancev1.Turn, error) {
	turn, err := s.Requests.GetTurn(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), sessions.TurnID(req.GetTurnId()))
	return turnFor(ctx, turn), err
}

func (s *sessionsServer) CancelTurn(ctx context.Context, req *parlancev1.CancelTurnRequest) (*parlancev1.Turn, error) {
	turn, err := s.Requests.CancelTurn(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), sessions.TurnID(req.GetTurnId()))
	return turnFor(ctx, turn), err
}

func (s *sessionsServer) GetTranscript(ctx context.Context,
	req *parlancev1.GetTranscriptRequest,
) (*parlancev1.GetTranscriptResponse, error) {
	turns, next, err := s.Sessions.Transcript(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), pageParams(req))
	return &parlancev1.GetTranscriptResponse{Turns: each(turns, turnProto), NextPageToken: next}, err
}

func (s *sessionsServer) ListSessionToolCalls(ctx context.Context,
	req *parlancev1.ListSessionToolCallsRequest,
) (*parlancev1.ListSessionToolCallsResponse, error) {
	session, err := s.Sessions.Get(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()))
	if err != nil {
		return nil, err
	}
	calls, next, err := s.Tools.ListCallsOfSession(ctx, session.Ref(), callFilter(req, string(session.ID), ""), pageParams(req))
	return &parlancev1.ListSessionToolCallsResponse{ToolCalls: each(calls, toolCallProto), NextPageToken: next}, err
}
