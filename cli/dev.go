package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/server"
	"parlance.dev/parlance/sqlmigrations"
)

// loopback is what `parlance dev` opens to tools and webhooks.
var loopback = []string{"127.0.0.0/8", "::1/128"}

// devOptions are the flags of `parlance dev` beside the settings.
type devOptions struct {
	port  int
	tls   bool
	yes   bool
	model string
}

func newDev() *cobra.Command {
	var options devOptions
	cmd := &cobra.Command{
		Use: "dev", Short: "Run everything on this machine, with a demo agent", GroupID: "run", Args: exactArgs(),
		Long: `Starts a private Postgres and Redis under the data directory, migrates, seeds a demo workspace
with an agent, a knowledge base and a tool, and runs server and worker in one process. PDF files and
pictures are read with poppler and tesseract, in a sandbox (bubblewrap); it works without them.

What is missing is installed on Debian and Ubuntu as root, after asking; elsewhere the line that
installs it is printed. DATABASE_URL and REDIS_URL, when set, are used instead.

Ctrl-C stops everything it started; the data stays for the next time.`,
		Example: `  parlance dev
  OPENAI_API_KEY=sk-… parlance dev
  parlance dev --port 0 --data-dir /tmp/try --yes`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.model != "auto" && options.model != "none" {
				return usageError{fmt.Errorf("--model must be auto or none; a model is named by --model-base-url and --model-name")}
			}
			return runDev(cmd, options)
		},
	}
	addSettings(cmd)
	cmd.Flags().String("data-dir", "", "where everything is kept (default: "+app.DefaultDataDir()+")")
	cmd.Flags().IntVar(&options.port, "port", defaultPort, "port to answer on; 0 is any free one")
	cmd.Flags().BoolVar(&options.tls, "tls", false, "serve https and wss with a certificate of a local authority, for SDKs that insist on it")
	cmd.Flags().BoolVar(&options.yes, "yes", false, "install what is missing without asking")
	cmd.Flags().StringVar(&options.model, "model", "auto", "auto uses a model server found on this machine when none is configured; none refuses every model")
	return cmd
}

// dev is one run of `parlance dev`.
type dev struct {
	cmd     *cobra.Command
	options devOptions
	config  app.Config
	dir     devDir
	tls     localCA
	steps   *steps
	// hurry ends when a person asked twice to stop.
	hurry context.Context
	// noticed is the model server that was found on this machine; empty: none was used.
	noticed string
	// ownGuard says that the operator chose what tools and webhooks may reach.
	ownGuard bool
	listener net.Listener
	url      string
}

