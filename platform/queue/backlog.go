package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"
)

// Backlog is what a queue holds.
type Backlog struct {
	// Pending tasks wait for a worker, Running ones have one, Waiting ones are to run later.
	Pending, Running, Waiting int
	// Oldest is how long the task at the front has waited for a worker; 0: none waits.
	Oldest time.Duration
}

// Backlogs looks at every queue; one that never had a task is empty. It is for looking now and
// then, not before each task. Errors: Redis's.
func Backlogs(redis goredis.UniversalClient) (map[Name]Backlog, error) {
	inspector := asynq.NewInspectorFromRedisClient(redis) // its owner closes the client
	known, err := inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	found := map[Name]Backlog{}
	for _, name := range []Name{Default, Ingest, Deliver, Analyse, Call, Export, Sweep} {
		found[name] = Backlog{}
		if !slices.Contains(known, string(name)) {
			continue
		}
		info, err := inspector.GetQueueInfo(string(name))
		if err != nil {
			return nil, fmt.Errorf("look at queue %s: %w", name, err)
		}
		found[name] = Backlog{Pending: info.Pending, Running: info.Active, Waiting: info.Scheduled + info.Retry, Oldest: info.Latency}
	}
	return found, nil
}
