package rpc

import (
	"context"

	"parlance.dev/parlance/fault"
)

// Stopping ends endless streams when the server begins to stop. Otherwise the server would wait
// for them until its drain time is over, and then break them off. The zero value never stops.
type Stopping struct {
	life context.Context //nolint:containedctx // the server's life, which is longer than any request's
}

// NewStopping makes the Stopping of a server that stops when ctx ends.
func NewStopping(ctx context.Context) Stopping { return Stopping{life: ctx} }

// watch runs fn until the server begins to stop. Errors: those of fn; Unavailable unavailable, so
// that the caller connects to another server.
func (s Stopping) watch(ctx context.Context, fn func(context.Context) error) error {
	if s.life == nil {
		return fn(ctx)
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	detach := context.AfterFunc(s.life, cancel)
	err := fn(watching)
	if !detach() && ctx.Err() == nil { // the server stops while the caller is connected
		return fault.New(fault.ServiceUnavailable, "The server is stopping. Come back after what you have read last.")
	}
	return err
}
