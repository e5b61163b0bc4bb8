// Command parlance runs and talks to a Parlance installation; see `parlance --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"parlance.dev/parlance/cli"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // then a second signal ends the process, unless a command handles it
	return cli.Execute(ctx, cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:])
}
