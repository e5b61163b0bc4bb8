package privacy

import (
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// ID names a request (dsar_…).
type ID string

// Kind is what a request asks for.
type Kind string

// The kinds.
const (
	Export  Kind = "export"
	Erasure Kind = "erasure"
)

// Status is where a request is in its life; see the drawing in doc.go.
type Status string

// The statuses.
const (
	Queued     Status = "queued"
	Processing Status = "processing"
	Ready      Status = "ready"
	Failed     Status = "failed"
)

const (
	// fileLife is how long the file of an export can be read.
	fileLife = 7 * 24 * time.Hour
	// maxAttempts is how often a request is tried before it has failed.
	maxAttempts = 20
)

// Request is a data subject request.
type Request struct {
	bun.BaseModel `bun:"table:privacy_requests,alias:p"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	// UserID is empty when the user was erased.
	UserID string `bun:"user_id"`
	// UserHash stays. It is the tenant's keyed hash of the user's id.
	UserHash string `bun:"user_hash"`
	Kind     Kind   `bun:"kind"`
	Status   Status `bun:"status"`
	// RequestedBy is the API key or the person that asked.
	RequestedBy string `bun:"requested_by"`
	Counts      Counts `bun:"counts,type:jsonb"`
	// Remaining is what was counted after an erasure; nil before its end.
	Remaining *Counts `bun:"remaining,type:jsonb,nullzero"`
	// Error says why the last attempt failed; empty when none did.
	Error    string `bun:"error"`
	Attempts int    `bun:"attempts"`
	// DueAt is when a worker may take the request up, also one that another worker has: a worker
	// moves it on while it works.
	DueAt time.Time `bun:"due_at"`
	// FileKey is the blob of an export; empty when there is none, or none any more.
	FileKey   string    `bun:"file_key"`
	SizeBytes int64     `bun:"size_bytes"`
	SHA256    string    `bun:"sha256"`
	ExpiresAt time.Time `bun:"expires_at,nullzero"`
	// Traceparent and RequestID are the origin of the request.
	Traceparent string    `bun:"traceparent"`
	RequestID   string    `bun:"request_id"`
	CreatedAt   time.Time `bun:"created_at"`
	StartedAt   time.Time `bun:"started_at,nullzero"`
	FinishedAt  time.Time `bun:"finished_at,nullzero"`

	// DryRun says that the request was only counted and is not stored.
	DryRun bool `bun:"-"`
}

// Ref is the workspace of the request.
func (r Request) Ref() workspaces.Ref { return workspaces.Ref{TenantID: r.TenantID, ID: r.WorkspaceID} }

// readable reports whether the file of an export can be read at a time.
func (r Request) readable(now time.Time) bool {
	return r.Kind == Export && r.Status == Ready && r.FileKey != "" && now.Before(r.ExpiresAt)
}

// Counts counts what is kept about a user.
type Counts struct {
	Sessions  int `json:"sessions"`
	Turns     int `json:"turns"`
	ToolCalls int `json:"tool_calls"`
	Memories  int `json:"memories"`
	// Events are webhook events, Undelivered the deliveries of them that have not succeeded yet.
	Events      int `json:"events"`
	Undelivered int `json:"undelivered"`
	// Answers are kept for repetitions of requests with Idempotency-Key.
	Answers int `json:"answers"`
	// Exports are files of earlier requests.
	Exports int `json:"exports"`
	// Callbacks are none as long as they are not built.
	Callbacks int `json:"callbacks"`
	// Recordings are sessions that have a recording.
	Recordings int `json:"recordings"`
}

// add adds what another batch has.
func (c *Counts) add(more Counts) {
	c.Sessions += more.Sessions
	c.Turns += more.Turns
	c.ToolCalls += more.ToolCalls
	c.Memories += more.Memories
	c.Events += more.Events
	c.Undelivered += more.Undelivered
	c.Answers += more.Answers
	c.Exports += more.Exports
	c.Recordings += more.Recordings
	c.Callbacks += more.Callbacks
}

// NotCovered is what an erasure cannot reach.
var NotCovered = []string{
	"Backups of the database and of the bucket: they hold what was there until they are replaced.",
	"The write-ahead log of Postgres and the append-only file of Redis, until they are written anew, and rows until Postgres vacuums.",
	"Runs of tools by people, whose traces name no user, until they are deleted by age.",
	"What was sent already: webhooks that were delivered, calls of tools, the prompts that model providers got.",
	"Logs and traces that were exported: they name sessions and users by their ids, and hold nothing that was said.",
}
