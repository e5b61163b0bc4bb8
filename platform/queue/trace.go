package queue

import (
	"context"

	"github.com/hibiken/asynq"

	"parlance.dev/parlance/platform/telemetry"
)

// The headers of a task: its origin, and its tenant and workspace.
const (
	headerTraceparent = "traceparent"
	headerRequestID   = "request_id"
	headerTenantID    = "tenant_id"
	headerWorkspaceID = "workspace_id"
	// headerOwnTrace is set when the task has a trace of its own.
	headerOwnTrace = "own_trace"
)

func headers(ctx context.Context, task Task) map[string]string {
	origin := task.Origin
	if origin == (telemetry.Origin{}) {
		origin = telemetry.OriginOf(ctx)
	}
	all := map[string]string{}
	for name, value := range map[string]string{
		headerTraceparent: origin.Traceparent, headerRequestID: origin.RequestID,
		headerTenantID: task.TenantID, headerWorkspaceID: task.WorkspaceID,
	} {
		if value != "" {
			all[name] = value
		}
	}
	if task.OwnTrace {
		all[headerOwnTrace] = "true"
	}
	return all
}

// startRun begins the span of a run and sets what every log line has. A task has one cause, so the
// span is the child of that span, unless the task has a trace of its own.
func (s *Server) startRun(ctx context.Context, task *asynq.Task) (context.Context, *telemetry.Span) {
	from := task.Headers()
	origin := telemetry.Origin{Traceparent: from[headerTraceparent], RequestID: from[headerRequestID]}
	var links []telemetry.Origin
	if from[headerOwnTrace] != "" {
		links = append(links, origin)
		origin.Traceparent = ""
	}
	ctx = origin.Context(telemetry.WithTracer(ctx, s.cfg.Tracer))
	id, _ := asynq.GetTaskID(ctx)
	name, _ := asynq.GetQueueName(ctx)
	retried, _ := asynq.GetRetryCount(ctx)
	telemetry.Note(ctx, telemetry.KeyTaskType, task.Type())
	telemetry.Note(ctx, telemetry.KeyTaskID, id)
	telemetry.Note(ctx, telemetry.KeyTenantID, from[headerTenantID])
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, from[headerWorkspaceID])
	return telemetry.StartLinked(ctx, telemetry.Consumer, "process "+task.Type(), links,
		telemetry.Text("messaging.system", "asynq"), telemetry.Text("messaging.destination.name", name),
		telemetry.Text("messaging.operation.name", "process"), telemetry.Text("messaging.operation.type", "process"),
		telemetry.Text("messaging.message.id", id), telemetry.Number("parlance.attempt", retried+1))
}
