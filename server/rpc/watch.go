package rpc

import (
	"context"

	"parlance.dev/parlance/fault"
)

// Stopping ends streams that have no end of their own when the server begins to stop: it would
// wait for them as long as it waits for an answer, and then break them off. The zero value never
// stops.
type Stopping struct {
	life context.Context //nolint:containedctx // the server's, which no stream's context spans
}

// NewStopping makes a Stopping of a server that stops when ctx ends.
func NewStopping(ctx context.Context) Stopping { return Stopping{life: ctx} }

// watch runs fn until the server begins to stop. Errors: those of fn; Unavailable unavailable, for
// the caller to come back to another server.
func (s Stopping) watch(ctx context.Context, fn func(context.Context) error) error {
	if s.life == nil {
		return fn(ctx)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	detach := context.AfterFunc(s.life, cancel)
	err := fn(watching)
	if !detach() && ctx.Err() == nil { // the server is stopping, and the caller still there
		return fault.New(fault.ServiceUnavailable, "The server is stopping. Come back after what you have read last.")
	}
	return err
}
