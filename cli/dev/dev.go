package dev

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier/simulated"
	"parlance.dev/parlance/provider/model/discover"
	"parlance.dev/parlance/server"
	"parlance.dev/parlance/sqlmigrations"
)

// headerTimeout is how long the callers of the servers inside `parlance dev` may take for a header.
const headerTimeout = 5 * time.Second

// loopback are the addresses that `parlance dev` allows tools and webhooks to reach.
var loopback = []string{"127.0.0.0/8", "::1/128"}

// options are the flags of `parlance dev` other than settings.
type options struct {
	version string
	port    int
	tls     bool
	yes     bool
	// model and speech are auto or none, embedding is tell, auto or none.
	model, embedding, speech string
}

// check refuses values that the flags do not have.
func (o options) check() error {
	if !slices.Contains([]string{auto, none}, o.model) {
		return command.Usagef("--model must be auto or none; a model is named by --model-base-url and --model-name")
	}
	if !slices.Contains([]string{auto, none}, o.speech) {
		return command.Usagef("--speech must be auto or none; a transcriber is named by --stt-base-url and --stt-name")
	}
	if !slices.Contains([]string{tell, auto, none}, o.embedding) {
		return command.Usagef("--embedding must be tell, auto or none; a model is named by --embedding-base-url and --embedding-name")
	}
	return nil
}

// New makes the command.
func New(version string) *cobra.Command {
	options := options{version: version}
	cmd := &cobra.Command{
		Use: "dev", Short: "Run everything on this machine, with a demo agent", GroupID: "run", Args: command.ExactArgs(),
		Long: `Starts a private Postgres and Redis under the data directory, migrates, seeds a demo workspace
with an agent, a knowledge base and a tool, and runs server and worker in one process. PDF files and
pictures are read with poppler and tesseract, and espeak-ng speaks where no server does, in a sandbox
(bubblewrap); it works without them.

What is missing is installed on Debian and Ubuntu as root. On a terminal it asks first, unless
--yes is given; elsewhere the line that installs it is printed. DATABASE_URL and REDIS_URL, when set, are used instead.

Ctrl-C stops everything it started; the data stays for the next time.`,
		Example: `  parlance dev
  OPENAI_API_KEY=sk-… parlance dev
  parlance dev --port 0 --data-dir /tmp/try --yes`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return err
			}
			return runDev(cmd, options)
		},
	}
	command.AddSettings(cmd)
	cmd.Flags().String("data-dir", "", "where everything is kept (default: "+app.DefaultDataDir()+")")
	cmd.Flags().IntVar(&options.port, "port", defaultPort, "port to answer on; 0 is any free one")
	cmd.Flags().BoolVar(&options.tls, "tls", false, "serve https and wss with a certificate of a local authority, for SDKs that insist on it")
	cmd.Flags().BoolVar(&options.yes, "yes", false, "install what is missing without asking")
	cmd.Flags().StringVar(&options.model, "model", auto,
		"auto uses a model server found on this machine when none is configured; none refuses every model")
	cmd.Flags().StringVar(&options.speech, "speech", auto,
		"auto has a speech server found on this machine transcribe when none is configured; none refuses every server of speech")
	cmd.Flags().StringVar(&options.embedding, "embedding", tell,
		"what to do with an embedding model found on this machine when none is configured: tell of it, or auto uses it, which embeds "+
			"the sources again; none uses the built-in embedder and does not look")
	return cmd
}

// dev is one run of `parlance dev`.
type dev struct {
	cmd     *cobra.Command
	options options
	config  app.Config
	dir     dataDir
	tls     localCA
	steps   *term.Steps
	// hurry ends at the second request to stop.
	hurry context.Context //nolint:containedctx // the life of the process
	// noticed names the model server that was found on this machine; it may be empty.
	noticed string
	// heard is noticed for the server that transcribes; spoken is a server that could speak, or nil.
	heard  string
	spoken *discover.Found
	// embedder is an embedding model that was found on this machine, or nil.
	embedder *foundEmbedder
	// ownGuard reports that the operator chose which addresses tools and webhooks may reach.
	ownGuard bool
	// line is the simulated line; nil: a carrier is configured.
	line     *simulated.Switchboard
	listener net.Listener
	url      string
}

