package queue

import (
	"fmt"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"
)

// Workers counts the pools that said within the last seconds that they take tasks; one worker
// process has several.
func Workers(redis goredis.UniversalClient) (int, error) {
	servers, err := asynq.NewInspectorFromRedisClient(redis).Servers() // its owner closes the client
	if err != nil {
		return 0, fmt.Errorf("asking the queue for its workers: %w", err)
	}
	return len(servers), nil
}
