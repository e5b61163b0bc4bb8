package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/ingestion"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/openai"
	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/sqlmigrations"
	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/workspaces"
)

// options are the flags.
type options struct {
	collection, out, url, key, model string
}

func main() {
	var o options
	flag.StringVar(&o.collection, "collection", "",
		"directory of the collection: SMART's files (cran.all.1400, cran.qry, cranqrel) or BEIR's (corpus.jsonl, queries.jsonl, qrels.tsv)")
	flag.StringVar(&o.out, "out", "docs", "directory of benchmarks.md and benchmarks.json; empty: only print")
	flag.StringVar(&o.url, "embedding-url", "",
		"base URL of an OpenAI-compatible embedding server, key in PARLANCE_EMBEDDING_API_KEY; empty: the built-in embedder")
	flag.StringVar(&o.model, "embedding-model", "", "its model")
	flag.Parse()
	o.key = os.Getenv("PARLANCE_EMBEDDING_API_KEY")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := evaluate(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func evaluate(ctx context.Context, o options) (err error) {
	if o.collection == "" {
		return errors.New("name the directory of a test collection with -collection")
	}
	c, err := load(o.collection)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("/var/tmp", "parlance-eval-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("opening the directory: %w", err)
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	stack, err := devstack.Start(ctx, devstack.Options{DataDir: filepath.Join(dir, "stack"), Log: logf})
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, stack.Stop(ending))
	}()
	logf("%d documents, %d questions of %s", len(c.documents), len(c.questions), o.collection)
	return o.report(ctx, os.Stdout, stack.DatabaseURL, filepath.Join(dir, "blobs"), c)
}

// report measures the collection, prints the figures, and writes them down when there is a place
// for them.
func (o options) report(ctx context.Context, to io.Writer, databaseURL, blobs string, c collection) error {
	embedder, err := o.embedder()
	if err != nil {
		return err
	}
	measured, err := measureOn(ctx, databaseURL, blobs, embedder, c)
	if err != nil {
		return err
	}
	lines := rows(measured)
	for _, row := range lines {
		fmt.Fprintln(to, row)
	}
	if o.out == "" {
		return nil
	}
	return figures.Write(o.out, figures.PartRetrieval+" "+filepath.Base(filepath.Clean(o.collection)), lines)
}

// embedder has the prefixes that the service adds for the model.
func (o options) embedder() (embedding.Embedder, error) {
	if o.url == "" {
		return words.New(), nil
	}
	return openai.New(openai.Deps{
		BaseURL: o.url, APIKey: o.key, Model: o.model, Prefixes: openai.KnownPrefixes(o.model), Client: http.DefaultClient,
	})
}

// measureOn runs the collection in a database that is empty.
func measureOn(ctx context.Context, databaseURL, blobs string, embedder embedding.Embedder, c collection) (outcome, error) {
	if err := sqlmigrations.Up(ctx, databaseURL); err != nil {
		return outcome{}, err
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: databaseURL})
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = db.Close() }() // the measurement is over
	b, err := newBase(ctx, db, blobs, embedder)
	if err != nil {
		return outcome{}, err
	}
	return run(ctx, b, c)
}

// newBase makes a tenant with a workspace that is large enough.
func newBase(ctx context.Context, db *postgres.DB, blobs string, embedder embedding.Embedder) (base, error) {
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		return base{}, fmt.Errorf("making the bucket: %w", err)
	}
	bucket, err := blob.Open("file://" + blobs)
	if err != nil {
		return base{}, fmt.Errorf("opening the bucket: %w", err)
	}
	plans := workspaces.Plans{"eval": {Name: "eval", KBStorageBytes: 1 << 40, KBUploadBytes: 1 << 30}}
	tenancy := workspaces.New(workspaces.Deps{DB: db, Plans: plans, Now: time.Now})
	created, err := tenancy.CreateTenant(ctx, "eval", "eval")
	if err != nil {
		return base{}, fmt.Errorf("making the tenant: %w", err)
	}
	b := base{agents: agents.New(agents.Deps{DB: db, Workspaces: tenancy, Now: time.Now})}
	b.ref = workspaces.Ref{TenantID: created.Tenant.ID, ID: created.Workspace.ID}
	embedders := knowledge.Embedders{embedder}
	b.knowledge = knowledge.New(knowledge.Deps{DB: db, Workspaces: tenancy, Agents: b.agents, Bucket: bucket, Embedders: embedders})
	b.ingestion = ingestion.New(ingestion.Deps{DB: db, Bucket: bucket, Embedders: embedders})
	return b, nil
}
