package queue

import (
	"cmp"
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
	infos, err := Infos(redis, names...)
	if err != nil {
		return nil, err
	}
	found := map[Name]Backlog{}
	for _, i := range infos {
		found[i.Name] = Backlog{Pending: i.Pending, Running: i.Active, Waiting: i.Scheduled + i.Retrying, Oldest: i.Latency}
	}
	return found, nil
}

// Info is what a queue holds, and what it has done.
type Info struct {
	Name Name
	// Pending tasks wait for a worker, Active ones have one. Scheduled tasks wait for their time,
	// Retrying ones have failed and wait for the next attempt, Archived ones were given up.
	Pending, Active, Scheduled, Retrying, Archived int
	// ProcessedToday is how many have ended since midnight UTC, FailedToday how many of them failed.
	ProcessedToday, FailedToday int
	// Latency is how long the first task has waited for a worker; 0: none waits.
	Latency time.Duration
	// Paused says that workers take no tasks of it.
	Paused bool
}

// Infos reads the named queues, in their order. A queue that never had a task is empty. Errors:
// Redis's.
func Infos(redis goredis.UniversalClient, names ...Name) ([]Info, error) {
	inspector := asynq.NewInspectorFromRedisClient(redis) // its owner closes the client
	known, err := inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	infos := make([]Info, len(names))
	for i, name := range names {
		infos[i].Name = name
		if !slices.Contains(known, string(name)) {
			continue
		}
		info, err := inspector.GetQueueInfo(string(name))
		if err != nil {
			return nil, fmt.Errorf("look at queue %s: %w", name, err)
		}
		infos[i] = Info{
			Name: name, Pending: info.Pending, Active: info.Active, Scheduled: info.Scheduled, Retrying: info.Retry,
			Archived: info.Archived, ProcessedToday: info.Processed, FailedToday: info.Failed, Latency: info.Latency, Paused: info.Paused,
		}
	}
	return infos, nil
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

// Process is a process that takes tasks.
type Process struct {
	Host string
	PID  int
	// StartedAt is when the first of its pools started.
	StartedAt time.Time
	// Concurrency is how many tasks it does at once at most, Active how many it does.
	Concurrency, Active int
	// Queues are those that it takes tasks of, by name.
	Queues []Name
}

// Processes returns the processes that reported within the last seconds that they take tasks, by
// host and process id. Errors: Redis's.
func Processes(redis goredis.UniversalClient) ([]Process, error) {
	pools, err := asynq.NewInspectorFromRedisClient(redis).Servers() // its owner closes the client
	if err != nil {
		return nil, fmt.Errorf("asking the queue for its workers: %w", err)
	}
	var processes []Process
	for _, pool := range pools {
		at := slices.IndexFunc(processes, func(p Process) bool { return p.Host == pool.Host && p.PID == pool.PID })
		if at < 0 {
			at = len(processes)
			processes = append(processes, Process{Host: pool.Host, PID: pool.PID, StartedAt: pool.Started})
		}
		p := &processes[at]
		if pool.Started.Before(p.StartedAt) {
			p.StartedAt = pool.Started
		}
		p.Concurrency += pool.Concurrency
		p.Active += len(pool.ActiveWorkers)
		for name := range pool.Queues {
			p.Queues = append(p.Queues, Name(name))
		}
	}
	for i := range processes {
		slices.Sort(processes[i].Queues)
		processes[i].Queues = slices.Compact(processes[i].Queues)
	}
	slices.SortFunc(processes, func(a, b Process) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.PID, b.PID)) })
	return processes, nil
}
