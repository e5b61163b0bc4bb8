package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/server"
	"parlance.dev/parlance/sqlmigrations"
)

// production are the settings that server and worker refuse to start without.
var production = []string{"DATABASE_URL", "REDIS_URL", "BLOB_URL", "MASTER_KEY_FILE"}

func newServer() *cobra.Command {
	cmd := &cobra.Command{
		Use: "server", Short: "Answer requests and sockets; run any number of them", GroupID: "run", Args: exactArgs(),
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
				return closing(opened, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Listening on %s.\n", listener.Addr())
			return closing(opened, opened.Serve(cmd.Context(), listener))
		},
	}
	addSettings(cmd)
	return cmd
}

func newWorker() *cobra.Command {
	cmd := &cobra.Command{
		Use: "worker", Short: "Ingest sources, deliver webhooks, end idle sessions; run any number of them", GroupID: "run", Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opened, err := openProduction(cmd, "worker")
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "Working.")
			return closing(opened, opened.Work(cmd.Context()))
		},
	}
	addSettings(cmd)
	return cmd
}

// openProduction opens the parts of a server or worker on a database with this version's schema.
func openProduction(cmd *cobra.Command, component string) (*app.App, error) {
	tuneCollector()
	config, err := loadConfig(cmd, production...)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(cmd.Context(), config.Direct().Reveal()); err != nil {
		return nil, err
	}
	return openApp(cmd.Context(), config, component)
}

// checkSchema refuses a database that is behind. One that is ahead is fine: migrations are safe
// while the previous binary runs.
func checkSchema(ctx context.Context, databaseURL string) error {
	migrations, err := sqlmigrations.Status(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("look at the database's schema: %w", err)
	}
	missing := 0
	for _, migration := range migrations {
		if migration.AppliedAt.IsZero() {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf("the database lacks %d of %d migrations: run `parlance migrate up` with the same DATABASE_URL first", missing, len(migrations))
	}
	return nil
}

// openApp joins the parts of a process.
func openApp(ctx context.Context, config app.Config, component string) (*app.App, error) {
	log, err := app.OpenLogger(config)
	if err != nil {
		return nil, err
	}
	redis.LogTo(log, config.RedisURL.Reveal())
	return app.Open(ctx, config, app.Params{Version: version, Log: log, Component: component})
}

// closing closes the parts; what went wrong before wins.
func closing(opened *app.App, err error) error {
	if closed := opened.Close(); err == nil && closed != nil {
		return fmt.Errorf("close: %w", closed)
	}
	return err
}

// listen takes the configured address, with TLS when a certificate is configured, which is read
// again at SIGHUP until ctx ends, and when its files change.
func listen(ctx context.Context, config app.Config) (net.Listener, error) {
	listener, err := server.Listen(ctx, config.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on PARLANCE_LISTEN (--listen): %w", err)
	}
	if config.TLSCertFile == "" {
		return listener, nil
	}
	certificate, err := loadCertificate(config)
	if err != nil {
		_ = listener.Close() // never used
		return nil, err
	}
	onHangUp(ctx, func() { certificate.Reload(ctx) })
	return server.WithTLS(listener, certificate), nil
}

func loadCertificate(config app.Config) (*server.Certificate, error) {
	log, err := app.OpenLogger(config)
	if err != nil {
		return nil, err
	}
	certificate, err := server.LoadCertificate(server.CertificateConfig{CertFile: config.TLSCertFile, KeyFile: config.TLSKeyFile, Log: log, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_TLS_CERT_FILE and PARLANCE_TLS_KEY_FILE: %w", err)
	}
	return certificate, nil
}

// devDrain is how long a stopping `parlance dev` waits for requests: nobody depends on them.
const devDrain = 5 * time.Second
