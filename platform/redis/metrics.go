package redis

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	goredis "github.com/redis/go-redis/v9"
)

// CountErrors counts the client's commands that failed; answers that say "nothing there" and
// callers that gave up are none.
func CountErrors(client goredis.UniversalClient, registry prometheus.Registerer) {
	failed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "parlance_redis_errors_total", Help: "Commands that Redis did not answer, or with an error.",
	})
	registry.MustRegister(failed)
	client.AddHook(errorHook{failed})
}

type errorHook struct{ failed prometheus.Counter }

// DialHook implements goredis.Hook; a connection that cannot be made is its command's error.
func (h errorHook) DialHook(next goredis.DialHook) goredis.DialHook { return next }

// ProcessHook implements goredis.Hook.
func (h errorHook) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, command goredis.Cmder) error {
		err := next(ctx, command)
		h.count(err)
		return err
	}
}

// ProcessPipelineHook implements goredis.Hook.
func (h errorHook) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, commands []goredis.Cmder) error {
		err := next(ctx, commands)
		h.count(err)
		return err
	}
}

func (h errorHook) count(err error) {
	if err != nil && !errors.Is(err, goredis.Nil) && !errors.Is(err, context.Canceled) && !goredis.HasErrorPrefix(err, "NOSCRIPT") {
		h.failed.Inc()
	}
}
