package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
)

const (
	// healthTimeout is longer than the server's own checks take (2 s).
	healthTimeout = 4 * time.Second
	// maxHealthBytes limits how much of the answer is shown.
	maxHealthBytes = 4 << 10
)

func newHealth() *cobra.Command {
	var worker, live bool
	cmd := &cobra.Command{
		Use: "health", Short: "Ask the server or worker beside this command whether it is well; for health checks of " +
			"containers", GroupID: "admin", Args: command.ExactArgs(),
		Long: `Asks the process that listens on PARLANCE_LISTEN (with --worker: PARLANCE_WORKER_LISTEN) on this
machine, prints what it says, and exits with 0 when it is well and 1 when it is not.

To look at a whole deployment, and to be told what to do: parlance doctor.`,
		Example: `  parlance health             a server: /readyz
  parlance health --live      a server: /healthz
  parlance health --worker    a worker: /healthz`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := command.LoadConfig(cmd)
			if err != nil {
				return err
			}
			url, socket, err := healthURL(config, worker, live)
			if err != nil {
				return command.Usage(err)
			}
			return askHealth(cmd.Context(), cmd.OutOrStdout(), url, socket)
		},
	}
	cmd.Flags().BoolVar(&worker, "worker", false, "ask a worker")
	cmd.Flags().BoolVar(&live, "live", false, "ask only whether the process lives, not whether Postgres, Redis and the bucket answer")
	command.AddSettings(cmd)
	return cmd
}

// healthURL returns the address of the process, and the path of its Unix socket if it has one.
func healthURL(config app.Config, worker, live bool) (url, socket string, err error) {
	address, path, scheme := config.Listen, "/readyz", "http"
	switch {
	case worker && config.WorkerListen == "":
		return "", "", errors.New("PARLANCE_WORKER_LISTEN is not set (or --worker-listen): a worker answers only when it is")
	case worker:
		address, path = config.WorkerListen, "/healthz"
	default:
		if live {
			path = "/healthz"
		}
		if config.TLSCertFile != "" {
			scheme = "https"
		}
	}
	if socket, ok := strings.CutPrefix(address, "unix://"); ok {
		return scheme + "://localhost" + path, socket, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", "", fmt.Errorf("%q is not host:port", address)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + path, "", nil
}

// askHealth prints the answer. It returns an error for any status other than 2xx.
func askHealth(ctx context.Context, out io.Writer, url, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	// The process is on this machine, and its certificate names the public host.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	if socket != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("nothing answers: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthBytes))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", url, err)
	}
	said := strings.TrimSpace(string(body))
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s: %s", url, response.Status, said)
	}
	if said == "" {
		said = response.Status
	}
	_, err = fmt.Fprintln(out, said)
	return err
}
