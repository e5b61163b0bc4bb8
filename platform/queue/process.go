package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/hibiken/asynq"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
)

const (
	retryFirst = time.Second
	retryMost  = 10 * time.Minute
)

// The results of a run, for metrics and logs.
const (
	resultDone   = "done"
	resultRetry  = "retry"
	resultFailed = "failed"
)

// verdict is a handler's error as asynq sees it. Redis gets the reason only, because the text may
// have data of tenants.
type verdict struct {
	reason     fault.Reason
	retryAfter time.Duration
	final      bool
}

func (v *verdict) Error() string { return string(v.reason) }

// Is makes a final verdict equal to asynq.SkipRetry.
func (v *verdict) Is(target error) bool { return v.final && target == asynq.SkipRetry }

// process runs a task, and decides and logs what becomes of it.
func (s *Server) process(ctx context.Context, task *asynq.Task) error {
	s.running.Add(1)
	defer s.running.Done()
	start := time.Now()
	ctx, span := s.startRun(ctx, task)
	err := s.handle(ctx, task)
	span.End(err)
	duration := time.Since(start)
	if err == nil {
		s.cfg.ObserveFunc(task.Type(), resultDone, duration)
		return nil
	}
	decided := fault.From(err)
	out := &verdict{reason: decided.Reason, retryAfter: decided.RetryAfter, final: !decided.Kind().Retryable()}
	result := resultRetry
	if out.final || lastRun(ctx) {
		result = resultFailed
	}
	s.cfg.ObserveFunc(task.Type(), result, duration)
	s.logFailure(ctx, task, err, result, duration)
	return out
}

// handle runs the handler and turns a panic into an error.
func (s *Server) handle(ctx context.Context, task *asynq.Task) (err error) {
	handler, ok := s.cfg.Handlers[task.Type()]
	if !ok {
		return fmt.Errorf("no handler for task type %q", task.Type())
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{cause: cause, stack: debug.Stack()}
		}
	}()
	return handler(ctx, task.Payload())
}

type panicError struct {
	cause any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.cause) }

// logFailure writes one record for a failed run. Its level is Error only when the fault is internal
// and the task is not retried.
func (s *Server) logFailure(ctx context.Context, task *asynq.Task, err error, result string, duration time.Duration) {
	decided := fault.From(err)
	id, _ := asynq.GetTaskID(ctx)
	queue, _ := asynq.GetQueueName(ctx)
	retried, _ := asynq.GetRetryCount(ctx)
	attrs := []slog.Attr{
		slog.String(telemetry.KeyTaskType, task.Type()), slog.String(telemetry.KeyTaskID, id), slog.String(telemetry.KeyQueue, queue),
		slog.Int(telemetry.KeyAttempt, retried+1), slog.Int64(telemetry.KeyDurationMS, duration.Milliseconds()),
		slog.String(telemetry.KeyReason, string(decided.Reason)), slog.String(telemetry.KeyError, err.Error()),
	}
	level := slog.LevelWarn
	panicked, isPanic := errors.AsType[*panicError](err)
	switch {
	case isPanic:
		level = slog.LevelError
		attrs = append(attrs, slog.String(telemetry.KeyStack, string(panicked.stack)))
	case result == resultFailed && decided.Kind() == fault.Internal:
		level = slog.LevelError
	case decided.Kind() == fault.Canceled:
		level = slog.LevelInfo // the worker stops, or the lease has expired
	}
	ctx = context.WithoutCancel(ctx)
	if result == resultFailed {
		s.cfg.Logger.LogAttrs(ctx, level, "task failed", attrs...)
		return
	}
	s.cfg.Logger.LogAttrs(ctx, level, "task will be retried", attrs...)
}

// lastRun says whether asynq does not run the task again, whatever it returns.
func lastRun(ctx context.Context) bool {
	retried, _ := asynq.GetRetryCount(ctx)
	most, _ := asynq.GetMaxRetry(ctx)
	return retried >= most
}

// retryDelay is how long a task waits after its n-th retry failed; 0 is the first run.
func retryDelay(n int, err error, _ *asynq.Task) time.Duration {
	if errors.Is(err, asynq.ErrLeaseExpired) {
		return 0 // its worker died at least a minute ago
	}
	if v, ok := errors.AsType[*verdict](err); ok && v.retryAfter > 0 {
		return v.retryAfter
	}
	delay := min(retryFirst<<min(n, 20), retryMost)
	return delay + rand.N(delay/4+1) //nolint:gosec // spreads retries
}
