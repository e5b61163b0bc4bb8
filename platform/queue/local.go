package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
)

// local is what runs in this process without having been in Redis.
type local struct {
	mu sync.Mutex
	// open says that Attend runs.
	open    bool
	next    int
	cancels map[int]context.CancelFunc
	running sync.WaitGroup
	// freed has a word when a place has become free.
	freed chan struct{}
}

// TryRun runs a task in this process at once, without the way through Redis, and says whether it
// does: not when ServerConfig.Local tasks run like that already, or Attend does not run. It returns
// before the task has ended. The task is run once, whatever comes of it, and is lost with the
// process: only for work that its owner finds again. Its id, queue and retries mean nothing here.
func (s *Server) TryRun(ctx context.Context, task Task) (bool, error) {
	payload, err := json.Marshal(task.Payload)
	if err != nil {
		return false, fmt.Errorf("writing the payload of task %s: %w", task.ID, err)
	}
	running, leave := s.local.enter(context.WithoutCancel(ctx), s.cfg.Local, task.Timeout)
	if leave == nil {
		return false, nil
	}
	made := asynq.NewTaskWithHeaders(task.Type, payload, headers(ctx, task))
	go func() {
		defer leave()
		_ = s.perform(running, made) // logged there; nobody runs it again
	}()
	return true, nil
}

// Room is how many tasks TryRun would run beside those it runs.
func (s *Server) Room() int {
	s.local.mu.Lock()
	defer s.local.mu.Unlock()
	if !s.local.open {
		return 0
	}
	return max(0, s.cfg.Local-len(s.local.cancels))
}

// Freed has a word when one of TryRun's tasks has ended since it was read last. It is for one reader.
func (s *Server) Freed() <-chan struct{} { return s.local.freed }

// Attend lets TryRun run tasks until ctx ends, then gives those that run ShutdownTimeout to end in.
// It fails when some did not return although they were cancelled.
func (s *Server) Attend(ctx context.Context) error {
	s.local.mu.Lock()
	s.local.open = true
	s.local.mu.Unlock()
	<-ctx.Done()
	s.local.mu.Lock()
	s.local.open = false
	s.local.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.local.running.Wait(); close(ended) }()
	if within(s.cfg.ShutdownTimeout, ended) {
		return nil
	}
	s.local.cancelAll()
	if within(strayTimeout, ended) {
		return nil
	}
	return errors.New("stopping: handlers did not return after they were cancelled")
}

// enter takes one of the places; leave is nil when there is none.
func (l *local) enter(ctx context.Context, places int, timeout time.Duration) (_ context.Context, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || len(l.cancels) >= places {
		return nil, nil
	}
	if timeout == 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	if l.cancels == nil {
		l.cancels = map[int]context.CancelFunc{}
	}
	l.next++
	number := l.next
	l.cancels[number] = cancel
	l.running.Add(1)
	return ctx, func() {
		cancel()
		l.mu.Lock()
		delete(l.cancels, number)
		l.mu.Unlock()
		select {
		case l.freed <- struct{}{}:
		default:
		}
		l.running.Done()
	}
}

func (l *local) cancelAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cancel := range l.cancels {
		cancel()
	}
}

// within waits for done, so long at most.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
