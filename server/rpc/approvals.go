package rpc

import (
	"context"

	"parlance.dev/parlance/conversation"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) ListApprovals(
	ctx context.Context, req *parlancev1.ListApprovalsRequest,
) (*parlancev1.ListApprovalsResponse, error) {
	list, next, err := s.sessions.Approvals(ctx, workspaces.PrincipalFrom(ctx),
		conversation.ID(req.GetSessionId()), conversation.ApprovalStatus(req.GetStatus()), pageParams(req))
	if err != nil {
		return nil, err
	}
	shown := each(list, func(a conversation.Approval) *parlancev1.Approval { return approvalProto(req.GetSessionId(), a) })
	return &parlancev1.ListApprovalsResponse{Approvals: shown, NextPageToken: next}, nil
}

func (s *sessionsServer) DecideApproval(ctx context.Context, req *parlancev1.DecideApprovalRequest) (*parlancev1.Approval, error) {
	decided, err := s.sessions.Decide(ctx, workspaces.PrincipalFrom(ctx), conversation.ID(req.GetSessionId()), req.GetCallId(),
		conversation.DecideParams{Approve: req.GetApprove(), Reason: req.GetReason()})
	if err != nil {
		return nil, err
	}
	return approvalProto(req.GetSessionId(), decided), nil
}

func approvalProto(session string, a conversation.Approval) *parlancev1.Approval {
	return &parlancev1.Approval{
		CallId: a.CallID, SessionId: session, TurnId: string(a.TurnID), Slug: a.Name, Input: structOf(a.Arguments), Status: string(a.Status),
		Reason: a.Reason, DecidedBy: a.DecidedBy, CreatedAt: timestamp(a.CreatedAt),
		ExpiresAt: timestamp(a.ExpiresAt), DecidedAt: timestamp(a.DecidedAt),
	}
}
