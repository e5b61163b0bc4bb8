package dev

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// secondSignal returns a context that ends at the second signal to stop. The first signal calls
// cancel. Until release is called no signal ends the process, so that it can stop its private
// servers. SIGHUP counts as a signal to stop unless the process was started to ignore it.
func secondSignal(ctx context.Context, cancel context.CancelFunc) (hurry context.Context, release func()) {
	hurry, end := context.WithCancel(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 2) // only two signals are counted
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		for asked := 0; asked < 2; asked++ {
			select {
			case <-signals:
				cancel()
			case <-hurry.Done():
			}
		}
		end()
		close(done)
	}()
	return hurry, func() {
		signal.Stop(signals)
		end()
		<-done
	}
}
