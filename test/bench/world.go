package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
)

// world is an installation under measurement: private databases, the built program, one server.
type world struct {
	dir     string
	stack   *devstack.Stack
	program string
	server  *process
	model   *instantModel
	// paced is the model of the sessions' figures, in place of model.
	paced *pacedModel
	// modelURL is that of the one in use.
	modelURL string
	client   *http.Client
	round    time.Duration

	// worker and db are there for the knowledge base and the sessions only; chunks is how many its
	// large workspace gets.
	worker *process
	db     *postgres.DB
	chunks int

	// debug is where the newest server serves its profiles; profiles, when set, is where some are
	// written to.
	debug, profiles string
	// sockets, speakers and period are the crowd; hall is where it meets.
	sockets, speakers int
	talk              time.Duration
	hall              *place
	// hooks is there for the webhooks' figures only.
	hooks *hookServer

	// url is the server's, key a key of the tenant's, with every scope.
	url, key, workspace, agent string
}

func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{
		round: o.round, chunks: o.chunks, sockets: o.sockets, speakers: o.speakers, talk: o.talk, profiles: o.profiles, program: o.program,
		model: newInstantModel(), paced: newPacedModel(),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * callers}},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.modelURL = w.model.url
	if o.sessions {
		w.modelURL = w.paced.url
	}
	if w.dir, err = os.MkdirTemp("/var/tmp", "parlance-bench-"); err != nil {
		return w, fmt.Errorf("making a directory: %w", err)
	}
	if err := os.Chmod(w.dir, 0o711); err != nil {
		return w, fmt.Errorf("opening the directory: %w", err)
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	needs := devstack.Options{DataDir: filepath.Join(w.dir, "stack"), Log: logf}
	if o.kb {
		needs.Tools = devstack.DocumentTools()
	}
	if o.webhooks {
		if w.hooks, err = newHookServer(w.dir); err != nil {
			return w, err
		}
	}
	if w.stack, err = devstack.Start(ctx, needs); err != nil {
		return w, err
	}
	if err := w.build(ctx); err != nil {
		return w, err
	}
	if w.server, w.url, err = w.serve(ctx, w.stack.DatabaseURL); err != nil {
		return w, err
	}
	if err := w.seed(ctx); err != nil || !(o.kb || o.sessions || o.webhooks) {
		return w, err
	}
	if w.db, err = postgres.Open(ctx, postgres.Config{URL: w.stack.DatabaseURL}); err != nil || o.sessions {
		return w, err
	}
	environment := w.environment(w.stack.DatabaseURL, "127.0.0.1:0")
	if o.webhooks { // its profiles are the worker's
		debug, err := freeAddress(ctx)
		if err != nil {
			return w, err
		}
		w.debug = "http://" + debug + "/debug/pprof"
		environment = append(environment, "PARLANCE_DEBUG_LISTEN="+debug)
	}
	w.worker, err = start(w.program, environment, "worker")
	return w, err
}

// build makes the program, the schema and the first tenant.
func (w *world) build(ctx context.Context) error {
	if w.program == "" {
		w.program = filepath.Join(w.dir, "parlance")
		if output, err := exec.CommandContext(ctx, "go", "build", "-o", w.program,
			"parlance.dev/parlance/cmd/parlance").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w\n%s", err, output)
		}
	}
	if err := errors.Join(seal.NewMasterKeyFile(w.masterKey()), os.MkdirAll(filepath.Join(w.dir, "blobs"), 0o700)); err != nil {
		return err
	}
	if _, err := w.parlance(ctx, "migrate", "up"); err != nil {
		return err
	}
	made, err := w.parlance(ctx, "tenants", "create", "bench", "--plan", "enterprise", "--json")
	if err != nil {
		return err
	}
	var tenant struct {
		WorkspaceID string `json:"workspace_id"`
		APIKey      string `json:"api_key"`
	}
	if err := json.Unmarshal(made, &tenant); err != nil {
		return fmt.Errorf("reading the tenant: %w", err)
	}
	w.workspace, w.key = tenant.WorkspaceID, tenant.APIKey
	return nil
}

func (w *world) masterKey() string { return filepath.Join(w.dir, "master.key") }

func (w *world) environment(database, listen string) []string {
	environment := []string{
		"DATABASE_URL=" + database, "REDIS_URL=" + w.stack.RedisURL,
		"PARLANCE_MASTER_KEY_FILE=" + w.masterKey(), "PARLANCE_BLOB_URL=file://" + filepath.Join(w.dir, "blobs"),
		"PARLANCE_LISTEN=" + listen, "PARLANCE_METRICS_LISTEN=public", "PARLANCE_PUBLIC_URL=http://" + listen, "PARLANCE_LOG_LEVEL=warn",
		"PARLANCE_EGRESS_ALLOW_CIDRS=127.0.0.0/8",
		"PARLANCE_MODEL_BASE_URL=" + w.modelURL, "PARLANCE_MODEL_NAME=instant",
	}
	if w.hooks != nil {
		environment = append(environment, "PARLANCE_EGRESS_CA_FILE="+w.hooks.caFile)
	}
	return environment
}

// parlance runs a command of the program to its end.
func (w *world) parlance(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, w.program, args...)
	command.Env = append(os.Environ(), w.environment(w.stack.DatabaseURL, "127.0.0.1:0")...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("parlance %s: %w\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return output, nil
}

// withServer is the world with another server on that database, which the caller stops.
func (w *world) withServer(ctx context.Context, database string) (*world, error) {
	server, url, err := w.serve(ctx, database)
	if err != nil {
		return nil, errors.Join(err, server.stop())
	}
	there := *w
	there.server, there.url = server, url
	return &there, nil
}

// serve starts a server on that database and waits until it is ready.
func (w *world) serve(ctx context.Context, database string) (*process, string, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	debug, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	server, err := start(w.program, append(w.environment(database, address), "PARLANCE_DEBUG_LISTEN="+debug), "server")
	if err != nil {
		return nil, "", err
	}
	w.debug = "http://" + debug + "/debug/pprof"
	url := "http://" + address
	return server, url, ready(ctx, url)
}

// freeAddress is one that nobody listens on, for the server to take.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// seed makes the agent.
func (w *world) seed(ctx context.Context) error {
	var agent struct {
		ID string `json:"id"`
	}
	err := w.post(ctx, "/workspaces/"+w.workspace+"/agents", map[string]any{
		"name": "Bench", "instructions": strings.Repeat("Answer from the passages, in two sentences. ", 20),
	}, &agent)
	w.agent = agent.ID
	return err
}

// header is what every call sends.
func (w *world) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + w.key}, "Content-Type": {"application/json"}}
}

// post sends JSON to a path under /v1 and reads the answer into out, unless that is nil.
func (w *world) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	return w.do(ctx, http.MethodPost, path, body, out)
}

func (w *world) do(ctx context.Context, method, path string, body []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, w.url+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header = w.header()
	response, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s answered %d %s", method, path, response.StatusCode, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}

// close ends everything and removes the files.
func (w *world) close() error {
	err := errors.Join(w.worker.stop(), w.server.stop())
	if w.db != nil {
		_ = w.db.Close() // the databases end
	}
	if w.model != nil {
		w.model.close()
		w.paced.close()
	}
	w.hooks.close()
	if w.stack != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = errors.Join(err, w.stack.Stop(ctx))
	}
	if w.dir != "" {
		err = errors.Join(err, os.RemoveAll(w.dir))
	}
	return err
}
