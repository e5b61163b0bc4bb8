package task

import (
	"context"
	"time"

	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
	"parlance.dev/parlance/webhooks"
	"parlance.dev/parlance/workspaces"
)

// DeliverWebhookType is the type of the task that sends deliveries to one endpoint.
const DeliverWebhookType = "deliver_webhook"

// deliverTimeout is above the longest time one batch can take: two rounds of 15 s, and recording.
const deliverTimeout = time.Minute

type deliverPayload struct {
	TenantID    workspaces.TenantID `json:"tenant_id"`
	EndpointID  webhooks.EndpointID `json:"endpoint_id"`
	DeliveryIDs []int64             `json:"delivery_ids"`
}

// DeliverWebhooks makes the tasks of due deliveries. Tasks are not retried: the deliveries
// say when they are due again.
func DeliverWebhooks(due []webhooks.Due, now time.Time) []queue.Task {
	batches := webhooks.Batches(due)
	tasks := make([]queue.Task, len(batches))
	for i, batch := range batches {
		tasks[i] = queue.Task{
			Type: DeliverWebhookType, ID: DeliverWebhookType + ":" + batch.Name + ":" + madeAt(now), Queue: queue.Deliver,
			TenantID: string(batch.TenantID), Timeout: deliverTimeout, MaxRetries: -1,
			Payload: deliverPayload{TenantID: batch.TenantID, EndpointID: batch.EndpointID, DeliveryIDs: batch.IDs},
		}
	}
	return tasks
}

// HandleDeliverWebhook sends deliveries and reports the attempts to observe.
func HandleDeliverWebhook(service *webhooks.Service, admit AdmitFunc, observe func(webhooks.Tally)) queue.HandlerFunc {
	return func(ctx context.Context, payload []byte) error {
		var p deliverPayload
		if err := decode(payload, &p); err != nil {
			return err
		}
		batch := webhooks.Batch{TenantID: p.TenantID, EndpointID: p.EndpointID, IDs: p.DeliveryIDs}
		leave, ok := admit(string(p.TenantID))
		if !ok {
			return service.Reschedule(ctx, batch)
		}
		defer leave()
		tally, err := service.Deliver(ctx, batch)
		observe(tally)
		return err
	}
}

// DueDeliveries finds due deliveries without a task.
type DueDeliveries struct{ Service *webhooks.Service }

// Due implements Finder.
func (d DueDeliveries) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error) {
	due, err := d.Service.Due(ctx, now, ask)
	if err != nil {
		return nil, err
	}
	return DeliverWebhooks(due, now), nil
}
