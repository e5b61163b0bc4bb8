package sessions

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// ID names a session (ses_…).
type ID string

// TurnID names a turn (turn_…).
type TurnID string

// Modality says which sockets a session has.
type Modality string

// The modalities. Text sessions have no voice socket; all sessions have a chat socket.
const (
	Voice        Modality = "voice"
	VoiceAndText Modality = "voice+text"
	Text         Modality = "text"
)

// Status is where a session is in its life; see the drawing in doc.go.
type Status string

// The statuses. Failed is "failed" on the wire.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// The end reasons that the service sets. Callers of POST …/end set their own.
const (
	ReasonEndedByAPI   = "ended_by_api"
	ReasonEndCall      = "end_call"
	ReasonHangUp       = "hang_up"
	ReasonNoTurns      = "no_turns"
	ReasonIdle         = "idle_timeout"
	ReasonMaxDuration  = "max_duration"
	ReasonDisconnected = "disconnected"
	ReasonExpired      = "expired"
	ReasonInternal     = "internal_error"
	// ReasonBudget: a budget of the agent was used up.
	ReasonBudget = "budget_used_up"
)

// Limits. Source: decisions, Sessions; DropGrace and those after it are our own.
const (
	DefaultTTL = 900 * time.Second
	MinTTL     = 60 * time.Second
	MaxTTL     = 3600 * time.Second
	// DropGrace is how long a session waits for a lost socket to come back.
	DropGrace = 120 * time.Second
	// EndGrace is how long an end waits until the running turn is recorded.
	EndGrace = 5 * time.Second
	// MaxTextChars bounds the text of one message of the user.
	MaxTextChars = 32_000
	// MaxReasonChars bounds the reason of an end.
	MaxReasonChars = 500
)

// Channel names one of a session's two sockets. A second socket of the same channel replaces
// the first. A voice and a chat socket can be open on one session at the same time.
type Channel string

// The channels.
const (
	VoiceChannel Channel = "voice"
	ChatChannel  Channel = "chat"
)

// Score is what the user thinks of an answer.
type Score string

// The scores. NoScore withdraws an earlier one.
const (
	NoScore Score = ""
	Like    Score = "like"
	Dislike Score = "dislike"
)

// Likes counts the scores of a session.
type Likes struct {
	Likes    int `bun:"likes"`
	Dislikes int `bun:"dislikes"`
}

// Overall returns the more frequent score, or NoScore when there are as many likes as dislikes.
func (l Likes) Overall() Score {
	switch {
	case l.Likes > l.Dislikes:
		return Like
	case l.Dislikes > l.Likes:
		return Dislike
	}
	return NoScore
}

