package webhooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/workspaces"
)

// AttemptID names an attempt (dlv_…).
type AttemptID string

// AttemptStatus says how an attempt went.
type AttemptStatus string

// The statuses of an attempt.
const (
	AttemptPending   AttemptStatus = "pending"
	AttemptSucceeded AttemptStatus = "succeeded"
	AttemptFailed    AttemptStatus = "failed"
	// AttemptUnknown: we died before the answer was written down.
	AttemptUnknown AttemptStatus = "unknown"
)

// The statuses of a delivery, which callers do not see.
const (
	deliveryPending   = "pending"
	deliverySucceeded = "succeeded"
	deliveryFailed    = "failed"
)

// Attempt is one attempt to deliver an event to an endpoint.
type Attempt struct {
	bun.BaseModel `bun:"table:webhook_attempts,alias:wa"`

	ID          AttemptID           `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	EndpointID  EndpointID          `bun:"endpoint_id"`
	DeliveryID  int64               `bun:"delivery_id"`
	// Number is counted from 1 for the event and the endpoint.
	Number int           `bun:"attempt"`
	Status AttemptStatus `bun:"status"`
	// StatusCode is the HTTP status; 0 when there was no answer.
	StatusCode int `bun:"status_code"`
	// Error says in words why it failed; empty otherwise.
	Error           string            `bun:"error"`
	RequestHeaders  map[string]string `bun:"request_headers,type:jsonb"`
	ResponseHeaders map[string]string `bun:"response_headers,type:jsonb"`
	// ResponseBody is the first 4 KiB, as text.
	ResponseBody string    `bun:"response_body"`
	StartedAt    time.Time `bun:"started_at"`
	DurationMS   int       `bun:"duration_ms"`
	// NextAttemptAt is zero when no other attempt is due.
	NextAttemptAt time.Time `bun:"next_attempt_at,nullzero"`

	EventID     string      `bun:"event_id,scanonly"`
	EventType   events.Type `bun:"event_type,scanonly"`
	RequestBody []byte      `bun:"request_body,scanonly"`
}

// Due is a delivery that wants a task.
type Due struct {
	ID         int64               `bun:"id"`
	TenantID   workspaces.TenantID `bun:"tenant_id"`
	EndpointID EndpointID          `bun:"endpoint_id"`
	// Attempt is the number of attempts begun.
	Attempt int `bun:"attempt"`
}

// MaxBatch is how many deliveries one task sends. Source: design, Events, outbox, queue.
const MaxBatch = 32

// Batch is one task's deliveries to one endpoint.
type Batch struct {
	TenantID   workspaces.TenantID
	EndpointID EndpointID
	IDs        []int64
	// Name is the same for the same deliveries at the same attempts, and for no others.
	Name string
}

// Batches divides due deliveries into tasks, in which their tenants take turns, and the endpoints
// of a tenant.
func Batches(due []Due) []Batch {
	var order []EndpointID
	byEndpoint := map[EndpointID][]Due{}
	for _, d := range due {
		if len(byEndpoint[d.EndpointID]) == 0 {
			order = append(order, d.EndpointID)
		}
		byEndpoint[d.EndpointID] = append(byEndpoint[d.EndpointID], d)
	}
	var batches []Batch
	for _, id := range order {
		own := byEndpoint[id]
		slices.SortFunc(own, func(a, b Due) int { return cmp.Compare(a.ID, b.ID) })
		for part := range slices.Chunk(own, MaxBatch) {
			batches = append(batches, newBatch(part))
		}
	}
	batches = fair.Alternate(batches, func(b Batch) string { return string(b.EndpointID) })
	return fair.Alternate(batches, func(b Batch) string { return string(b.TenantID) })
}

func newBatch(due []Due) Batch {
	batch := Batch{TenantID: due[0].TenantID, EndpointID: due[0].EndpointID}
	hash := sha256.New()
	for _, d := range due {
		batch.IDs = append(batch.IDs, d.ID)
		_, _ = fmt.Fprintf(hash, "%d:%d,", d.ID, d.Attempt) // a hash takes everything
	}
	batch.Name = fmt.Sprintf("%d-%s", due[0].ID, hex.EncodeToString(hash.Sum(nil)[:8]))
	return batch
}

// FeedEvent is an event of the feed.
type FeedEvent struct {
	events.Row
	// Cursor is the event's place; reading goes on after it.
	Cursor string
}
