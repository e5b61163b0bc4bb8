package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"parlance.dev/parlance/server"
)

// serveDebug serves the profiles of the process on DEBUG_LISTEN, if it is set. Profiles contain no
// data of tenants, but making them slows the process down.
func (a *App) serveDebug(ctx context.Context) error {
	if a.Config.DebugListen == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.Config.DebugListen)
	if err != nil {
		return fmt.Errorf("listen on PARLANCE_DEBUG_LISTEN: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // the others by name: heap, goroutine, allocs, mutex
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return server.Serve(ctx, listener, mux, a.Config.ShutdownTimeout, a.log)
}

// DefaultMetricsListen is where a server serves its metrics unless METRICS_LISTEN says otherwise.
const DefaultMetricsListen = "127.0.0.1:9464"

// MetricsPublic as METRICS_LISTEN serves the metrics beside the API.
const MetricsPublic = "public"

// metricsListen returns the address of a server's own listener for metrics; "" is none.
func (a *App) metricsListen() string {
	if a.Config.MetricsListen == MetricsPublic || a.Config.MetricsListen == "off" {
		return ""
	}
	return a.Config.MetricsListen
}

// openMetrics listens on address, if it is set, and returns what serves /metrics and /healthz there
// until ctx ends.
func (a *App) openMetrics(ctx context.Context, address string) (serve func(context.Context) error, err error) {
	if address == "" {
		return func(context.Context) error { return nil }, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics (PARLANCE_METRICS_LISTEN; of a worker PARLANCE_WORKER_LISTEN): %w", err)
	}
	a.log.InfoContext(ctx, "metrics", slog.String("url", "http://"+listener.Addr().String()+"/metrics"))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return func(ctx context.Context) error {
		return server.Serve(ctx, listener, mux, a.Config.ShutdownTimeout, a.log)
	}, nil
}
