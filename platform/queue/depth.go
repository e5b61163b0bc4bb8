package queue

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"
)

// pendingKey is asynq's list of the tasks of a queue that wait for a worker. Its own Inspector
// measures memory each time it is asked, which is too dear for what is asked before each hand-over.
func pendingKey(name Name) string { return "asynq:{" + string(name) + "}:pending" }

// Depths tells how long queues are.
type Depths struct {
	redis goredis.UniversalClient
}

// NewDepths makes one over a connection that its owner closes.
func NewDepths(redis goredis.UniversalClient) *Depths { return &Depths{redis: redis} }

// Pending is how many tasks of the queue wait for a worker; those that are running, or are to
// wait for a time, are not among them. Errors: Redis's.
func (d *Depths) Pending(ctx context.Context, name Name) (int, error) {
	n, err := d.redis.LLen(ctx, pendingKey(name)).Result()
	if err != nil {
		return 0, fmt.Errorf("length of queue %s: %w", name, err)
	}
	return int(n), nil
}
