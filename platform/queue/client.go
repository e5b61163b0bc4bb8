package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/telemetry"
)

// Name is a queue.
type Name string

// The queues. A Pool says which of them share workers.
const (
	Default Name = "default"
	Ingest  Name = "ingest"
	Deliver Name = "deliver"
	Analyse Name = "analyse"
	Privacy Name = "privacy"
	Call    Name = "call"
	Sweep   Name = "sweep"
)

// Names lists the queues.
func Names() []Name { return []Name{Default, Ingest, Deliver, Analyse, Privacy, Call, Sweep} }

const (
	defaultMaxRetries = 10
	defaultTimeout    = 10 * time.Minute
)

// Task is work for a worker. Only Type and ID are required.
type Task struct {
	// Type chooses the handler: "ingest_source".
	Type string
	// ID is made from what the task is about and its attempt ("ingest_source:src_…:1"). A second
	// task with the ID of one that is waiting or running is not made.
	ID string
	// Queue is Default when empty.
	Queue Name
	// Payload is marshalled to JSON. It holds ids, never secrets or texts: Redis does not encrypt
	// it.
	Payload any
	// At is when to run it; the zero time means now.
	At time.Time
	// Timeout bounds one run; 0 means 10 minutes. Whole seconds.
	Timeout time.Duration
	// MaxRetries after the first run; 0 means 10. Negative means none.
	MaxRetries int
	// TenantID and WorkspaceID are for the log; empty: the work of several, or unknown.
	TenantID, WorkspaceID string
	// Origin is what caused the work; zero: the ctx of Enqueue.
	Origin telemetry.Origin
	// OwnTrace gives the task a trace of its own, linked to the origin's.
	OwnTrace bool
}

// Client makes tasks.
type Client struct {
	asynq *asynq.Client
}

// NewClient makes a client over a connection that its owner closes.
func NewClient(redis goredis.UniversalClient) *Client {
	return &Client{asynq: asynq.NewClientFromRedisClient(redis)}
}

// Enqueue makes a task, which continues the trace and has the request id of ctx. When its ID is
// taken it succeeds: another process made the task.
func (c *Client) Enqueue(ctx context.Context, task Task) error {
	if task.Type == "" || task.ID == "" {
		return errors.New("a task needs a type and an id")
	}
	payload, err := json.Marshal(task.Payload)
	if err != nil {
		return fmt.Errorf("encoding the payload of task %s: %w", task.ID, err)
	}
	_, err = c.asynq.EnqueueContext(ctx, asynq.NewTaskWithHeaders(task.Type, payload, headers(ctx, task)), options(task)...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueueing task %s: %w", task.ID, err)
	}
	return nil
}

func options(task Task) []asynq.Option {
	options := []asynq.Option{
		asynq.TaskID(task.ID), asynq.Queue(string(cmp.Or(task.Queue, Default))),
		asynq.Timeout(max(cmp.Or(task.Timeout, defaultTimeout), time.Second)),
		asynq.MaxRetry(max(cmp.Or(task.MaxRetries, defaultMaxRetries), 0)),
	}
	if !task.At.IsZero() {
		options = append(options, asynq.ProcessAt(task.At))
	}
	return options
}
