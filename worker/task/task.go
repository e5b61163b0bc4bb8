package task

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/queue"
)

// Sweeper finds up to limit pieces of work that should be on their way by now and are not known
// to be, as tasks.
type Sweeper interface {
	Due(ctx context.Context, now time.Time, limit int) ([]queue.Task, error)
}

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
