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
	"parlance.dev/parlance/platform/seal"
)

// world is an installation under measurement: private databases, the built program, one server.
type world struct {
	options   options
	dir       string
	stack     *devstack.Stack
	program   string
	providers *providers
	sounds    *sounds
	client    *http.Client

	// server is the one that is called now, url its address, debug that of its profiles.
	server     *process
	url, debug string
	// spent is the CPU time of servers that have ended.
	spent time.Duration
	// key is a key of the tenant's, with every scope.
	key, workspace, agent string
}

// transcription is how a server hears.
type transcription string

const (
	streaming transcription = "deepgram"
	wholes    transcription = "openai"
)

func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{options: o, program: o.program, client: &http.Client{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.sounds, err = newSounds(ctx); err != nil {
		return w, err
	}
	w.providers = newProviders(w.sounds.agent)
	if w.dir, err = os.MkdirTemp("/var/tmp", "parlance-bench-voice-"); err != nil {
		return w, fmt.Errorf("making a directory: %w", err)
	}
	if err := os.Chmod(w.dir, 0o711); err != nil { // Postgres runs as another user
		return w, fmt.Errorf("opening the directory: %w", err)
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	if w.stack, err = devstack.Start(ctx, devstack.Options{DataDir: filepath.Join(w.dir, "stack"), Log: logf}); err != nil {
		return w, err
	}
	if err := w.build(ctx); err != nil {
		return w, err
	}
	if err := w.serve(ctx, streaming); err != nil {
		return w, err
	}
	return w, w.seed(ctx)
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

// environment has the settings as shipped, and where the providers are.
func (w *world) environment(listen string, hears transcription) []string {
	return []string{
		"DATABASE_URL=" + w.stack.DatabaseURL, "REDIS_URL=" + w.stack.RedisURL,
		"PARLANCE_MASTER_KEY_FILE=" + w.masterKey(), "PARLANCE_BLOB_URL=file://" + filepath.Join(w.dir, "blobs"),
		"PARLANCE_LISTEN=" + listen, "PARLANCE_METRICS_LISTEN=public", "PARLANCE_PUBLIC_URL=http://" + listen, "PARLANCE_LOG_LEVEL=warn",
		"PARLANCE_EGRESS_ALLOW_CIDRS=127.0.0.0/8",
		"PARLANCE_MODEL_BASE_URL=" + w.providers.url, "PARLANCE_MODEL_NAME=fixed",
		"PARLANCE_STT_PROVIDER=" + string(hears), "PARLANCE_STT_BASE_URL=" + w.providers.url, "PARLANCE_STT_API_KEY=fixed",
		"PARLANCE_TTS_BASE_URL=" + w.providers.url, "PARLANCE_TTS_API_KEY=fixed",
	}
}

// parlance runs a command of the program to its end.
func (w *world) parlance(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, w.program, args...)
	command.Env = append(os.Environ(), w.environment("127.0.0.1:0", streaming)...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("parlance %s: %w\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return output, nil
}

// serve replaces the server by a fresh one and waits until it is ready.
func (w *world) serve(ctx context.Context, hears transcription) error {
	if w.server != nil {
		w.spent += w.server.cpu()
		if err := w.server.stop(); err != nil {
			return err
		}
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	debug, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	w.server, err = start(w.program, append(w.environment(address, hears), "PARLANCE_DEBUG_LISTEN="+debug), "server")
	if err != nil {
		return err
	}
	w.url, w.debug = "http://"+address, "http://"+debug+"/debug/pprof"
	return ready(ctx, w.url)
}

// freeAddress is one that nobody listens on, for the server to take.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// seed makes the agent, which has no settings of its own.
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

// post sends JSON to a path under /v1 and reads the answer into out.
func (w *world) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + w.key}, "Content-Type": {"application/json"}}
	response, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading an answer: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("POST %s answered %d %s", path, response.StatusCode, answer)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}

// fetch writes one of the server's pages.
func (w *world) fetch(ctx context.Context, url string, into io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("asking the server about itself: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	_, err = io.Copy(into, response.Body)
	return err
}

// close ends everything and removes the files.
func (w *world) close() error {
	err := w.server.stop()
	if w.providers != nil {
		w.providers.close()
	}
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
