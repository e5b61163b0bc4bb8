package worker

import (
	"context"

	"parlance.dev/parlance/worker/task"
)

// sweepLimit is how much work one run of a sweep finds at most.
const sweepLimit = 1000

// sweep makes tasks for work that has none. What could not be made is found again later.
func (w *Worker) sweep(ctx context.Context, sweeper task.Sweeper) error {
	tasks, err := sweeper.Due(ctx, w.now().UTC(), sweepLimit)
	if err != nil {
		return err
	}
	return w.enqueue(ctx, tasks)
}
