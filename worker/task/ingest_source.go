package task

import (
	"context"
	"time"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// IngestSourceType is the type of the task that ingests a source.
const IngestSourceType = "ingest_source"

// ingestTimeout bounds one run; OCR of a long document takes the longest.
const ingestTimeout = 2 * time.Hour

// ReembedSourceType is the type of the task that embeds a part of a source with another model.
const ReembedSourceType = "reembed_source"

// reembedTimeout bounds one part; an embedding server may be slow.
const reembedTimeout = 10 * time.Minute

// Ingester is ingestion.Service.
type Ingester interface {
	// Ingest ingests the source unless another worker does.
	Ingest(ctx context.Context, id knowledge.SourceID) error
	// DueSources returns up to ask.Room sources that wait for ingestion, or whose worker died,
	// tenants in round robin, and counts them as queued for a while.
	DueSources(ctx context.Context, now time.Time, ask fair.Ask) ([]ingestion.DueSource, error)
	// PutOff makes a source due a moment later.
	PutOff(ctx context.Context, source ingestion.DueSource) error
}

// Reembedder is ingestion.Service too.
type Reembedder interface {
	// Reembed does a part of the work unless another worker does.
	Reembed(ctx context.Context, id knowledge.SourceID) error
	// DueReembeddings is DueSources for sources to embed with another model.
	DueReembeddings(ctx context.Context, now time.Time, ask fair.Ask) ([]ingestion.DueSource, error)
	// PutOffReembedding makes a source due a moment later.
	PutOffReembedding(ctx context.Context, source ingestion.DueSource) error
}

type sourcePayload struct {
	TenantID workspaces.TenantID `json:"tenant_id"`
	SourceID knowledge.SourceID  `json:"source_id"`
}

// sourceTask makes a task for a source. It is not retried: the source says when it is due again.
func sourceTask(kind string, timeout time.Duration, source ingestion.DueSource, now time.Time) queue.Task {
	return queue.Task{
		Type: kind, ID: kind + ":" + string(source.ID) + ":" + madeAt(now), Queue: queue.Ingest,
		TenantID: string(source.TenantID), WorkspaceID: string(source.WorkspaceID),
		Origin:  telemetry.Origin{Traceparent: source.Traceparent, RequestID: source.RequestID},
		Payload: sourcePayload{TenantID: source.TenantID, SourceID: source.ID}, Timeout: timeout, MaxRetries: -1,
	}
}

// handleSource does the work of a source, or reschedules it when its tenant has its share of the
// workers.
func handleSource(
	admit AdmitFunc, reschedule func(context.Context, ingestion.DueSource) error, work func(context.Context, knowledge.SourceID) error,
) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p sourcePayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(string(p.TenantID))
		if !ok {
			return reschedule(ctx, ingestion.DueSource{TenantID: p.TenantID, ID: p.SourceID})
		}
		defer leave()
		return work(ctx, p.SourceID)
	}
}

// HandleIngestSource ingests a source.
func HandleIngestSource(ingester Ingester, admit AdmitFunc) queue.HandlerFunc {
	return handleSource(admit, ingester.PutOff, ingester.Ingest)
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
	var reembed []ingestion.DueSource
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
			ask.After = string(reembed[0].TenantID)
		}
		more, err := d.Reembedder.DueReembeddings(ctx, now, ask)
		if err != nil {
			return nil, err
		}
		reembed = append(reembed, more...)
	}
	tasks := make([]queue.Task, 0, len(ingest)+len(reembed))
	for _, source := range reembed {
		tasks = append(tasks, sourceTask(ReembedSourceType, reembedTimeout, source, now))
	}
	for _, source := range ingest {
		tasks = append(tasks, sourceTask(IngestSourceType, ingestTimeout, source, now))
	}
	return tasks, nil
}
