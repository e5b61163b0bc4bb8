package approvals

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// BySocket and byToken say who decided without a key.
const (
	BySocket = "socket"
	byToken  = "session_token"
)

// Decision says whether a call may be made.
type Decision struct {
	Approved bool
	Reason   string
	// By is who decided: key_…, BySocket or byToken.
	By string
}

// Status is the decision as it is stored.
func (d Decision) Status() sessions.ApprovalStatus {
	if d.Approved {
		return sessions.ApprovalApproved
	}
	return sessions.ApprovalDenied
}

// Service reads and changes requests for approval. Make one with New. Safe for concurrent use.
type Service struct {
	db       *postgres.DB
	sessions *sessions.Service
}

// New makes a Service.
func New(db *postgres.DB, sessions *sessions.Service) *Service {
	return &Service{db: db, sessions: sessions}
}

// DecideParams is a decision on a call.
type DecideParams struct {
	Approve bool
	// Reason, at most 500 characters, is told to the model when it was not approved.
	Reason string
}

// Decide decides whether a call that waits for approval may be made, on whatever node its turn
// runs. The same decision again changes nothing and returns what is decided. Errors: NotFound
// not-found, Invalid invalid-request, Precondition approval-decided (it was decided otherwise, or
// its time is over).
func (s *Service) Decide(
	ctx context.Context, p workspaces.Principal, id sessions.ID, callID string, params DecideParams,
) (sessions.Approval, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return sessions.Approval{}, err
	}
	by := p.CallerID()
	if p.SessionID != "" {
		by = byToken
	}
	return s.DecideCall(ctx, session, callID, Decision{Approved: params.Approve, Reason: params.Reason, By: by})
}

// CheckReason refuses a reason that is too long or cannot be stored.
func CheckReason(reason string) *fault.Error {
	if utf8.RuneCountInString(reason) > sessions.MaxReasonChars || !sessions.IsStorable(reason) {
		return fault.InvalidField("reason", "max_len", "reason has at most %d characters.", sessions.MaxReasonChars)
	}
	return nil
}

// DecideCall is Decide for a session that the caller has read.
func (s *Service) DecideCall(ctx context.Context, session sessions.Session, callID string, d Decision) (row sessions.Approval, err error) {
	if err := CheckReason(d.Reason); err != nil {
		return sessions.Approval{}, err
	}
	if !idgen.Valid(idgen.ToolCall, callID) {
		return sessions.Approval{}, errNotAsked(callID)
	}
	now := s.sessions.Now()
	decided := false
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		decided, err = decideTx(ctx, tx, session, callID, d, now)
		if err != nil || !decided {
			return err
		}
		return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeDecided, Session: session.ID})
	})
	if err != nil {
		return sessions.Approval{}, fmt.Errorf("deciding on a call: %w", err)
	}
	if row, err = s.Find(ctx, session, callID); err != nil {
		return sessions.Approval{}, err
	}
	if row = row.At(now); decided || row.Status == d.Status() {
		return row, nil
	}
	switch row.Status {
	case sessions.ApprovalExpired:
		return row, fault.New(fault.ApprovalDecided, "Nobody answered in time, and the agent has gone on without the call.")
	case sessions.ApprovalWaiting, sessions.ApprovalWithdrawn:
		return row, fault.New(fault.ApprovalDecided, "The answer that asked for this call is over: it was stopped, or its server was lost.")
	case sessions.ApprovalApproved, sessions.ApprovalDenied:
	}
	return row, fault.New(fault.ApprovalDecided, "The call was %s already; that stays.", row.Status)
}

func errNotAsked(callID string) error {
	return fault.New(fault.ResourceNotFound, "No call %q of this session has asked for approval.", callID)
}

// Ask stores requests.
func (s *Service) Ask(ctx context.Context, rows []sessions.Approval) error {
	if _, err := s.db.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return fmt.Errorf("storing approvals: %w", err)
	}
	return nil
}

