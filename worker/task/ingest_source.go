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

// DueSource is a source without a task.
type DueSource struct {
	TenantID string
	ID       string
	// WorkspaceID and Origin, the request that queued it, are for logs and traces.
	WorkspaceID string
	Origin      telemetry.Origin
}

// Ingester is package knowledge; package app connects the two.
type Ingester interface {
	// Ingest ingests the source unless another worker does.
	Ingest(ctx context.Context, sourceID string) error
	// DueSources returns up to ask.Room sources that wait for ingestion, or whose worker died,
	// tenants in round robin, and counts them as queued for a while.
	DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error)
	// PutOff makes a source due a moment later.
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

// handleSource does the work of a source, or puts it off when its tenant has its share of the
// workers.
func handleSource(
	admit AdmitFunc, putOff func(context.Context, DueSource) error, work func(ctx context.Context, sourceID string) error,
) queue.HandlerFunc {
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

// IngestSource makes the task; cause distinguishes it from other tasks for the same source. It is
// not retried: the source says when it is due again.
func IngestSource(source DueSource, cause string) queue.Task {
	return sourceTask(IngestSourceType, ingestTimeout, source, cause)
}

// HandleIngestSource ingests a source.
func HandleIngestSource(ingester Ingester, admit AdmitFunc) queue.HandlerFunc {
	return handleSource(admit, ingester.PutOff, ingester.Ingest)
}

// ReembedSourceType is the type of the task that embeds a part of a source with another model.
const ReembedSourceType = "reembed_source"

// reembedTimeout bounds one part; an embedding server may be slow.
const reembedTimeout = 10 * time.Minute

// Reembedder is package knowledge too; see Ingester.
type Reembedder interface {
	// Reembed does a part of the work unless another worker does.
	Reembed(ctx context.Context, sourceID string) error
	// DueReembeddings is DueSources for sources to embed with another model.
	DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]DueSource, error)
	// PutOffReembedding makes a source due a moment later.
	PutOffReembedding(ctx context.Context, source DueSource) error
}

// ReembedSource makes the task; see IngestSource.
func ReembedSource(source DueSource, cause string) queue.Task {
	return sourceTask(ReembedSourceType, reembedTimeout, source, cause)
}

// HandleReembedSource embeds a part of a source.
func HandleReembedSource(reembedder Reembedder, admit AdmitFunc) queue.HandlerFunc {
	return handleSource(admit, reembedder.PutOffReembedding, reembedder.Reembed)
}

// DueIngestions finds sources without a task: those to ingest first, then those to embed with
// another model. With room for more than one, one place is always for the latter.
type DueIngestions struct {
	Ingester Ingester
	// Reembedder may be nil.
	Reembedder Reembedder
}

// Due implements Finder.
func (d DueIngestions) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	var reembed []DueSource
	if d.Reembedder != nil && ask.Room > 1 {
		one := ask
		one.Room = 1
		var err error
		if reembed, err = d.Reembedder.DueReembeddings(ctx, now, one); err != nil {
			return nil, err
		}
	}
	onlyOne := ask.Room == 1
	ask.Room -= len(reembed)
	ingest, err := d.Ingester.DueSources(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	if left := ask.Room - len(ingest); left > 0 && (len(reembed) > 0 || onlyOne) && d.Reembedder != nil {
		ask.Room = left
		if len(reembed) > 0 {
			ask.After = reembed[0].TenantID
		}
		more, err := d.Reembedder.DueReembeddings(ctx, now, ask)
		if err != nil {
			return nil, err
		}
		reembed = append(reembed, more...)
	}
	tasks := make([]queue.Task, 0, len(ingest)+len(reembed))
	for _, source := range reembed {
		tasks = append(tasks, ReembedSource(source, madeAt(now)))
	}
	for _, source := range ingest {
		tasks = append(tasks, IngestSource(source, madeAt(now)))
	}
	return tasks, nil
}
