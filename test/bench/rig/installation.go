package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/seal"
)

// Installation is private databases, the program, and a tenant with an agent. Its fields may be
// changed in a copy, to call another server or with another key.
type Installation struct {
	// Dir is a directory of its own, Stack the databases.
	Dir   string
	Stack *devstack.Stack
	// Program is the path of parlance. Prepare builds that of this tree where it is empty.
	Program string
	// Settings are environment variables that all its programs get besides those of Environment.
	Settings []string

	// HTTP sends the requests, to the server at URL, with Key, which has every scope. Callers set
	// HTTP and URL.
	HTTP             *http.Client
	URL, Key         string
	Workspace, Agent string
}

// Open makes the directory, whose name begins so, and starts the databases.
func (in *Installation) Open(ctx context.Context, name string, tools []devstack.Tool) (err error) {
	if in.Dir, err = os.MkdirTemp("/var/tmp", name); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := os.Chmod(in.Dir, 0o711); err != nil { // Postgres runs as another user
		return fmt.Errorf("opening the directory: %w", err)
	}
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	in.Stack, err = devstack.Start(ctx, devstack.Options{DataDir: filepath.Join(in.Dir, "stack"), Tools: tools, Log: logf})
	return err
}

// Prepare makes the program, the schema and the first tenant.
func (in *Installation) Prepare(ctx context.Context) error {
	if in.Program == "" {
		in.Program = filepath.Join(in.Dir, "parlance")
		if output, err := exec.CommandContext(ctx, "go", "build", "-o", in.Program,
			"parlance.dev/parlance/cmd/parlance").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w\n%s", err, output)
		}
	}
	if err := errors.Join(seal.NewMasterKeyFile(in.masterKey()), os.MkdirAll(in.BlobDir(), 0o700)); err != nil {
		return err
	}
	if _, err := in.Run(ctx, "migrate", "up"); err != nil {
		return err
	}
	tenant, err := in.NewTenant(ctx, "bench")
	in.Workspace, in.Key = tenant.WorkspaceID, tenant.APIKey
	return err
}

// CreateAgent makes the agent, which has no settings of its own. The server must be running.
func (in *Installation) CreateAgent(ctx context.Context) error {
	var agent struct {
		ID string `json:"id"`
	}
	err := in.Post(ctx, "/workspaces/"+in.Workspace+"/agents", map[string]any{
		"name": "Bench", "instructions": strings.Repeat("Answer from the passages, in two sentences. ", 20),
	}, &agent)
	in.Agent = agent.ID
	return err
}

// Tenant is a tenant with its workspace, and a key with every scope.
type Tenant struct {
	TenantID    string `json:"tenant_id"`
	WorkspaceID string `json:"workspace_id"`
	APIKey      string `json:"api_key"`
}

// NewTenant makes a tenant of the largest plan.
func (in *Installation) NewTenant(ctx context.Context, name string) (t Tenant, err error) {
	made, err := in.Run(ctx, "tenants", "create", name, "--plan", "enterprise", "--json")
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(made, &t); err != nil {
		return t, fmt.Errorf("reading the tenant: %w", err)
	}
	return t, nil
}

func (in *Installation) masterKey() string { return filepath.Join(in.Dir, "master.key") }

// BlobDir is where files are stored.
func (in *Installation) BlobDir() string { return filepath.Join(in.Dir, "blobs") }

// Environment has the settings as shipped, for a program that uses that database and listens there.
func (in *Installation) Environment(database, listen string) []string {
	return append([]string{
		"DATABASE_URL=" + database, "REDIS_URL=" + in.Stack.RedisURL,
		"PARLANCE_MASTER_KEY_FILE=" + in.masterKey(), "PARLANCE_BLOB_URL=file://" + in.BlobDir(),
		"PARLANCE_LISTEN=" + listen, "PARLANCE_METRICS_LISTEN=public", "PARLANCE_PUBLIC_URL=http://" + listen, "PARLANCE_LOG_LEVEL=warn",
		"PARLANCE_EGRESS_ALLOW_CIDRS=127.0.0.0/8",
	}, in.Settings...)
}

// anywhere is the address of a program that nobody calls.
const anywhere = "127.0.0.1:0"

// Run runs a command of the program to its end and returns what it prints.
func (in *Installation) Run(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, in.Program, args...)
	command.Env = append(os.Environ(), in.Environment(in.Stack.DatabaseURL, anywhere)...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("parlance %s: %w\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return output, nil
}

// Server is a running `parlance server`: its address, and that of its profiles.
type Server struct {
	*Process
	URL, Debug string
}

// Serve starts a server on that database, with some more settings, and waits until it is ready.
// After an error the server may have been started, and is then returned to be stopped.
func (in *Installation) Serve(ctx context.Context, database string, settings ...string) (s Server, err error) {
	address, err := FreeAddress(ctx)
	if err != nil {
		return s, err
	}
	debug, err := FreeAddress(ctx)
	if err != nil {
		return s, err
	}
	environment := append(in.Environment(database, address), "PARLANCE_DEBUG_LISTEN="+debug)
	if s.Process, err = Start(in.Program, append(environment, settings...), "server"); err != nil {
		return s, err
	}
	s.URL, s.Debug = "http://"+address, ProfilesAt(debug)
	return s, AwaitReady(ctx, s.URL)
}

// ProfilesAt is where a program serves its profiles whose PARLANCE_DEBUG_LISTEN is that address.
func ProfilesAt(address string) string { return "http://" + address + "/debug/pprof" }

// Work starts a worker, with some more settings.
func (in *Installation) Work(settings ...string) (*Process, error) {
	return Start(in.Program, append(in.Environment(in.Stack.DatabaseURL, anywhere), settings...), "worker")
}

// PostgresCPU is the CPU time that the processes of Postgres have spent so far.
func (in *Installation) PostgresCPU() (time.Duration, error) {
	files, err := filepath.Glob(filepath.Join(in.Stack.DataDir, "*", "postmaster.pid"))
	if err != nil || len(files) != 1 {
		return 0, fmt.Errorf("finding Postgres: %d files in %s (%w)", len(files), in.Stack.DataDir, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return 0, fmt.Errorf("finding Postgres: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(line)
	if err != nil {
		return 0, fmt.Errorf("finding Postgres: %w", err)
	}
	return cpuOfFamily(postmaster)
}

// Close ends the databases and removes the files. Programs must have been stopped before.
func (in *Installation) Close() (err error) {
	if in.Stack != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = in.Stack.Stop(ctx)
	}
	if in.Dir != "" {
		err = errors.Join(err, os.RemoveAll(in.Dir))
	}
	return err
}
