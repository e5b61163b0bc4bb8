package task

import (
	"context"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/workspaces"
)

// The types of the tasks that dial a callback, and that transfer the call of a session that asked
// for a person.
const (
	DialCallbackType = "dial_callback"
	HandOverType     = "hand_over"
)

// dialTimeout is above the time in which a carrier accepts a call or does not.
const dialTimeout = 45 * time.Second

type callbackPayload struct {
	TenantID    workspaces.TenantID `json:"tenant_id"`
	WorkspaceID workspaces.ID       `json:"workspace_id"`
	CallbackID  callbacks.ID        `json:"callback_id"`
}

// HandleDialCallback dials a callback, or puts it off when its tenant has its share of the workers.
// The task is not retried: the callback says when it is due again.
func HandleDialCallback(service *callbacks.Service, admit AdmitFunc) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p callbackPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		leave, ok := admit(string(p.TenantID))
		if !ok {
			return service.Reschedule(ctx, p.TenantID, p.CallbackID)
		}
		defer leave()
		return service.Dial(ctx, workspaces.Ref{TenantID: p.TenantID, ID: p.WorkspaceID}, p.CallbackID)
	}
}

// DueCallbacks finds callbacks that are due without a task.
type DueCallbacks struct{ Service *callbacks.Service }

// Due implements Finder.
func (d DueCallbacks) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	due, err := d.Service.Due(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	tasks := make([]queue.Task, len(due))
	for i, c := range due {
		tasks[i] = queue.Task{
			Type: DialCallbackType, ID: DialCallbackType + ":" + string(c.ID) + ":" + madeAt(now), Queue: queue.Call,
			TenantID: string(c.TenantID), WorkspaceID: string(c.WorkspaceID), Timeout: dialTimeout, MaxRetries: -1,
			Payload: callbackPayload{TenantID: c.TenantID, WorkspaceID: c.WorkspaceID, CallbackID: c.ID},
		}
	}
	return tasks, nil
}

type handOverPayload struct {
	TenantID  workspaces.TenantID `json:"tenant_id"`
	SessionID sessions.ID         `json:"session_id"`
}

// HandOver makes the task of a session that asked for a person.
func HandOver(row events.Row) queue.Task {
	return queue.Task{
		Type: HandOverType, ID: HandOverType + ":" + row.EventID, TenantID: row.TenantID, WorkspaceID: row.WorkspaceID,
		Payload: handOverPayload{TenantID: workspaces.TenantID(row.TenantID), SessionID: sessions.ID(row.Subject)},
	}
}

// HandleHandOver transfers the call of a session, if it has one.
func HandleHandOver(calls *telephony.Service) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p handOverPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		return calls.HandOver(ctx, p.TenantID, p.SessionID)
	}
}