// Session is one conversation between an agent and a user.
type Session struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`

	ID           ID                  `bun:"id,pk"`
	TenantID     workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID  workspaces.ID       `bun:"workspace_id"`
	AgentID      agents.ID           `bun:"agent_id"`
	AgentVersion int                 `bun:"agent_version"`
	// DraftRevision is the revision of the agent's draft whose settings the session has, and
	// AgentVersion that at which the draft was begun; 0: the settings are those of AgentVersion.
	DraftRevision int `bun:"draft_revision"`
	// UserID is the stable id that the caller has for the user.
	UserID    string   `bun:"user_id"`
	Modality  Modality `bun:"modality"`
	Status    Status   `bun:"status"`
	EndReason string   `bun:"end_reason"`
	// Config is the agent's configuration with the session's overrides applied.
	Config             agents.Config              `bun:"config,type:jsonb"`
	Overrides          map[string]json.RawMessage `bun:"overrides,type:jsonb"`
	VoiceStackOverride map[string]json.RawMessage `bun:"voice_stack_override,type:jsonb"`
	// DynamicVariables are the variables that are not secret__.
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	SecretVariables  []byte            `bun:"secret_variables,type:bytea"`
	// AssignedVariables were set by the answers of tools. They win over DynamicVariables.
	AssignedVariables map[string]string `bun:"assigned_variables,type:jsonb"`
	// ItemEdits are what clients changed about items; nil when nothing.
	ItemEdits ItemEdits `bun:"item_edits,type:jsonb,nullzero"`
	// VariablesHash is the salted SHA-256 of all variables in hex. The token contains it too.
	VariablesHash  string    `bun:"variables_hash"`
	TokenExpiresAt time.Time `bun:"token_expires_at"`
	// Language of the conversation, BCP 47; empty when unknown.
	Language string `bun:"language"`
	// SummarizedTurns is how many of the first turns the session's summary covers.
	SummarizedTurns int `bun:"summarized_turns"`
	TurnCount       int `bun:"turn_count"`
	InputTokens     int `bun:"input_tokens"`
	OutputTokens    int `bun:"output_tokens"`
	ToolCalls       int `bun:"tool_calls"`
	// Cost is what calls of models have cost, as a decimal number in the currency of the prices; empty
	// is nothing.
	Cost               string    `bun:"cost,type:numeric,nullzero"`
	MaxDurationSeconds int       `bun:"max_duration_seconds"`
	IdleTimeoutSeconds int       `bun:"idle_timeout_seconds"`
	CreatedAt          time.Time `bun:"created_at"`
	// StartedAt is zero while pending.
	StartedAt      time.Time `bun:"started_at,nullzero"`
	LastActivityAt time.Time `bun:"last_activity_at"`
	// Likes counts the scores of the answers.
	Likes Likes `bun:"embed:"`
	// Handover says whether a person has the conversation, or is to take it.
	Handover Handover `bun:"embed:handover_"`
	// OnTelephone says that the session is a telephone call.
	OnTelephone bool `bun:"on_telephone"`
	// DroppedAt is when the session lost its last socket; zero while it has one or never had one.
	DroppedAt time.Time `bun:"dropped_at,nullzero"`
	EndedAt   time.Time `bun:"ended_at,nullzero"`

	// RunningTurnID and RunningUntil are the turn lease: the turn that runs, and until when its
	// node may run it without renewing the lease.
	RunningTurnID TurnID    `bun:"running_turn_id,nullzero"`
	RunningUntil  time.Time `bun:"running_until,nullzero"`
	// RunningResponseID is the response that the turn sends to a socket; empty over HTTP.
	RunningResponseID string `bun:"running_response_id"`
	// EndingAt is when an end was requested that waits for the running turn.
	EndingAt     time.Time `bun:"ending_at,nullzero"`
	EndingStatus Status    `bun:"ending_status"`
	EndingReason string    `bun:"ending_reason"`
	// JournalUntil is how long a node may still be writing turns from its journal, which it kept
	// while Postgres was away.
	JournalUntil time.Time `bun:"spill_until,nullzero"`

	// Sealed says that there is sealed content of the session, see contents.go. ContentDeletedAt is
	// when it was deleted.
	Sealed           bool      `bun:"sealed"`
	ContentDeletedAt time.Time `bun:"content_deleted_at,nullzero"`
}

// Ref returns the session's workspace.
func (s Session) Ref() workspaces.Ref {
	return workspaces.Ref{TenantID: s.TenantID, ID: s.WorkspaceID}
}

// ConfigVersion is the version of the agent whose settings the session has; 0: they are a draft's.
func (s Session) ConfigVersion() int {
	if s.DraftRevision > 0 {
		return 0
	}
	return s.AgentVersion
}

// Closed reports whether the session has ended.
func (s Session) Closed() bool { return s.Status == Completed || s.Status == Failed }

// Duration is the time from the start to the end, or to now while the session is open. It is 0
// while the session is pending.
func (s Session) Duration(now time.Time) time.Duration {
	switch {
	case s.StartedAt.IsZero():
		return 0
	case s.EndedAt.IsZero():
		return max(0, now.Sub(s.StartedAt))
	}
	return s.EndedAt.Sub(s.StartedAt)
}

// HasChannel reports whether the session's modality has the socket.
func (s Session) HasChannel(channel Channel) bool {
	return channel == ChatChannel || s.Modality != Text
}

// ClosedError returns session-closed for a closed session, nil for others.
func ClosedError(session Session) error {
	if !session.Closed() {
		return nil
	}
	return fault.New(fault.SessionClosed, "The session has ended (%s). Create a new one.", session.EndReason)
}

// CheckOpen returns session-closed for a session that is closed or about to be, nil for others.
func CheckOpen(session Session) error {
	if err := ClosedError(session); err != nil {
		return err
	}
	if !session.EndingAt.IsZero() {
		return fault.New(fault.SessionClosed, "The session is being ended (%s). Create a new one.", session.EndingReason)
	}
	return nil
}
