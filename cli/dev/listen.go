package dev

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	"parlance.dev/parlance/cli/command"
)

// defaultPort is the default of --port.
const defaultPort = 8080

// listen listens on host:port; port 0 is any free port. When the port is taken, the error names a
// free one.
func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, command.Usagef("--port must be from 0 (any free one) to 65535, not %d", port)
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if !errors.Is(err, syscall.EADDRINUSE) {
		return listener, err
	}
	free := "0"
	for next := port + 1; next <= port+50; next++ {
		if probe, err := listening.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(next))); err == nil {
			_ = probe.Close() // only to see that it is free
			free = strconv.Itoa(next)
			break
		}
	}
	return nil, command.Usagef("port %d is taken by another program: use --port %s (0 is any free port)", port, free)
}

// urlOf returns the URL of a listener for callers on this machine.
func urlOf(addr net.Addr, secure bool) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return scheme + "://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
