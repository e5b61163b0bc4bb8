package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Without these a Redis that stops answering holds a caller for ever.
const (
	dialTimeout  = 3 * time.Second
	readTimeout  = 3 * time.Second
	writeTimeout = 3 * time.Second
	pingTimeout  = 2 * time.Second
)

// Config says which Redis to use.
type Config struct {
	// URL is redis://, rediss:// or unix:///path/redis.sock?db=0; time-outs in its query win over ours.
	URL string
	// PoolSize bounds the connections; 0 means ten for each CPU, or pool_size of the URL.
	PoolSize int
}

// Open makes a client. It connects when it is first used: a process must start without Redis.
// The only error is a URL that is not understood; it does not hold the URL's password.
func Open(cfg Config) (*goredis.Client, error) {
	options, err := goredis.ParseURL(cfg.URL)
	if err != nil {
		// The cause would print the URL, password included.
		return nil, errors.New("the Redis URL is not understood: use redis://, rediss:// or unix://")
	}
	options.DialTimeout = orDefault(options.DialTimeout, dialTimeout)
	options.ReadTimeout = orDefault(options.ReadTimeout, readTimeout)
	options.WriteTimeout = orDefault(options.WriteTimeout, writeTimeout)
	options.ContextTimeoutEnabled = true // a caller's deadline ends its command
	if cfg.PoolSize > 0 {
		options.PoolSize = cfg.PoolSize
	}
	if options.ClientName == "" {
		options.ClientName = "parlance"
	}
	// They are for Redis's own cloud and cost a round trip a connection.
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return goredis.NewClient(options), nil
}

// Ping asks Redis for an answer within two seconds; for readiness and doctor.
func Ping(ctx context.Context, client goredis.UniversalClient) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("asking Redis: %w", err)
	}
	return nil
}

func orDefault(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return d
}
