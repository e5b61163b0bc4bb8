package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// ApprovalStatus is where a request for approval is in its life: waiting, then one of the others for ever.
type ApprovalStatus string

// The statuses.
const (
	ApprovalWaiting  ApprovalStatus = "waiting"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalDenied   ApprovalStatus = "denied"
	// ApprovalExpired: nobody said a word in time.
	ApprovalExpired ApprovalStatus = "expired"
	// ApprovalWithdrawn: the answer was stopped before.
	ApprovalWithdrawn ApprovalStatus = "withdrawn"
)

// Approval is a call that waits, or waited, for somebody's word.
type Approval struct {
	bun.BaseModel `bun:"table:call_approvals,alias:v"`

	// CallID is call_….
	CallID      string              `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SessionID   ID                  `bun:"session_id"`
	TurnID      TurnID              `bun:"turn_id"`
	// Losses is the turn's when it asked.
	Losses int `bun:"losses"`
	// Name is the tool's slug.
	Name string `bun:"slug"`
	// Arguments is a JSON object.
	Arguments json.RawMessage `bun:"arguments,type:json"`
	Status    ApprovalStatus  `bun:"status"`
	// Reason is what was said with the word.
	Reason string `bun:"reason"`
	// DecidedBy is key_…, session_token or socket; empty: nobody.
	DecidedBy string    `bun:"decided_by"`
	CreatedAt time.Time `bun:"created_at"`
	ExpiresAt time.Time `bun:"expires_at"`
	DecidedAt time.Time `bun:"decided_at,nullzero"`
}

// CallApproval is what came of the request for a call's approval, as the transcript keeps it.
type CallApproval struct {
	Status    ApprovalStatus `json:"status"`
	DecidedBy string         `json:"decided_by,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	DecidedAt time.Time      `json:"decided_at"`
}

func (a Approval) word() *CallApproval {
	return &CallApproval{Status: a.Status, DecidedBy: a.DecidedBy, Reason: a.Reason, DecidedAt: a.DecidedAt}
}

// at is the request as it is now: one that nobody closed, since its node was lost, runs out all the same.
func (a Approval) at(now time.Time) Approval {
	if a.Status == ApprovalWaiting && !a.ExpiresAt.After(now) {
		a.Status, a.DecidedAt = ApprovalExpired, a.ExpiresAt
	}
	return a
}

// DecideParams is somebody's word on a call.
type DecideParams struct {
	Approve bool
	// Reason, at most 500 characters, is told to the model when it was not approved.
	Reason string
}

// Decide says whether a call may be made that waits for approval, on whatever node its turn runs. The same word
// again changes nothing and returns what is decided.
// Errors: NotFound not-found, Invalid invalid-request, Precondition approval-decided (otherwise, or its time is over).
func (s *Service) Decide(ctx context.Context, p workspaces.Principal, id ID, callID string, params DecideParams) (Approval, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return Approval{}, err
	}
	by := string(p.KeyID)
	if p.SessionID != "" {
		by = byToken
	}
	return s.decide(ctx, session, callID, decision{approved: params.Approve, reason: params.Reason, by: by})
}

func checkReason(reason string) *fault.Error {
	if utf8.RuneCountInString(reason) > MaxReasonChars || !storable(reason) {
		return fault.InvalidField("reason", "max_len", "reason has at most %d characters.", MaxReasonChars)
	}
	return nil
}

func (s *Service) decide(ctx context.Context, session Session, callID string, d decision) (row Approval, err error) {
	if err := checkReason(d.reason); err != nil {
		return Approval{}, err
	}
	if !idgen.Valid(idgen.ToolCall, callID) {
		return Approval{}, errNotAsked(callID)
	}
	now := s.moment()
	decided := false
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		decided, err = decideTx(ctx, tx, session, callID, d, now)
		if err != nil || !decided {
			return err
		}
		return notify(ctx, tx, notice{Kind: noticeDecided, Session: session.ID})
	})
	if err != nil {
		return Approval{}, fmt.Errorf("deciding on a call: %w", err)
	}
	if row, err = selectApproval(ctx, s.db, session, callID); err != nil {
		return Approval{}, err
	}
	if row = row.at(now); decided || row.Status == d.status() {
		return row, nil
	}
	switch row.Status {
	case ApprovalExpired:
		return row, fault.New(fault.ApprovalDecided, "Nobody answered in time, and the agent has gone on without the call.")
	case ApprovalWaiting, ApprovalWithdrawn:
		return row, fault.New(fault.ApprovalDecided, "The answer that asked for this call is over: it was stopped, or its server was lost.")
	}
	return row, fault.New(fault.ApprovalDecided, "The call was %s already; that stays.", row.Status)
}

func errNotAsked(callID string) error {
	return fault.New(fault.ResourceNotFound, "No call %q of this session has asked for approval.", callID)
}

func insertApprovals(ctx context.Context, db bun.IDB, rows []Approval) error {
	if _, err := db.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return fmt.Errorf("storing approvals: %w", err)
	}
	return nil
}

