// Command stack runs a private Postgres and Redis until it is interrupted, for scripts that try
// deployments. It writes DATABASE_URL and REDIS_URL as a shell would read them:
//
//	go run ./test/stack -dir /var/tmp/try -env /var/tmp/try.env
//
// The file is there once both answer. The servers listen on unix sockets only, their data lies in
// -dir and stays there.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/devstack"
)

// stopTimeout is more than a fast shutdown of Postgres takes.
const stopTimeout = 20 * time.Second

func main() {
	dir := flag.String("dir", "", "directory for the data")
	env := flag.String("env", "", "file to write the URLs to")
	flag.Parse()
	if err := run(*dir, *env); err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1)
	}
}

func run(dir, env string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // the servers' account passes through
		return err
	}
	stack, err := devstack.Start(ctx, devstack.Options{DataDir: dir, Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }})
	if err != nil {
		return err
	}
	content := fmt.Sprintf("DATABASE_URL='%s'\nREDIS_URL='%s'\n", stack.DatabaseURL, stack.RedisURL)
	if err = os.WriteFile(env+".new", []byte(content), 0o600); err == nil {
		err = os.Rename(env+".new", env) // whole or not at all
	}
	if err == nil {
		<-ctx.Done()
	}
	stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if stopped := stack.Stop(stopping); err == nil {
		err = stopped
	}
	return err
}
