package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/figures"
)

// options are the flags.
type options struct {
	set, out, binary string
	verbose          bool
}

func main() {
	var o options
	flag.StringVar(&o.set, "set", "test/eval/testdata/helpcentre", "directory of documents/, answers.jsonl and paraphrased.jsonl")
	flag.StringVar(&o.out, "out", "docs", "directory of benchmarks.md and benchmarks.json; empty: only print")
	flag.StringVar(&o.binary, "binary", "", "a built parlance; empty: build one")
	flag.BoolVar(&o.verbose, "v", false, "print each question with its answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := evaluate(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "answers:", err)
		os.Exit(1)
	}
}

func evaluate(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("/var/tmp", "parlance-answers-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { // Postgres runs as another user when we are root
		return fmt.Errorf("opening the directory: %w", err)
	}
	if o.binary == "" {
		o.binary = filepath.Join(dir, "parlance")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "./cmd/parlance").CombinedOutput(); err != nil {
			return fmt.Errorf("building: %w\n%s", err, out)
		}
	}
	data := filepath.Join(dir, "data")
	where, stop, err := start(ctx, o.binary, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	a, err := newAsker(ctx, where)
	if err != nil {
		return err
	}
	add := exec.CommandContext(ctx, o.binary, "kb", "add", filepath.Join(o.set, "documents"), "--data-dir", data, "--attach", a.agent)
	if out, err := add.CombinedOutput(); err != nil {
		return fmt.Errorf("adding the documents: %w\n%s", err, out)
	}
	log := io.Discard
	if o.verbose {
		log = os.Stdout
	}
	answers, err := a.answers(ctx, filepath.Join(o.set, "answers.jsonl"), log)
	if err != nil {
		return err
	}
	hits, err := a.hits(ctx, filepath.Join(o.set, "paraphrased.jsonl"), log)
	if err != nil {
		return err
	}
	floors, err := a.floors(ctx, filepath.Join(o.set, "answers.jsonl"), log)
	if err != nil {
		return err
	}
	lines := slices.Concat(answers.rows(), hits, floors)
	for _, row := range lines {
		fmt.Println(row)
	}
	if o.out == "" {
		return nil
	}
	return figures.Write(o.out, figures.PartAnswers, lines)
}

// start runs `parlance dev` until it answers. stop ends it.
func start(ctx context.Context, binary, data string) (where client.Installation, stop func() error, err error) {
	dev := exec.CommandContext(ctx, binary, "dev", "--data-dir", data, "--port", "0", "--yes", "--model", "none")
	dev.Cancel = func() error { return dev.Process.Signal(os.Interrupt) }
	dev.WaitDelay = time.Minute
	dev.Stderr = os.Stderr
	if err := dev.Start(); err != nil {
		return where, nil, fmt.Errorf("starting parlance dev: %w", err)
	}
	stop = func() error { return cmp.Or(dev.Process.Signal(os.Interrupt), dev.Wait()) }
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		env, err := command.ReadEnvFile(filepath.Join(data, command.EnvFile))
		if err != nil {
			continue
		}
		where = client.Installation{
			Base: strings.TrimSuffix(env[command.EnvBaseURL], "/v1"), APIKey: env[command.EnvAPIKey], WorkspaceID: env[command.EnvWorkspace],
		}
		if isReady(ctx, where.Base) {
			return where, stop, nil
		}
	}
	return where, nil, errors.Join(errors.New("parlance dev does not get ready"), stop())
}

func isReady(ctx context.Context, base string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close() // only the status counts
	return response.StatusCode == http.StatusOK
}
