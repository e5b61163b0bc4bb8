package analysis

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// Kind is what an ended session is examined for. Each kind is a task of its own.
type Kind string

// The kinds: Judging finds out how the session went, Learning what is worth remembering of its
// user.
const (
	Judging  Kind = "analysis"
	Learning Kind = "extraction"
)

// Status is where an analysis is:
//
//	pending ──► done | failed | none (no language model answered)
type Status string

// The statuses. A session without a row has None.
const (
	None    Status = "none"
	Pending Status = "pending"
	Done    Status = "done"
	Failed  Status = "failed"
)

// Limits of an analysis; our own.
const (
	// Deadline is how long the announcement of a session's end waits for the analyses.
	Deadline = 2 * time.Minute
	// TryTimeout bounds one try, with all fallbacks of the model. A try that has not ended tryGrace
	// later was lost with its worker.
	TryTimeout = 45 * time.Second
	tryGrace   = 5 * time.Second
	// maxTries bounds the tries. retryPause is the wait after the first one; it doubles.
	maxTries   = 3
	retryPause = 5 * time.Second
	// maxAnswerTokens bounds the model's answer.
	maxAnswerTokens = 8000
)

// The results of a criterion, and of a session as a whole.
const (
	Success = "success"
	Failure = "failure"
	Unknown = "unknown"
)

// Analysis is what a model found out about a session.
type Analysis struct {
	bun.BaseModel `bun:"table:session_analyses,alias:n"`

	SessionID   sessions.ID         `bun:"session_id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Kind        Kind                `bun:"kind,pk"`
	Status      Status              `bun:"status"`
	// DueAt is when it may be tried. Until QueuedUntil a task is on its way.
	DueAt       time.Time `bun:"due_at"`
	QueuedUntil time.Time `bun:"queued_until,nullzero"`
	DeadlineAt  time.Time `bun:"deadline_at"`
	Attempts    int       `bun:"attempts"`
	// Result is empty until Status is Done, and always for Learning, whose facts are in package
	// memory.
	Result Result `bun:"result,type:jsonb"`
	// Model is the model that answered. The tokens are those of all tries.
	Model        string `bun:"model"`
	InputTokens  int    `bun:"input_tokens"`
	OutputTokens int    `bun:"output_tokens"`
	// Error is a sentence that says why it failed.
	Error string `bun:"error"`
	// Traceparent and RequestID are those of the operation that ended the session.
	Traceparent string    `bun:"traceparent"`
	RequestID   string    `bun:"request_id"`
	CreatedAt   time.Time `bun:"created_at"`
	EndedAt     time.Time `bun:"ended_at,nullzero"`
	// calls are those of this try.
	calls []sessions.ReceiptModelCall
}

// Origin returns the trace and the request that ended the session.
func (a Analysis) Origin() telemetry.Origin {
	return telemetry.Origin{Traceparent: a.Traceparent, RequestID: a.RequestID}
}

// Result is the model's answer, checked against what the agent's configuration asks for.
type Result struct {
	Summary string `json:"summary,omitempty"`
	// Success is Success, Failure or Unknown.
	Success  string            `json:"success,omitempty"`
	Criteria []CriterionResult `json:"criteria,omitempty"`
	Data     []DataResult      `json:"data,omitempty"`
}

// CriterionResult says whether a session met one of its agent's criteria.
type CriterionResult struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	Rationale string `json:"rationale"`
}

// DataResult is a value that was found in a session: JSON of the field's type, or null.
type DataResult struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Value     json.RawMessage `json:"value"`
	Rationale string          `json:"rationale"`
}

// successOf derives the result of a session from its criteria: failure when one failed, success
// when all are met, else unknown.
func successOf(criteria []CriterionResult) string {
	success := Success
	for _, c := range criteria {
		switch c.Result {
		case Failure:
			return Failure
		case Success:
		default:
			success = Unknown
		}
	}
	return success
}
