package task

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/privacy"
	"parlance.dev/parlance/workspaces"
)

// PrivacyRequestType is the type of the task that exports or erases the data of a user.
const PrivacyRequestType = "privacy_request"

// privacyTimeout bounds one run; the largest export takes the longest.
const privacyTimeout = 6 * time.Hour

type privacyPayload struct {
	TenantID  workspaces.TenantID `json:"tenant_id"`
	RequestID privacy.ID          `json:"request_id"`
}

// HandlePrivacyRequest does a request, or puts it off when its tenant has its share of the workers.
// The task is not retried: the request says when it is due again.
func HandlePrivacyRequest(service *privacy.Service, admit AdmitFunc) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p privacyPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(string(p.TenantID))
		if !ok {
			return service.Reschedule(ctx, p.TenantID, p.RequestID)
		}
		defer leave()
		return service.Process(ctx, p.TenantID, p.RequestID)
	}
}

// DuePrivacyRequests finds requests without a task.
type DuePrivacyRequests struct{ Service *privacy.Service }

// Due implements Finder.
func (d DuePrivacyRequests) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	due, err := d.Service.Due(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	tasks := make([]queue.Task, len(due))
	for i, r := range due {
		tasks[i] = queue.Task{
			Type: PrivacyRequestType, ID: PrivacyRequestType + ":" + string(r.ID) + ":" + madeAt(now), Queue: queue.Privacy,
			TenantID: string(r.TenantID), WorkspaceID: string(r.WorkspaceID),
			Origin:  telemetry.Origin{Traceparent: r.Traceparent, RequestID: r.RequestID},
			Payload: privacyPayload{TenantID: r.TenantID, RequestID: r.ID}, Timeout: privacyTimeout, MaxRetries: -1,
		}
	}
	return tasks, nil
}
