package rpc

import (
	"context"

	"parlance.dev/parlance/fault"
)

// Stopping ends streams that have no end of their own when the server begins to stop: it would wait for
// them as long as it waits for an answer, and then break them off. The zero value never stops.
type Stopping struct{ done <-chan struct{} }

// NewStopping makes a Stopping of a server that stops when ctx ends.
func NewStopping(ctx context.Context) Stopping { return Stopping{done: ctx.Done()} }

// watch runs fn until the server begins to stop. Errors: those of fn; Unavailable unavailable, for the caller
// to come back to another server.
func (s Stopping) watch(ctx context.Context, fn func(context.Context) error) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan bool, 1)
	go func() {
		select {
		case <-s.done:
			cancel()
			stopped <- true
		case <-watching.Done():
			stopped <- false
		}
	}()
	err := fn(watching)
	cancel()
	if <-stopped && ctx.Err() == nil {
		return fault.New(fault.ServiceUnavailable, "The server is stopping. Come back after what you have read last.")
	}
	return err
}
