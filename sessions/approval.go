package sessions

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// ApprovalStatus is where a request for approval is in its life. It begins as waiting and changes
// once.
type ApprovalStatus string

// The statuses.
const (
	ApprovalWaiting  ApprovalStatus = "waiting"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalDenied   ApprovalStatus = "denied"
	// ApprovalExpired: nobody answered in time.
	ApprovalExpired ApprovalStatus = "expired"
	// ApprovalWithdrawn: the turn was stopped before anybody answered.
	ApprovalWithdrawn ApprovalStatus = "withdrawn"
)

// Approval is a request to allow a call, and its answer.
type Approval struct {
	bun.BaseModel `bun:"table:call_approvals,alias:v"`

	// CallID is call_….
	CallID      string              `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	SessionID   ID                  `bun:"session_id"`
	TurnID      TurnID              `bun:"turn_id"`
	// Losses is the turn's count when it asked.
	Losses int `bun:"losses"`
	// Name is the tool's slug.
	Name string `bun:"slug"`
	// Arguments is a JSON object.
	Arguments json.RawMessage `bun:"arguments,type:json"`
	Status    ApprovalStatus  `bun:"status"`
	// Reason is the reason that came with the answer.
	Reason string `bun:"reason"`
	// DecidedBy is key_…, session_token or socket; empty when nobody decided.
	DecidedBy string    `bun:"decided_by"`
	CreatedAt time.Time `bun:"created_at"`
	ExpiresAt time.Time `bun:"expires_at"`
	DecidedAt time.Time `bun:"decided_at,nullzero"`
}

// CallApproval is the answer to a request for approval, as the transcript keeps it.
type CallApproval struct {
	Status    ApprovalStatus `json:"status"`
	DecidedBy string         `json:"decided_by,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	DecidedAt time.Time      `json:"decided_at"`
}

// Decision returns the answer for the transcript.
func (a Approval) Decision() *CallApproval {
	return &CallApproval{Status: a.Status, DecidedBy: a.DecidedBy, Reason: a.Reason, DecidedAt: a.DecidedAt}
}

// At returns the request as it is at a time. A request whose node was lost stays waiting in the
// database; it counts as expired once its time is over.
func (a Approval) At(now time.Time) Approval {
	if a.Status == ApprovalWaiting && !a.ExpiresAt.After(now) {
		a.Status, a.DecidedAt = ApprovalExpired, a.ExpiresAt
	}
	return a
}
