package task

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/queue"
)

// Sweeper finds work that should be on its way by now and is not known to be, as tasks: about
// ask.Room of them, in the order of their tenants' turns, with TenantID set.
type Sweeper interface {
	Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error)
}

// AdmitFunc takes a worker for a tenant, and returns how to give it back. When the tenant has its
// share already ok is false: the work is put off.
type AdmitFunc func(tenantID string) (leave func(), ok bool)

// idWindow is how long a task's id stays taken at most: a worker that was killed keeps a task
// for up to two minutes, and the work must not wait for it.
const idWindow = 30 * time.Second

// window is the part of a task's id that changes with time.
func window(now time.Time) string {
	return strconv.FormatInt(now.Unix()/int64(idWindow/time.Second), 10)
}

// decode reads a payload of ours. One that is not is given up: it will not get better.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "The task's payload is not understood.")
	}
	return nil
}
