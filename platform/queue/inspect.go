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
	// Oldest is how long the first task has waited for a worker; 0: none waits.
	Oldest time.Duration
}

// Backlogs reads the named queues. A queue that never had a task is empty. Errors: Redis's.
func Backlogs(redis goredis.UniversalClient, names ...Name) (map[Name]Backlog, error) {
	inspector := asynq.NewInspectorFromRedisClient(redis) // its owner closes the client
	known, err := inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	found := map[Name]Backlog{}
	for _, name := range names {
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

// Pending is how many tasks of the queue wait for a worker. It costs Redis about 50 µs. Errors:
// Redis's.
func Pending(redis goredis.UniversalClient, name Name) (int, error) {
	found, err := Backlogs(redis, name)
	return found[name].Pending, err
}

// Workers counts the pools that reported within the last seconds that they take tasks. A worker
// process has several pools.
func Workers(redis goredis.UniversalClient) (int, error) {
	servers, err := asynq.NewInspectorFromRedisClient(redis).Servers() // its owner closes the client
	if err != nil {
		return 0, fmt.Errorf("asking the queue for its workers: %w", err)
	}
	return len(servers), nil
}
