package rpc

import (
	"context"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns/approvals"
	"parlance.dev/parlance/workspaces"
)

func (s *sessionsServer) ListApprovals(ctx context.Context,
	req *parlancev1.ListApprovalsRequest,
) (*parlancev1.ListApprovalsResponse, error) {
	list, next, err := s.Turns.Approvals.List(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()),
		sessions.ApprovalStatus(req.GetStatus()), pageParams(req))
	if err != nil {
		return nil, err
	}
	shown := each(list, func(a sessions.Approval) *parlancev1.Approval { return approvalProto(req.GetSessionId(), a) })
	return &parlancev1.ListApprovalsResponse{Approvals: shown, NextPageToken: next}, nil
}

func (s *sessionsServer) DecideApproval(ctx context.Context, req *parlancev1.DecideApprovalRequest) (*parlancev1.Approval, error) {
	decided, err := s.Turns.Approvals.Decide(ctx, workspaces.PrincipalFrom(ctx), sessions.ID(req.GetSessionId()), req.GetCallId(),
		approvals.DecideParams{Approve: req.GetApprove(), Reason: req.GetReason()})
	return approvalProto(req.GetSessionId(), decided), err
}

func approvalProto(session string, a sessions.Approval) *parlancev1.Approval {
	return &parlancev1.Approval{
		CallId: a.CallID, SessionId: session, TurnId: string(a.TurnID), Slug: a.Name,
		Input: structOf(a.Arguments), InputJson: textOf(a.Arguments), Status: string(a.Status),
		Reason: a.Reason, DecidedBy: a.DecidedBy, CreatedAt: timestamp(a.CreatedAt),
		ExpiresAt: timestamp(a.ExpiresAt), DecidedAt: timestamp(a.DecidedAt),
	}
}
