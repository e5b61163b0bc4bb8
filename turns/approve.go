package turns

import (
	"context"
	"time"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// askApprovals asks for the approval of the calls of a round that need it.
func (r *Runner) askApprovals(ctx context.Context, round []*pendingCall) error {
	var needing []*pendingCall
	var rows []sessions.Approval
	now := r.S.sessions.Now()
	for _, p := range round {
		if p.needsApproval() && r.Approvals != nil {
			needing = append(needing, p)
			rows = append(rows, sessions.Approval{
				CallID: p.Call.ID, TenantID: r.Session.TenantID, WorkspaceID: r.Session.WorkspaceID,
				SessionID: r.Session.ID, TurnID: r.Turn.ID, Losses: r.Turn.Losses,
				Name: p.Call.Name, Arguments: r.Session.Redactor().JSON(p.Call.Arguments),
				Status: sessions.ApprovalWaiting, CreatedAt: now, ExpiresAt: now.Add(r.S.approvalTimeout),
			})
		}
	}
	if len(needing) == 0 {
		return nil
	}
	stored, reachable := r.storeApprovals(ctx, rows)
	if !reachable {
		return nil // nobody is asked
	}
	for i, p := range needing {
		p.approval = r.Approvals.open(p.requestID(), stored)
		err := r.send(ApprovalRequested{
			ResponseID: r.ResponseID, RequestID: p.requestID(), CallID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Arguments,
			Timeout: r.S.approvalTimeout, AskedAt: now, ExpiresAt: rows[i].ExpiresAt,
		})
		if err != nil {
			r.withdraw(rows)
			return err
		}
	}
	if stored {
		r.S.notifyFollowers(r.Turn.ID)
	}
	return nil
}

// storeApprovals stores the requests. reachable is false when nobody could answer them.
func (r *Runner) storeApprovals(ctx context.Context, rows []sessions.Approval) (stored, reachable bool) {
	if r.offline {
		return false, true
	}
	err := r.S.ReachSession(ctx, r.Session.ID, func(ctx context.Context) error { return r.S.Approvals.Ask(ctx, rows) })
	switch {
	case err == nil:
		return true, true
	case IsOffline(err):
		return false, r.Start.Cache != nil // a socket is on this node
	case ctx.Err() == nil:
		r.S.log.WarnContext(ctx, "approvals not asked for", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
	return false, false
}

// withdraw ends requests whose answer is over.
func (r *Runner) withdraw(rows []sessions.Approval) {
	for _, row := range rows {
		r.Approvals.close(RequestOf(row.CallID))
		_, _ = r.S.closeApproval(r.Session, row.CallID, sessions.ApprovalWithdrawn) // it ends with its turn otherwise
	}
}

// approved waits for the decision on a call and returns it. A nil error allows the call.
func (r *Runner) approved(ctx context.Context, p *pendingCall) (*sessions.CallApproval, *tools.Error) {
	if !p.needsApproval() {
		return nil, nil
	}
	if p.approval == nil {
		return nil, errNotApproved("This tool needs somebody's approval, and nobody could be asked. Tell the user that it was not done.")
	}
	defer r.Approvals.close(p.requestID())
	word := r.awaitDecision(ctx, p)
	switch {
	case word.Status == sessions.ApprovalApproved:
		return word, nil
	case word.Status == sessions.ApprovalDenied && word.Reason != "":
		return word, errNotApproved("The call was not approved: " + word.Reason + " Do not call it again unless the user asks for it.")
	case word.Status == sessions.ApprovalDenied:
		return word, errNotApproved("The call was not approved. Do not call it again unless the user asks for it.")
	case word.Status == sessions.ApprovalWithdrawn:
		return word, errNotApproved("The call was not made: the answer was stopped before it was approved.")
	}
	return word, errNotApproved("Whoever was asked to approve the call did not answer in time, so it was not made.")
}

// awaitDecision waits for the decision on a call, or until the request expires.
func (r *Runner) awaitDecision(ctx context.Context, p *pendingCall) *sessions.CallApproval {
	timer := time.NewTimer(r.S.approvalTimeout)
	defer timer.Stop()
	ticker := time.NewTicker(approvalPoll)
	defer ticker.Stop()
	for {
		select {
		case word := <-p.approval.decision:
			return &sessions.CallApproval{Status: word.Status(), DecidedBy: word.By, Reason: word.Reason, DecidedAt: r.S.sessions.Now()}
		case <-p.approval.reread:
		case <-ticker.C:
		case <-timer.C:
			return r.closeRequest(p, sessions.ApprovalExpired)
		case <-ctx.Done():
			return r.closeRequest(p, sessions.ApprovalWithdrawn)
		}
		if !p.approval.stored {
			continue
		}
		row, err := r.S.Approvals.Find(ctx, p.session, p.Call.ID)
		if err == nil && row.Status != sessions.ApprovalWaiting { // otherwise the row is read again
			return row.Decision()
		}
	}
}

// closeRequest ends a request that was not answered. A decision that came in the last moment
// counts.
func (r *Runner) closeRequest(p *pendingCall, status sessions.ApprovalStatus) *sessions.CallApproval {
	if p.approval.stored {
		if row, err := r.S.closeApproval(p.session, p.Call.ID, status); err == nil {
			return row.Decision()
		}
	}
	return &sessions.CallApproval{Status: status, DecidedAt: r.S.sessions.Now()}
}

// closeApproval ends a request that has no decision, and returns it.
func (s *Service) closeApproval(
	session sessions.Session, callID string, status sessions.ApprovalStatus,
) (row sessions.Approval, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), sessions.WriteTimeout) // although the answer may be cancelled
	defer cancel()
	err = s.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		row, err = s.Approvals.Close(ctx, session, callID, status)
		return err
	})
	return row, err
}

func errNotApproved(words string) *tools.Error {
	return &tools.Error{Code: sessions.CodeNotApproved, Message: words}
}
