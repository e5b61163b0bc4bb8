package redis

import (
	"context"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const noncePrefix = "parlance:nonce:"

// PutNonce stores a nonce for a while. A caller that shows it to a process on the same Redis
// belongs to the same installation.
func PutNonce(ctx context.Context, client goredis.UniversalClient, nonce string, life time.Duration) error {
	if err := client.Set(ctx, noncePrefix+nonce, 1, life).Err(); err != nil {
		return fmt.Errorf("leaving a nonce in Redis: %w", err)
	}
	return nil
}

// HasNonce says whether PutNonce left this nonce, and it has not run out.
func HasNonce(ctx context.Context, client goredis.UniversalClient, nonce string) (bool, error) {
	count, err := client.Exists(ctx, noncePrefix+nonce).Result()
	if err != nil {
		return false, fmt.Errorf("looking for a nonce in Redis: %w", err)
	}
	return count > 0, nil
}
