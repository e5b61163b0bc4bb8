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
	// PutOff makes a source wait for another moment.
	PutOff(ctx context.Context, source DueSource) error
}

type sourcePayload struct {
	TenantID string `json:"tenant_id"`
	SourceID string `json:"source_id"`
}

func sourceTask(kind string, timeout time.Duration, source DueSource, cause string) queue.Task {
	return queue.Task{
		Type: kind, ID: kind + ":" + source.ID + ":" + cause, Queue: queue.Ingest,
		TenantID: source.TenantID, WorkspaceID: source.WorkspaceID, Origin: source.Origin,
		Payload: sourcePayload{TenantID: source.TenantID, SourceID: source.ID}, Timeout: timeout, MaxRetries: -1,
	}
}

// handleSource does the work of a source whose tenant has not its share of the workers yet.
func handleSource(admit AdmitFunc, putOff func(context.Context, DueSource) error, work func(ctx context.Context, sourceID string) error) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p sourcePayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(p.TenantID)
		if !ok {
			return putOff(ctx, DueSource{TenantID: p.TenantID, ID: p.SourceID})
		}
		defer leave()
		return work(ctx, p.SourceID)
	}
}

// IngestSource makes the task; cause tells it from other tasks for the same source. It is not
// retried: the source itself says when it is due again.
func IngestSource(source DueSource, cause string) queue.Task {
	return sourceTask(IngestSourceType, ingestTimeout, source, cause)
}

// HandleIngestSource ingests.
func HandleIngestSource(ingester Ingester, admit AdmitFunc) queue.HandlerFunc {
	return handleSource(admit, ingester.PutOff, ingester.Ingest)
}

// ReembedSourceType is the type of the task that embeds a source by another model, for a slice of time.
const ReembedSourceType = "reembed_source"

// reembedTimeout bounds one slice; an embedding server may make it wait.
const reembedTimeout = 10 * time.Minute

// Reembedder is package knowledge too; see Ingester.
type Reembedder interface {
	// Reembed does a slice of the work if nobody else is at it.
	Reembed(ctx context.Context, sourceID string) error
	// DueReembeddings is DueSources for sources that another model is to embed.
	DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error)
	// PutOffReembedding makes a source wait for another moment.
	PutOffReembedding(ctx context.Context, source DueSource) error
}

// ReembedSource makes the task; see IngestSource.
func ReembedSource(source DueSource, cause string) queue.Task {
	return sourceTask(ReembedSourceType, reembedTimeout, source, cause)
}

// HandleReembedSource embeds.
func HandleReembedSource(reembedder Reembedder, admit AdmitFunc) queue.HandlerFunc {
	return handleSource(admit, reembedder.PutOffReembedding, reembedder.Reembed)
}

// SourceSweeper finds sources without a task: new ones first, and those that another model is to
// embed where these leave room. Of more than one place the last is theirs anyhow.
type SourceSweeper struct {
	Ingester Ingester
	// Reembedder may be nil.
	Reembedder Reembedder
}

// Due implements Sweeper.
func (s SourceSweeper) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	room := ask.Room
	var old []DueSource
	if s.Reembedder != nil {
		first := ask
		first.Room = 1
		if room > 1 {
			var err error
			if old, err = s.Reembedder.DueReembeddings(ctx, now, first); err != nil {
				return nil, err
			}
		}
	}
	ask.Room = room - len(old)
	due, err := s.Ingester.DueSources(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	if left := ask.Room - len(due); left > 0 && (len(old) > 0 || room == 1) && s.Reembedder != nil {
		ask.Room = left
		if len(old) > 0 {
			ask.After = old[0].TenantID
		}
		more, err := s.Reembedder.DueReembeddings(ctx, now, ask)
		if err != nil {
			return nil, err
		}
		old = append(old, more...)
	}
	tasks := make([]queue.Task, 0, len(due)+len(old))
	for _, source := range old {
		tasks = append(tasks, ReembedSource(source, window(now)))
	}
	for _, source := range due {
		tasks = append(tasks, IngestSource(source, window(now)))
	}
	return tasks, nil
}
