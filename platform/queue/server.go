package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

const (
	defaultPollInterval = 150 * time.Millisecond
	// deliverPollInterval is most of the time from an event's commit to its receiver on an idle
	// system. It costs Redis 33 commands a second for each worker process, see decision 0032.
	deliverPollInterval = 30 * time.Millisecond
	// privacyPollInterval is long, because requests are rare and take seconds.
	privacyPollInterval = 500 * time.Millisecond
	// callPollInterval is a part of the time by which a call is late.
	callPollInterval = 250 * time.Millisecond
	// delayedInterval is how often asynq looks for tasks whose time to run has come.
	delayedInterval        = time.Second
	defaultShutdownTimeout = 20 * time.Second
	// strayTimeout is how long handlers that were cancelled may take to return.
	strayTimeout = 5 * time.Second
)

// HandlerFunc does the work of one type of task. See the package for what its error means.
type HandlerFunc func(ctx context.Context, payload []byte) error

// Pool is a number of workers and the queues they serve. Several pools keep long tasks of one kind
// from delaying short ones of another.
type Pool struct {
	// Concurrency is the number of tasks that run at once.
	Concurrency int
	// Weights say how often a queue is polled first, relative to the others of the pool.
	Weights map[Name]int
	// PollInterval is how often the pool looks for tasks while its queues are empty; 0 means 150
	// ms.
	PollInterval time.Duration
}

// DefaultPools serve every queue. Ingestion is bound by CPUs; deliveries and analyses wait for
// others.
func DefaultPools() []Pool {
	return []Pool{
		{Concurrency: 2, Weights: map[Name]int{Ingest: 1}},
		{Concurrency: 32, Weights: map[Name]int{Deliver: 1}, PollInterval: deliverPollInterval},
		{Concurrency: 8, Weights: map[Name]int{Analyse: 1}},
		{Concurrency: 2, Weights: map[Name]int{Privacy: 1}, PollInterval: privacyPollInterval},
		{Concurrency: 8, Weights: map[Name]int{Call: 1}, PollInterval: callPollInterval},
		{Concurrency: 8, Weights: map[Name]int{Default: 2, Sweep: 1}},
	}
}

// ServerConfig configures a Server.
type ServerConfig struct {
	Redis goredis.UniversalClient
	// Pools is DefaultPools when empty.
	Pools []Pool
	// Handlers by task type. A task of another type is retried, for a newer worker to run.
	Handlers map[string]HandlerFunc
	// ShutdownTimeout is how long running tasks may take to end; 0 means 20 s. The others go back
	// to the queue.
	ShutdownTimeout time.Duration
	Logger          *slog.Logger
	// Tracer makes a span of each run; nil: none are made.
	Tracer trace.TracerProvider
	// ObserveFunc gets every run: telemetry.Metrics.ObserveTask. It may be nil.
	ObserveFunc func(taskType, result string, duration time.Duration)
}

// Server runs tasks.
type Server struct {
	cfg     ServerConfig
	log     *asynqLogger
	running sync.WaitGroup
}

// NewServer makes a server; Run starts it.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Redis == nil || cfg.Logger == nil || len(cfg.Handlers) == 0 {
		return nil, errors.New("a queue server needs Redis, a logger and handlers")
	}
	if len(cfg.Pools) == 0 {
		cfg.Pools = DefaultPools()
	}
	for _, pool := range cfg.Pools {
		if pool.Concurrency < 1 || len(pool.Weights) == 0 {
			return nil, errors.New("a pool needs workers and queues")
		}
	}
	if cfg.ShutdownTimeout == 0 {
		cfg.ShutdownTimeout = defaultShutdownTimeout
	}
	if cfg.ObserveFunc == nil {
		cfg.ObserveFunc = func(string, string, time.Duration) {}
	}
	return &Server{cfg: cfg, log: newAsynqLogger(cfg.Logger, time.Now)}, nil
}

// Run works until ctx ends, then takes no more tasks, gives the running ones ShutdownTimeout, puts
// the rest back and returns nil. While Redis is away, also at the start, it keeps trying.
// Errors: handlers that did not return although they were cancelled.
func (s *Server) Run(ctx context.Context) error {
	var pools []*asynq.Server
	defer func() { stop(pools) }()
	for _, pool := range s.cfg.Pools {
		server := asynq.NewServerFromRedisClient(s.cfg.Redis, s.asynqConfig(pool))
		if err := server.Start(asynq.HandlerFunc(s.process)); err != nil {
			return fmt.Errorf("starting the workers: %w", err)
		}
		pools = append(pools, server)
	}
	<-ctx.Done()
	stop(pools)
	pools = nil
	return s.waitForStrays()
}

// stop ends all pools at the same time: each may take the whole ShutdownTimeout.
func stop(pools []*asynq.Server) {
	var group errgroup.Group
	for _, pool := range pools {
		group.Go(func() error { pool.Shutdown(); return nil })
	}
	_ = group.Wait() // none of them returns an error
}

// waitForStrays waits for handlers that asynq has cancelled and does not wait for any more.
func (s *Server) waitForStrays() error {
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	timer := time.NewTimer(strayTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return errors.New("stopping the workers: handlers did not return after they were cancelled")
	}
}

func (s *Server) asynqConfig(pool Pool) asynq.Config {
	weights := make(map[string]int, len(pool.Weights))
	for name, weight := range pool.Weights {
		weights[string(name)] = weight
	}
	return asynq.Config{
		Concurrency:              pool.Concurrency,
		Queues:                   weights,
		TaskCheckInterval:        cmp.Or(pool.PollInterval, defaultPollInterval),
		DelayedTaskCheckInterval: delayedInterval,
		ShutdownTimeout:          s.cfg.ShutdownTimeout,
		RetryDelayFunc:           retryDelay,
		Logger:                   s.log,
		LogLevel:                 asynq.WarnLevel,
	}
}
