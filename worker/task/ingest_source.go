package task

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
)

// IngestSourceType is the type of the task that ingests a source.
const IngestSourceType = "ingest_source"

// ingestTimeout bounds one run; OCR of a long document takes the longest.
const ingestTimeout = 2 * time.Hour

// DueSource is a source that waits for a task.
type DueSource struct {
	TenantID string
	ID       string
	// WorkspaceID and Origin, the request that queued it, are for logs and traces.
	WorkspaceID string
	Origin      telemetry.Origin
}

// Ingester is package knowledge (app joins the two).
type Ingester interface {
	// Ingest does the work if nobody else is at it.
	Ingest(ctx context.Context, sourceID string) error
	// DueSources takes up to ask.Room sources that wait for ingestion, or whose worker died, in the
	// order of their tenants' turns, and counts them as on their way for a while.
	DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error)
	// PutOff makes a source wait for another second or so.
	PutOff(ctx context.Context, source DueSource) error
}

type ingestPayload struct {
	TenantID string `json:"tenant_id"`
	SourceID string `json:"source_id"`
}

// IngestSource makes the task; cause tells it from other tasks for the same source. It is not
// retried: the source itself says when it is due again.
func IngestSource(source DueSource, cause string) queue.Task {
	return queue.Task{
		Type: IngestSourceType, ID: IngestSourceType + ":" + source.ID + ":" + cause, Queue: queue.Ingest,
		TenantID: source.TenantID, WorkspaceID: source.WorkspaceID, Origin: source.Origin,
		Payload: ingestPayload{TenantID: source.TenantID, SourceID: source.ID}, Timeout: ingestTimeout, MaxRetries: -1,
	}
}

// HandleIngestSource ingests.
func HandleIngestSource(ingester Ingester, admit AdmitFunc) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p ingestPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(p.TenantID)
		if !ok {
			return ingester.PutOff(ctx, DueSource{TenantID: p.TenantID, ID: p.SourceID})
		}
		defer leave()
		return ingester.Ingest(ctx, p.SourceID)
	}
}

// SourceSweeper finds sources without a task.
type SourceSweeper struct{ Ingester Ingester }

// Due implements Sweeper.
func (s SourceSweeper) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	due, err := s.Ingester.DueSources(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	tasks := make([]queue.Task, len(due))
	for i, source := range due {
		tasks[i] = IngestSource(source, window(now))
	}
	return tasks, nil
}
