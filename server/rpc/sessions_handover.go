package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) TakeOverSession(ctx context.Context, req *parlancev1.TakeOverSessionRequest) (*parlancev1.Session, error) {
	session, err := s.Handover.TakeOver(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), req.GetOperator())
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, session)
}

func (s *sessionsServer) SendOperatorMessage(ctx context.Context, req *parlancev1.SendOperatorMessageRequest) (*parlancev1.Turn, error) {
	turn, err := s.Handover.Say(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), req.GetText())
	if err != nil {
		return nil, err
	}
	return turnProto(turn), nil
}

func (s *sessionsServer) ReleaseSession(ctx context.Context, req *parlancev1.ReleaseSessionRequest) (*parlancev1.Session, error) {
	session, err := s.Handover.Release(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), req.GetNote())
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, session)
}

// handoverProto is nil for a session that nobody was asked to take over, and nobody has.
func handoverProto(h sessions.Handover) *parlancev1.SessionHandover {
	if h.Status == sessions.NoHandover {
		return nil
	}
	return &parlancev1.SessionHandover{
		Status: string(h.Status), Reason: h.Reason, Summary: h.Summary, Destination: h.Destination, Operator: h.Operator,
		RequestedAt: timestamp(h.RequestedAt), TakenAt: timestamp(h.TakenAt),
	}
}
