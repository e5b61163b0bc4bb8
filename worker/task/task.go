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

// Finder finds due work without a task. Due returns tasks for about ask.Room pieces of it, tenants
// in round robin, with TenantID set.
type Finder interface {
	Due(ctx context.Context, now time.Time, ask fair.Ask) ([]queue.Task, error)
}

// AdmitFunc takes a worker for a tenant, and returns how to give it back. ok is false when the
// tenant has its share of the workers: the work is put off.
type AdmitFunc func(tenantID string) (leave func(), ok bool)

// madeAt is the part of a task's id that differs between tasks for the same work. A Finder returns
// work once in a while and to one process, so the id need not keep others from making the task. It
// must not be that of an earlier task, whose id may be taken: of one that is just ending, or whose
// worker was killed, which asynq notices after up to two minutes.
func madeAt(now time.Time) string { return strconv.FormatInt(now.UnixMicro(), 36) }

// decode reads a payload. A task whose payload cannot be read is given up.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fault.Wrap(err, fault.InvalidRequest, "The task's payload is not understood.")
	}
	return nil
}
