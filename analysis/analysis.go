package analysis

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// AnalysisKind is what a session that is over is looked at for. Each is a task of its own.
type AnalysisKind string

// The kinds: how it went, and what is to be remembered of the user.
const (
	Judging  AnalysisKind = "analysis"
	Learning AnalysisKind = "extraction"
)

// AnalysisStatus is where the analysis of a session is:
//
//	pending ──► done | failed | none (the model that answers is none)
//
// post_call_transcription is appended in the transaction in which the last of the session's kinds leaves pending, so
// that it fires once, and at the latest when AnalysisDeadline is over: by the sweep, whatever happened to workers.
type AnalysisStatus string

// The statuses; one without a row is AnalysisNone.
const (
	AnalysisNone    AnalysisStatus = "none"
	AnalysisPending AnalysisStatus = "pending"
	AnalysisDone    AnalysisStatus = "done"
	AnalysisFailed  AnalysisStatus = "failed"
)

// Limits of an analysis; our own.
const (
	// AnalysisDeadline is how long the end of a session waits to be announced with its analysis.
	AnalysisDeadline = 2 * time.Minute
	// AnalysisTime bounds one try, repetitions of the model's chain included; a try that is not over
	// analysisGrace later was lost with its worker.
	AnalysisTime  = 45 * time.Second
	analysisGrace = 5 * time.Second
	// maxAnalyses bounds the tries, analysisPause is the wait after the first of them; it doubles.
	maxAnalyses   = 3
	analysisPause = 5 * time.Second
	// maxAnalysisTokens bounds the model's answer.
	maxAnalysisTokens = 8000
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
	Kind        AnalysisKind        `bun:"kind,pk"`
	Status      AnalysisStatus      `bun:"status"`
	// DueAt is when it may be tried, and QueuedUntil until when a task is on its way.
	DueAt       time.Time `bun:"due_at"`
	QueuedUntil time.Time `bun:"queued_until,nullzero"`
	DeadlineAt  time.Time `bun:"deadline_at"`
	Attempts    int       `bun:"attempts"`
	// Result is empty until it is done, and of what is learnt always: that is in package memory.
	Result AnalysisResult `bun:"result,type:jsonb"`
	// Model is the one that answered; the tokens are of all tries.
	Model        string `bun:"model"`
	InputTokens  int    `bun:"input_tokens"`
	OutputTokens int    `bun:"output_tokens"`
	// Error says in a sentence why it failed.
	Error string `bun:"error"`
	// Traceparent and RequestID are of what ended the session.
	Traceparent string    `bun:"traceparent"`
	RequestID   string    `bun:"request_id"`
	CreatedAt   time.Time `bun:"created_at"`
	EndedAt     time.Time `bun:"ended_at,nullzero"`
}

// Origin is what ended the session.
func (a Analysis) Origin() telemetry.Origin {
	return telemetry.Origin{Traceparent: a.Traceparent, RequestID: a.RequestID}
}

// AnalysisResult is the model's word, checked against what the agent asks for.
type AnalysisResult struct {
	Summary string `json:"summary,omitempty"`
	// Success is Success, Failure or Unknown.
	Success  string            `json:"success,omitempty"`
	Criteria []CriterionResult `json:"criteria,omitempty"`
	Data     []DataResult      `json:"data,omitempty"`
}

// CriterionResult is whether a session met one of its agent's criteria.
type CriterionResult struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Result    string `json:"result"`
	Rationale string `json:"rationale"`
}

// DataResult is a value that was read out of a session: JSON of the field's type, or null.
type DataResult struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Value     json.RawMessage `json:"value"`
	Rationale string          `json:"rationale"`
}

// wantsAnalysis says whether a session that is being closed is to be analysed. Whether a model answers
// at all is found out when it is.
func wantsAnalysis(session sessions.Session, turns []sessions.Turn) bool {
	return session.Config.Analysis.Enabled && session.Config.Model.Provider != extractive.Name && sessions.AnythingSaid(turns)
}

// successOf judges a session by its criteria: failure when one failed, success when all are met.
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