// decideTx stores the first decision on a call that waits. It is false when the call does not wait
// any more.
func decideTx(ctx context.Context, tx bun.Tx, session sessions.Session, callID string, d Decision, now time.Time) (bool, error) {
	result, err := tx.NewUpdate().Model((*sessions.Approval)(nil)).
		Set("status = ?", d.Status()).Set("reason = ?", session.Redactor().Text(d.Reason)).Set("decided_by = ?", d.By).Set("decided_at = ?", now).
		Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).
		Where("v.status = ?", sessions.ApprovalWaiting).Where("v.expires_at > ?", now).
		Where("EXISTS (SELECT FROM turns AS t WHERE t.tenant_id = v.tenant_id AND t.id = v.turn_id"+
			" AND t.status = ? AND t.losses = v.losses)", sessions.TurnInProgress).
		Exec(ctx)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// Close ends a request that has no decision, and returns it. A decision that was first counts.
func (s *Service) Close(
	ctx context.Context, session sessions.Session, callID string, status sessions.ApprovalStatus,
) (sessions.Approval, error) {
	_, err := s.db.NewUpdate().Model((*sessions.Approval)(nil)).Set("status = ?", status).Set("decided_at = ?", s.sessions.Now()).
		Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).
		Where("v.status = ?", sessions.ApprovalWaiting).Exec(ctx)
	if err != nil {
		return sessions.Approval{}, fmt.Errorf("closing an approval: %w", err)
	}
	return s.Find(ctx, session, callID)
}

// Find reads one request of a session. Errors: NotFound.
func (s *Service) Find(ctx context.Context, session sessions.Session, callID string) (sessions.Approval, error) {
	var row sessions.Approval
	err := s.db.NewSelect().Model(&row).
		Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).Scan(ctx)
	if postgres.NoRows(err) {
		return sessions.Approval{}, errNotAsked(callID)
	}
	if err != nil {
		return sessions.Approval{}, fmt.Errorf("reading an approval: %w", err)
	}
	return row, nil
}

// Waiting reads the requests of a turn that wait for a decision.
func (s *Service) Waiting(ctx context.Context, turn sessions.Turn) ([]sessions.Approval, error) {
	var rows []sessions.Approval
	err := s.db.NewSelect().Model(&rows).
		Where("v.tenant_id = ?", turn.TenantID).Where("v.session_id = ?", turn.SessionID).
		Where("v.turn_id = ?", turn.ID).Where("v.losses = ?", turn.Losses).
		Where("v.status = ?", sessions.ApprovalWaiting).Where("v.expires_at > ?", s.sessions.Now()).
		OrderExpr("v.created_at, v.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading a turn's approvals: %w", err)
	}
	return rows, nil
}

// List lists the calls of a session that asked for approval, newest first. Status, when set,
// selects those that have it. Errors: NotFound, Invalid invalid-request.
func (s *Service) List(
	ctx context.Context, p workspaces.Principal, id sessions.ID, status sessions.ApprovalStatus, params postgres.PageParams,
) ([]sessions.Approval, string, error) {
	session, err := s.sessions.Get(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(session.TenantID), string(id), string(status)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	now := s.sessions.Now()
	var rows []sessions.Approval
	query := s.db.NewSelect().Model(&rows).Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID)
	if status != "" { // as Approval.At does
		query = query.Where(
			"CASE WHEN v.status = ? AND v.expires_at <= ? THEN ? ELSE v.status END = ?",
			sessions.ApprovalWaiting,
			now,
			sessions.ApprovalExpired,
			status,
		)
	}
	if err := page.Apply(query).Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("listing approvals: %w", err)
	}
	for i := range rows {
		rows[i] = rows[i].At(now)
	}
	rows, next := postgres.Cut(
		page,
		rows,
		func(a sessions.Approval) postgres.Key { return postgres.Key{CreatedAt: a.CreatedAt, ID: a.CallID} },
	)
	return rows, next, nil
}