func runDev(cmd *cobra.Command, options options) error {
	config, err := command.LoadConfig(cmd)
	if err != nil {
		return err
	}
	dir, err := command.DataDir(cmd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	hurry, release := secondSignal(ctx, cancel)
	defer release()
	d := &dev{cmd: cmd, options: options, config: config, dir: dataDir(dir), steps: term.NewSteps(cmd.OutOrStdout(), time.Now), hurry: hurry}
	err = d.run(ctx)
	if ctx.Err() != nil {
		d.steps.End()
		d.say("Stopped. The data is kept in %s.", d.dir)
		return nil
	}
	if err != nil {
		d.steps.Fail()
	}
	return err
}

func (d *dev) say(format string, args ...any) {
	fmt.Fprintf(d.cmd.OutOrStdout(), format+"\n", args...)
}

// run starts everything in order, and stops it in reverse order.
func (d *dev) run(ctx context.Context) error {
	d.say("Parlance %s, data in %s", d.options.version, d.dir)
	lock, err := d.dir.open()
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := d.chooseModels(ctx, discover.Local); err != nil {
		return err
	}
	if err := d.listen(ctx); err != nil {
		return err
	}
	probing, cancel := context.WithCancel(ctx)
	defer d.embedder.wait()
	defer cancel()
	d.probeEmbedder(probing)
	defer func() { _ = d.listener.Close() }() // the server may have closed it
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
	hangUp, err := d.openLine(ctx)
	if err != nil {
		return err
	}
	defer hangUp()
	d.chooseEmbedder()
	d.steps.Begin("Migrating the database")
	if err := sqlmigrations.Up(ctx, d.config.Direct().Reveal()); err != nil {
		return err
	}
	d.steps.Done("")
	opened, err := command.Process{Config: d.config, Version: d.options.version, Component: "dev"}.Open(ctx)
	if err != nil {
		return err
	}
	opened.Line = d.phones()
	d.connectNumbers(ctx, opened)
	return d.serve(ctx, opened)
}

// listen runs before anything is started, so that a taken port is reported at once.
func (d *dev) listen(ctx context.Context) error {
	host, port, err := net.SplitHostPort(d.config.Listen)
	if err != nil {
		return command.Usagef("PARLANCE_LISTEN must be host:port: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || d.cmd.Flags().Changed("port") {
		number = d.options.port
	}
	if d.listener, err = listen(ctx, host, number); err != nil {
		return err
	}
	d.url = urlOf(d.listener.Addr(), d.options.tls || d.config.TLSCertFile != "")
	return nil
}

// startServers starts Postgres and Redis, unless both are the operator's.
func (d *dev) startServers(ctx context.Context) (stop func(), err error) {
	if d.config.DatabaseURL.IsSet() && d.config.RedisURL.IsSet() {
		d.say("  ✓ Using the Postgres and Redis of DATABASE_URL and REDIS_URL")
		return func() {}, nil
	}
	d.steps.Begin("Starting Postgres with pgvector, and Redis")
	pgBin, _ := app.OSSource(nil).LookupEnv("PG_BIN") // where Postgres lies when it is no usual place
	stack, err := devstack.Start(ctx, devstack.Options{
		DataDir: string(d.dir), PGBin: pgBin, Log: d.steps.Note, Confirm: d.confirm(ctx),
	})
	if err != nil {
		return nil, advise(err)
	}
	word := "started"
	if stack.Reused {
		word = "were running already"
	}
	d.steps.Done(fmt.Sprintf("Postgres %s with pgvector and Redis %s", stack.Postgres.Version, word))
	if !d.config.DatabaseURL.IsSet() {
		d.config.DatabaseURL = seal.Secret(stack.DatabaseURL)
	}
	if !d.config.RedisURL.IsSet() {
		d.config.RedisURL = seal.Secret(stack.RedisURL)
	}
	return func() {
		if ctx.Err() == nil {
			d.steps.Fail() // ends the step that failed, if one is running
		}
		d.steps.End()
		d.steps.Begin("Stopping Postgres and Redis")
		command.StopStack(ctx, stack)
		d.steps.Done("Postgres and Redis stopped")
	}, nil
}

// configure sets what the operator did not set.
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
	if d.config.MetricsListen == app.DefaultMetricsListen {
		d.config.MetricsListen = app.MetricsPublic // several can run on this machine
	}
	return d.secure()
}

// secure adds TLS to the listener when it is configured.
func (d *dev) secure() error {
	if d.config.TLSCertFile == "" && d.options.tls {
		d.config.TLSCertFile, d.config.TLSKeyFile = d.tls.CertFile, d.tls.KeyFile
	}
	if d.config.TLSCertFile == "" {
		return nil
	}
	certificate, err := command.LoadCertificate(d.config)
	if err != nil {
		return err
	}
	d.listener = server.WithTLS(d.listener, certificate)
	return nil
}
