package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/telemetry"
)

// PeriodicTask is a task that is made every interval. Schedulers of several processes make it once:
// while it waits or runs no other scheduler makes it. It is not retried.
type PeriodicTask struct {
	// Type chooses the handler.
	Type string
	// Queue is where it waits.
	Queue Name
	// Every is the interval; whole seconds.
	Every time.Duration
	// Timeout bounds one run; whole seconds.
	Timeout time.Duration
}

func (p PeriodicTask) options() []asynq.Option {
	return []asynq.Option{
		asynq.Queue(string(p.Queue)), asynq.Timeout(p.Timeout), asynq.MaxRetry(0), asynq.Unique(p.Every),
	}
}

// SchedulerConfig configures RunScheduler.
type SchedulerConfig struct {
	Redis  goredis.UniversalClient
	Tasks  []PeriodicTask
	Logger *slog.Logger
}

// RunScheduler makes each task at once and then every interval until ctx ends. What cannot be made
// because Redis is away is logged and left out.
func RunScheduler(ctx context.Context, cfg SchedulerConfig) error {
	note := func(_ *asynq.TaskInfo, err error) {
		if err != nil && !errors.Is(err, asynq.ErrDuplicateTask) && ctx.Err() == nil {
			cfg.Logger.WarnContext(ctx, "periodic task not made", telemetry.KeyError, err)
		}
	}
	scheduler := asynq.NewSchedulerFromRedisClient(cfg.Redis, &asynq.SchedulerOpts{
		PostEnqueueFunc: note,
		LogLevel:        asynq.FatalLevel, // it reports as an error that it does not close the client, which is its owner's
	})
	client := asynq.NewClientFromRedisClient(cfg.Redis)
	for _, task := range cfg.Tasks {
		made := asynq.NewTask(task.Type, nil)
		if _, err := scheduler.Register("@every "+task.Every.String(), made, task.options()...); err != nil {
			return fmt.Errorf("schedule %s: %w", task.Type, err)
		}
		note(client.EnqueueContext(ctx, made, task.options()...))
	}
	if err := scheduler.Start(); err != nil {
		return fmt.Errorf("starting the scheduler: %w", err)
	}
	<-ctx.Done()
	scheduler.Shutdown()
	return nil
}
