package app

import (
	"context"
	"fmt"
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
