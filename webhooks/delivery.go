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

// AttemptStatus is the state of an attempt.
type AttemptStatus string

// The statuses of an attempt.
const (
	AttemptPending   AttemptStatus = "pending"
	AttemptSucceeded AttemptStatus = "succeeded"
	AttemptFailed    AttemptStatus = "failed"
	// AttemptUnknown: the worker died before it recorded the answer.
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
	// Number counts the attempts of an event and endpoint from 1.
	Number int           `bun:"attempt"`
	Status AttemptStatus `bun:"status"`
	// StatusCode is the HTTP status; 0 when there was no answer.
	StatusCode int `bun:"status_code"`
	// Error is the reason of a failure as a sentence; empty otherwise.
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

// Due is a delivery to make a task of.
type Due struct {
	ID         int64               `bun:"id"`
	TenantID   workspaces.TenantID `bun:"tenant_id"`
	EndpointID EndpointID          `bun:"endpoint_id"`
	// Attempt is the number of attempts so far.
	Attempt int `bun:"attempt"`
}

// MaxBatch is how many deliveries one task sends. Source: design, Events, outbox, queue.
const MaxBatch = 32

// Batch is the deliveries of one task; they are of one endpoint.
type Batch struct {
	TenantID   workspaces.TenantID
	EndpointID EndpointID
	IDs        []int64
	// Name identifies the deliveries and their attempts; it is part of the task's id.
	Name string
}

// Batches divides due deliveries into batches, tenants in round robin and the endpoints of a tenant
// too.
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
		for chunk := range slices.Chunk(own, MaxBatch) {
			batches = append(batches, newBatch(chunk))
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
		_, _ = fmt.Fprintf(hash, "%d:%d,", d.ID, d.Attempt) // a hash returns no errors
	}
	batch.Name = fmt.Sprintf("%d-%s", due[0].ID, hex.EncodeToString(hash.Sum(nil)[:8]))
	return batch
}

// FeedEvent is an event of the feed.
type FeedEvent struct {
	events.Row
	// Cursor is the event's position, for reading what comes after it.
	Cursor string
}
