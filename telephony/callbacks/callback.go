package callbacks

import (
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/workspaces"
)

// ID names a callback (cb_…).
type ID = telephony.CallbackID

// ScheduleID names a schedule (sch_…).
type ScheduleID string

// BatchID names a batch (bat_…).
type BatchID string

// Status is where a callback is; see doc.go.
type Status string

// The statuses.
const (
	Scheduled  Status = "scheduled"
	Dialing    Status = "dialing"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	NoAnswer   Status = "no_answer"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// IsOver reports whether a callback with the status has ended.
func (s Status) IsOver() bool {
	switch s {
	case Completed, NoAnswer, Failed, Canceled:
		return true
	case Scheduled, Dialing, InProgress:
	}
	return false
}

// Who planned a callback.
const (
	ByAgent    = "agent"
	ByOperator = "operator"
	BySchedule = "schedule"
	ByBatch    = "batch"
)

// MaxAttempts is how often a callback is tried in all. Source: decisions, Memory, persona,
// callbacks.
const MaxAttempts = 3

// retryAfter is how long after a missed attempt the next one is due. Source: as of MaxAttempts.
var retryAfter = [MaxAttempts - 1]time.Duration{30 * time.Minute, 60 * time.Minute}

// Why a callback waits although it is due.
const (
	WaitsQuietHours  = "quiet_hours"
	WaitsInterval    = "user_called_recently"
	WaitsBatchPaused = "batch_paused"
	WaitsBatchFull   = "batch_full"
	WaitsBatchWindow = "batch_window"
	WaitsSessions    = "sessions_full"
)

// Why callbacks end, beside the reasons of calls and slugs of errors.
const (
	EndAnswered = "answered"
	EndMissed   = "missed"
	EndCanceled = telephony.EndCanceled
)

// Bounds. Source: our own.
const (
	maxReasonChars = 500
	maxAhead       = 365 * 24 * time.Hour
)

// Callback is one planned call.
type Callback struct {
	bun.BaseModel `bun:"table:callbacks,alias:cb"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	AgentID     agents.ID           `bun:"agent_id"`
	UserID      string              `bun:"user_id"`
	// PhoneNumber is E.164.
	PhoneNumber string `bun:"phone_number"`
	// Timezone is an IANA name.
	Timezone  string `bun:"timezone"`
	Reason    string `bun:"reason"`
	Status    Status `bun:"status"`
	CreatedBy string `bun:"created_by"`
	// OriginSessionID is the session in which a model planned it.
	OriginSessionID string `bun:"origin_session_id"`
	// ScheduleID and RunAt are the schedule and its run, BatchID and Place the batch and the
	// recipient's place in it.
	ScheduleID ScheduleID `bun:"schedule_id"`
	RunAt      time.Time  `bun:"run_at,nullzero"`
	BatchID    BatchID    `bun:"batch_id"`
	Place      int        `bun:"place"`
	// SessionID is that of the call that was answered last, CallID the last call.
	SessionID sessions.ID  `bun:"session_id"`
	CallID    telephony.ID `bun:"call_id"`
	// Attempts is how often it was dialed.
	Attempts int `bun:"attempts"`
	// IgnoreLimits calls in quiet hours, and soon after another call.
	IgnoreLimits     bool              `bun:"ignore_limits"`
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	EndReason        string            `bun:"end_reason"`
	// WaitsFor is why it is not dialed although it was due.
	WaitsFor string `bun:"waits_for"`
	// At is when it was planned for, DueAt when the next attempt is due.
	At    time.Time `bun:"at"`
	DueAt time.Time `bun:"due_at"`
	// QueuedUntil is how long a task for it counts as being on its way.
	QueuedUntil time.Time `bun:"queued_until,nullzero"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
	// DialedAt is when the last attempt began.
	DialedAt time.Time `bun:"dialed_at,nullzero"`
	EndedAt  time.Time `bun:"ended_at,nullzero"`

	// Calls are its attempts, oldest first, where they were asked for.
	Calls []telephony.Call `bun:"-"`
}

// Ref is the callback's workspace.
func (c Callback) Ref() workspaces.Ref {
	return workspaces.Ref{TenantID: c.TenantID, ID: c.WorkspaceID}
}

// ListParams narrow a list of callbacks; zero members do not.
type ListParams struct {
	Page       postgres.PageParams
	Status     Status
	AgentID    string
	UserID     string
	ScheduleID string
	BatchID    string
	// From and Until bound At.
	From, Until time.Time
}

// errNotScheduled says that a callback cannot be changed any more.
func errNotScheduled(c Callback) error {
	return fault.New(fault.CallbackNotScheduled, "The callback is %s, so it cannot be changed.", c.Status)
}