// decideTx writes the first word on a call, in time, of an answer that goes on; false when it cannot be.
func decideTx(ctx context.Context, tx bun.Tx, session Session, callID string, d decision, now time.Time) (bool, error) {
	result, err := tx.NewUpdate().Model((*Approval)(nil)).
		Set("status = ?", d.status()).Set("reason = ?", d.reason).Set("decided_by = ?", d.by).Set("decided_at = ?", now).
		Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).
		Where("v.status = ?", ApprovalWaiting).Where("v.expires_at > ?", now).
		Where("EXISTS (SELECT FROM turns AS t WHERE t.tenant_id = v.tenant_id AND t.id = v.turn_id AND t.status = ? AND t.losses = v.losses)", TurnInProgress).
		Exec(ctx)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// closeApproval ends a request without a word, unless there is one, and returns it.
func (s *Service) closeApproval(session Session, callID string, status ApprovalStatus) (Approval, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.live), writeTimeout) // its answer may be cancelled
	defer cancel()
	var row Approval
	err := s.attached(ctx, session.ID, func(ctx context.Context) error {
		_, err := s.db.NewUpdate().Model((*Approval)(nil)).Set("status = ?", status).Set("decided_at = ?", s.moment()).
			Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).
			Where("v.status = ?", ApprovalWaiting).Exec(ctx)
		if err != nil {
			return fmt.Errorf("closing an approval: %w", err)
		}
		row, err = selectApproval(ctx, s.db, session, callID)
		return err
	})
	return row, err
}

// withdrawAll closes the requests of a turn whose node was lost, and returns their calls: none of them was made. It
// is never nil.
func withdrawAll(ctx context.Context, tx bun.Tx, turn Turn, now time.Time) ([]string, error) {
	calls := []string{}
	err := tx.NewUpdate().Model((*Approval)(nil)).Set("status = ?", ApprovalWithdrawn).Set("decided_at = ?", now).
		Where("v.tenant_id = ?", turn.TenantID).Where("v.session_id = ?", turn.SessionID).Where("v.turn_id = ?", turn.ID).
		Where("v.status = ?", ApprovalWaiting).Returning("v.id").Scan(ctx, &calls)
	if err != nil && !postgres.NoRows(err) {
		return nil, fmt.Errorf("withdrawing a turn's approvals: %w", err)
	}
	return calls, nil
}

// selectApproval reads one request of a session. Errors: NotFound.
func selectApproval(ctx context.Context, db bun.IDB, session Session, callID string) (Approval, error) {
	var row Approval
	err := db.NewSelect().Model(&row).
		Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID).Where("v.id = ?", callID).Scan(ctx)
	if postgres.NoRows(err) {
		return Approval{}, errNotAsked(callID)
	}
	if err != nil {
		return Approval{}, fmt.Errorf("reading an approval: %w", err)
	}
	return row, nil
}

// selectWaiting reads the requests of a turn that wait.
func selectWaiting(ctx context.Context, db bun.IDB, turn Turn, now time.Time) ([]Approval, error) {
	var rows []Approval
	err := db.NewSelect().Model(&rows).
		Where("v.tenant_id = ?", turn.TenantID).Where("v.session_id = ?", turn.SessionID).Where("v.turn_id = ?", turn.ID).Where("v.losses = ?", turn.Losses).
		Where("v.status = ?", ApprovalWaiting).Where("v.expires_at > ?", now).OrderExpr("v.created_at, v.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading a turn's approvals: %w", err)
	}
	return rows, nil
}

// Approvals lists the calls of a session that asked for approval, newest first. Status, when set, is the one they
// have. Errors: NotFound, Invalid invalid-request.
func (s *Service) Approvals(ctx context.Context, p workspaces.Principal, id ID, status ApprovalStatus, params postgres.PageParams) ([]Approval, string, error) {
	session, err := s.Get(ctx, p, id)
	if err != nil {
		return nil, "", err
	}
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(session.TenantID), string(id), string(status)}
	page, err := postgres.NewPage(params)
	if err != nil {
		return nil, "", err
	}
	now := s.moment()
	var rows []Approval
	query := s.db.NewSelect().Model(&rows).Where("v.tenant_id = ?", session.TenantID).Where("v.session_id = ?", session.ID)
	if status != "" { // as at has it
		query = query.Where("CASE WHEN v.status = ? AND v.expires_at <= ? THEN ? ELSE v.status END = ?", ApprovalWaiting, now, ApprovalExpired, status)
	}
	if err := page.Apply(query).Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("listing approvals: %w", err)
	}
	for i := range rows {
		rows[i] = rows[i].at(now)
	}
	rows, next := postgres.Cut(page, rows, func(a Approval) postgres.Key { return postgres.Key{CreatedAt: a.CreatedAt, ID: a.CallID} })
	return rows, next, nil
}

// heardDecision has the answers of a session on this node look for a word; all of them when it is empty.
func (s *Service) heardDecision(session ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.running {
		if l.approvals != nil && (session == "" || l.session == session) {
			l.approvals.look()
		}
	}
}
