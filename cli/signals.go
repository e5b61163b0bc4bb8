package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// secondSignal returns a context that ends when a person asks twice to stop, while the first
// request is main's. Until release is called, a signal does not end the process: whoever holds
// servers of its own needs the time to stop them. A closed terminal counts as asking, unless
// the process was started to outlive it.
func secondSignal(ctx context.Context, cancel context.CancelFunc) (hurry context.Context, release func()) {
	hurry, end := context.WithCancel(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 2) // two are all that is counted
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

// onHangUp runs do at each SIGHUP until ctx ends, in place of ending the process.
func onHangUp(ctx context.Context, do func()) {
	signals := make(chan os.Signal, 1) // one that is waiting stands for all
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
				do()
			case <-ctx.Done():
				return
			}
		}
	}()
}
