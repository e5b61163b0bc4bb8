package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/test/bench/rig"
)

// hookUsage is what deliveries cost.
type hookUsage struct{ worker, postgres, redis time.Duration }

func (u hookUsage) minus(before hookUsage) hookUsage {
	return hookUsage{u.worker - before.worker, u.postgres - before.postgres, u.redis - before.redis}
}

func (u hookUsage) plus(more hookUsage) hookUsage {
	return hookUsage{u.worker + more.worker, u.postgres + more.postgres, u.redis + more.redis}
}

func (u hookUsage) all() time.Duration { return u.worker + u.postgres + u.redis }

func (u hookUsage) per(count float64) string {
	return fmt.Sprintf("ms each, of the worker %.2f, of Postgres %.2f, of Redis %.2f", millis(u.worker)/count,
		millis(u.postgres)/count, millis(u.redis)/count)
}

// usage is what they have spent so far.
func (s *station) usage() (u hookUsage, err error) {
	if u.worker, err = ownCPU(s.w.worker); err != nil {
		return u, err
	}
	if u.postgres, err = s.w.PostgresCPU(); err != nil {
		return u, err
	}
	redis, err := rig.CPUOf(s.redis)
	u.redis = redis.Own
	return u, err
}

// redisProcess is the number of Redis's process.
func (w *world) redisProcess(ctx context.Context) (int, error) {
	options, err := redis.ParseURL(w.Stack.RedisURL)
	if err != nil {
		return 0, fmt.Errorf("reading the address of Redis: %w", err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }() // nothing is in flight
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return 0, fmt.Errorf("asking Redis for its process: %w", err)
	}
	_, rest, _ := strings.Cut(info, "process_id:")
	number, _, _ := strings.Cut(rest, "\r")
	return strconv.Atoi(number)
}
