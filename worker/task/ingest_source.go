package task

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/queue"
)

// IngestSourceType is the type of the task that ingests a source.
const IngestSourceType = "ingest_source"

// ingestTimeout bounds one run; OCR of a long document takes the longest.
const ingestTimeout = 2 * time.Hour

// Ingester is package knowledge (app joins the two).
type Ingester interface {
	// Ingest does the work if nobody else is at it.
	Ingest(ctx context.Context, sourceID string) error
	// DueSources lists up to limit sources that wait for ingestion, or whose worker died.
	DueSources(ctx context.Context, now time.Time, limit int) ([]string, error)
}

type ingestPayload struct {
	SourceID string `json:"source_id"`
}

// IngestSource makes the task; cause tells it from other tasks for the same source. It is not
// retried: the source itself says when it is due again.
func IngestSource(sourceID, cause string) queue.Task {
	return queue.Task{
		Type: IngestSourceType, ID: IngestSourceType + ":" + sourceID + ":" + cause, Queue: queue.Ingest,
		Payload: ingestPayload{SourceID: sourceID}, Timeout: ingestTimeout, MaxRetries: -1,
	}
}

// HandleIngestSource ingests.
func HandleIngestSource(ingester Ingester) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p ingestPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		return ingester.Ingest(ctx, p.SourceID)
	}
}

// SourceSweeper finds sources without a task.
type SourceSweeper struct{ Ingester Ingester }

// Due implements Sweeper.
func (s SourceSweeper) Due(ctx context.Context, now time.Time, limit int) ([]queue.Task, error) {
	ids, err := s.Ingester.DueSources(ctx, now, limit)
	if err != nil {
		return nil, err
	}
	tasks := make([]queue.Task, len(ids))
	for i, id := range ids {
		tasks[i] = IngestSource(id, window(now))
	}
	return tasks, nil
}