func runDev(cmd *cobra.Command, options devOptions) error {
	config, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	dir, err := dataDirOf(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	hurry, release := secondSignal(ctx, cancel)
	defer release()
	d := &dev{cmd: cmd, options: options, config: config, dir: devDir(dir), steps: newSteps(cmd.OutOrStdout(), time.Now), hurry: hurry}
	err = d.run(ctx)
	if ctx.Err() != nil {
		d.steps.end()
		d.say("Stopped. The data is kept in %s.", d.dir)
		return nil
	}
	if err != nil {
		d.steps.fail()
	}
	return err
}

func (d *dev) say(format string, args ...any) {
	fmt.Fprintf(d.cmd.OutOrStdout(), format+"\n", args...)
}

// run starts everything in order and stops it in reverse.
func (d *dev) run(ctx context.Context) error {
	d.say("Parlance %s, data in %s", version, d.dir)
	lock, err := d.dir.open()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := d.chooseModel(ctx); err != nil {
		return err
	}
	if err := d.listen(ctx); err != nil {
		return err
	}
	defer func() { _ = d.listener.Close() }() // the server has closed it, or never had it
	stop, err := d.startServers(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := d.prepareTools(ctx); err != nil {
		return err
	}
	if err := d.configure(); err != nil {
		return err
	}
	d.steps.begin("Migrating the database")
	if err := sqlmigrations.Up(ctx, d.config.Direct().Reveal()); err != nil {
		return err
	}
	d.steps.done("")
	opened, err := openApp(ctx, d.config, "dev")
	if err != nil {
		return err
	}
	return d.serve(ctx, opened)
}

// listen takes the port first, so that a taken one is said before anything is started.
func (d *dev) listen(ctx context.Context) error {
	host, port, err := net.SplitHostPort(d.config.Listen)
	if err != nil {
		return usageError{fmt.Errorf("PARLANCE_LISTEN must be host:port: %w", err)}
	}
	number, err := strconv.Atoi(port)
	if err != nil || d.cmd.Flags().Changed("port") {
		number = d.options.port
	}
	if d.listener, err = listenDev(ctx, host, number); err != nil {
		return err
	}
	d.url = devURL(d.listener.Addr(), d.options.tls || d.config.TLSCertFile != "")
	return nil
}

// startServers makes Postgres and Redis answer, unless both are the operator's own.
func (d *dev) startServers(ctx context.Context) (stop func(), err error) {
	if d.config.DatabaseURL.IsSet() && d.config.RedisURL.IsSet() {
		d.say("  ✓ Using the Postgres and Redis of DATABASE_URL and REDIS_URL")
		return func() {}, nil
	}
	d.steps.begin("Starting Postgres with pgvector, and Redis")
	pgBin, _ := app.OSSource(nil).LookupEnv("PG_BIN") // where Postgres lies when it is no usual place
	stack, err := devstack.Start(ctx, devstack.Options{
		DataDir: string(d.dir), PGBin: pgBin, Log: d.steps.note, Confirm: d.confirm(ctx),
	})
	if err != nil {
		return nil, err
	}
	word := "started"
	if stack.Reused {
		word = "were running already"
	}
	d.steps.done(fmt.Sprintf("Postgres %s with pgvector and Redis %s", stack.Postgres.Version, word))
	if !d.config.DatabaseURL.IsSet() {
		d.config.DatabaseURL = seal.Secret(stack.DatabaseURL)
	}
	if !d.config.RedisURL.IsSet() {
		d.config.RedisURL = seal.Secret(stack.RedisURL)
	}
	return func() {
		if ctx.Err() == nil {
			d.steps.fail() // what was running, if anything was, went wrong
		}
		d.steps.end()
		d.steps.begin("Stopping Postgres and Redis")
		stopStack(ctx, stack)
		d.steps.done("Postgres and Redis stopped")
	}, nil
}

// configure fills in what the operator did not set.
func (d *dev) configure() (err error) {
	if d.config.MasterKeyFile == "" && d.config.MasterKey == "" && d.config.MasterKeyURL == "" {
		if d.config.MasterKeyFile, err = d.dir.masterKey(); err != nil {
			return err
		}
	}
	if d.config.BlobURL == "" {
		if err := os.MkdirAll(d.dir.path(blobsDir), 0o700); err != nil {
			return fmt.Errorf("make the bucket: %w", err)
		}
		d.config.BlobURL = "file://" + d.dir.path(blobsDir)
	}
	if d.tls, err = openLocalCA(d.dir.path(localTLSDir), time.Now()); err != nil {
		return err
	}
	if d.config.EgressCAFile, err = d.tls.egressCAFile(d.config.EgressCAFile); err != nil {
		return err
	}
	if d.ownGuard = d.config.EgressAllowCIDRs != nil; !d.ownGuard {
		d.config.EgressAllowCIDRs = loopback
	}
	d.config.Listen = d.listener.Addr().String()
	d.config.ShutdownTimeout = min(d.config.ShutdownTimeout, devDrain)
	return d.secure()
}

// secure puts TLS on the listener when it is asked for.
func (d *dev) secure() error {
	if d.config.TLSCertFile == "" && d.options.tls {
		d.config.TLSCertFile, d.config.TLSKeyFile = d.tls.CertFile, d.tls.KeyFile
	}
	if d.config.TLSCertFile == "" {
		return nil
	}
	certificate, err := loadCertificate(d.config)
	if err != nil {
		return err
	}
	d.listener = server.WithTLS(d.listener, certificate)
	return nil
}
