// Command stack runs a private Postgres and Redis until it is interrupted, for scripts that try
// deployments. It writes DATABASE_URL and REDIS_URL as a shell would read them:
//
//	go run ./test/stack -dir /var/tmp/try -env /var/tmp/try.env
//
// The file is there once both answer. Their data lies in -dir and stays there. The servers listen
// on unix sockets of their own user; the URLs name ports on loopback that lead to them, so that
// any user gets through.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
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
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	log := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	if err := devstack.InstallTools(ctx, devstack.Options{Tools: devstack.DocumentTools(), Log: log}); err != nil {
		return err
	}
	stack, err := devstack.Start(ctx, devstack.Options{DataDir: dir, Log: log})
	if err != nil {
		return err
	}
	content, err := publish(ctx, stack)
	if err == nil {
		err = os.WriteFile(env+".new", []byte(content), 0o600)
	}
	if err == nil {
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

// publish opens a port for each server and returns the file's content.
func publish(ctx context.Context, stack *devstack.Stack) (string, error) {
	database, err := url.Parse(stack.DatabaseURL)
	if err != nil {
		return "", err
	}
	cache, err := url.Parse(stack.RedisURL)
	if err != nil {
		return "", err
	}
	query := database.Query()
	postgres, err := forward(ctx, filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port")))
	if err != nil {
		return "", err
	}
	redis, err := forward(ctx, cache.Path)
	return fmt.Sprintf("DATABASE_URL='postgres://%s@%s%s?sslmode=disable'\nREDIS_URL='redis://%s/0'\n",
		query.Get("user"), postgres, database.Path, redis), err
}

// forward hands connections to a port of loopback on to a socket, until ctx ends.
func forward(ctx context.Context, socket string) (address string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() }) // ends accept
	go func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			go join(ctx, outer, socket) // ends with either side, or with the program
		}
	}()
	return listener.Addr().String(), nil
}

// join copies in both directions until one side ends.
func join(ctx context.Context, outer net.Conn, socket string) {
	defer func() { _ = outer.Close() }() // the other side has ended
	inner, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return // the caller sees a closed connection
	}
	defer func() { _ = inner.Close() }() // as above
	done := make(chan struct{}, 2)       // both, so that neither waits for a reader
	for _, way := range [][2]net.Conn{{inner, outer}, {outer, inner}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // an end is an end
			done <- struct{}{}
		}()
	}
	<-done
}
