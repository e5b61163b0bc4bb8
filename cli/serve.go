package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/server"
	"parlance.dev/parlance/sqlmigrations"
)

// production names the settings without which server and worker do not start.
var production = []string{"DATABASE_URL", "REDIS_URL", "BLOB_URL", "MASTER_KEY_FILE"}

func newServer() *cobra.Command {
	cmd := &cobra.Command{
		Use: "server", Short: "Answer requests and sockets; run any number of them", GroupID: "run", Args: command.ExactArgs(),
		Long: `Answers every protocol on one port. Needs a migrated database (parlance migrate up) and at
least one parlance worker beside it.

SIGTERM and Ctrl-C stop it in order: requests that run are finished first. A second one ends
it at once.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opened, err := openProduction(cmd, "server")
			if err != nil {
				return err
			}
			listener, err := listen(cmd.Context(), opened.Config)
			if err != nil {
				return command.Close(opened, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Listening on %s.\n", listener.Addr())
			return command.Close(opened, opened.Serve(cmd.Context(), listener))
		},
	}
	command.AddSettings(cmd)
	return cmd
}

func newWorker() *cobra.Command {
	cmd := &cobra.Command{
		Use: "worker", Short: "Ingest sources, deliver webhooks, end idle sessions; run any number of them", GroupID: "run",
		Args: command.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opened, err := openProduction(cmd, "worker")
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "Working.")
			return command.Close(opened, opened.Work(cmd.Context()))
		},
	}
	command.AddSettings(cmd)
	return cmd
}

// openProduction opens the parts of a server or worker on a database with this version's schema.
func openProduction(cmd *cobra.Command, component string) (*app.App, error) {
	tuneCollector()
	config, err := command.LoadConfig(cmd, production...)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(cmd.Context(), config.Direct().Reveal()); err != nil {
		return nil, err
	}
	return command.Process{Config: config, Version: version, Component: component}.Open(cmd.Context())
}

// checkSchema refuses a database that lacks migrations. A database that is ahead is accepted:
// migrations are safe while the previous version runs.
func checkSchema(ctx context.Context, databaseURL string) error {
	migrations, err := sqlmigrations.Status(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("read which migrations were applied: %w", err)
	}
	missing := 0
	for _, migration := range migrations {
		if migration.AppliedAt.IsZero() {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf("the database lacks %d of %d migrations: run `parlance migrate up` with the same DATABASE_URL first",
			missing, len(migrations))
	}
	return nil
}

// listen listens on the configured address, with TLS when a certificate is configured. The
// certificate is read again when its files change, and at each SIGHUP until ctx ends.
func listen(ctx context.Context, config app.Config) (net.Listener, error) {
	listener, err := server.Listen(ctx, config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on PARLANCE_LISTEN (--listen): %w", err)
	}
	if config.TLSCertFile == "" {
		return listener, nil
	}
	certificate, err := command.LoadCertificate(config)
	if err != nil {
		_ = listener.Close() // never used
		return nil, err
	}
	onHangUp(ctx, func() { certificate.Reload(ctx) })
	return server.WithTLS(listener, certificate), nil
}

// onHangUp calls do at each SIGHUP until ctx ends. SIGHUP then does not end the process.
func onHangUp(ctx context.Context, do func()) {
	signals := make(chan os.Signal, 1) // signals that arrive together need one call
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
