package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

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

func (a Approval) Word() *CallApproval {
	return &CallApproval{Status: a.Status, DecidedBy: a.DecidedBy, Reason: a.Reason, DecidedAt: a.DecidedAt}
}

// at is the request as it is now: one that nobody closed, since its node was lost, runs out all the same.
func (a Approval) At(now time.Time) Approval {
	if a.Status == ApprovalWaiting && !a.ExpiresAt.After(now) {
		a.Status, a.DecidedAt = ApprovalExpired, a.ExpiresAt
	}
	return a
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
