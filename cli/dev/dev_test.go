package dev_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/pgtest"
)

// runVariable makes the test binary act as parlance, with the arguments that it was given: tests of
// signals and of processes that are left running need a process of their own.
const runVariable = "PARLANCE_TEST_RUN_CLI"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Execute(ctx, cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// devTimeout limits one run of `parlance dev`.
const devTimeout = 3 * time.Minute

// openDir returns a data directory that the account of the private servers can reach. They cannot
// reach those of testing.T when the test runs as root.
func openDir(t *testing.T) string {
	t.Helper()
	pgtest.New(t) // installs what is missing, once for all, or says how
	dir, err := os.MkdirTemp("", "parlance-dev-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a directory of the system's temporary one
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// devProcess is a `parlance dev` in a process of its own.
type devProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string
	lines chan string // closed when it has written its last
	said  []string
}

// startDev starts it on any free port, without models.
func startDev(t *testing.T, dir string, args ...string) *devProcess {
	t.Helper()
	return startDevWithin(t, nil, dir, append([]string{"--model", "none", "--embedding", "none"}, args...)...)
}

// parlanceWithin is a command of the test binary as parlance, run by the program within.
func parlanceWithin(t *testing.T, within []string, args ...string) *exec.Cmd {
	t.Helper()
	line := slices.Concat(within, []string{os.Args[0]}, args)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = []string{runVariable + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PG_BIN=" + os.Getenv("PG_BIN")}
	return cmd
}

// startDevWithin starts it on any free port, as parlanceWithin does.
func startDevWithin(t *testing.T, within []string, dir string, args ...string) *devProcess {
	t.Helper()
	p := &devProcess{t: t, dir: dir, lines: make(chan string, 1000)} // more than it ever says
	p.cmd = parlanceWithin(t, within, append([]string{"dev", "--data-dir", dir, "--port", "0"}, args...)...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	return p
}

// await reads until a line holds the text.
func (p *devProcess) await(text string) string {
	p.t.Helper()
	late := time.After(devTimeout)
	for {
		select {
		case line, more := <-p.lines:
			if !more {
				p.t.Fatalf("it ended before it said %q:\n%s", text, strings.Join(p.said, "\n"))
			}
			p.said = append(p.said, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			p.t.Fatalf("it did not say %q:\n%s", text, strings.Join(p.said, "\n"))
		}
	}
}

// interrupt sends Ctrl-C.
func (p *devProcess) interrupt() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
}

// wantsEnd waits for the process and insists that it ended well and left no server running.
func (p *devProcess) wantsEnd() {
	p.t.Helper()
	for line := range p.lines {
		p.said = append(p.said, line)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("it ended with %v:\n%s", err, strings.Join(p.said, "\n"))
	}
	if _, err := os.Stat(filepath.Join(p.dir, "postgres", "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
		p.t.Errorf("Postgres was left running: %v", err)
	}
	for _, left := range processesOf(p.t, p.dir) {
		p.t.Errorf("left running: %s", left)
	}
}

// processesOf lists the processes whose command line names the directory. It works on Linux only.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(content), dir) { // those that are gone by now are of no interest
			found = append(found, strings.ReplaceAll(string(content), "\x00", " "))
		}
	}
	return found
}

// readEnv reads the dev.env of a data directory.
func readEnv(t *testing.T, dir string) map[string]string {
	t.Helper()
	env, err := command.ReadEnvFile(filepath.Join(dir, command.EnvFile))
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestDev(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	first := startDev(t, dir)
	first.await("/console/")
	first.await("Ctrl-C stops everything")
	env := readEnv(t, dir)
	for _, name := range []string{command.EnvBaseURL, command.EnvAPIKey, command.EnvWorkspace, command.EnvAgent} {
		if env[name] == "" {
			t.Errorf("dev.env lacks %s", name)
		}
	}
	if !strings.HasSuffix(env[command.EnvBaseURL], "/v1") {
		t.Errorf("base URL %s, want it to end in /v1", env[command.EnvBaseURL])
	}
	for _, name := range []string{command.EnvFile, command.MasterKeyFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want mode 0600", name, info, err)
		}
	}
	clitest.Execute(t, "How are webhooks signed?\n/tool order_status {\"order_id\": \"A-1001\"}\n", "chat", "--data-dir",
		dir).Wants(t, command.ExitDone,
		"Hello, I am Ada", "HMAC-SHA256", "source  Webhooks", "tool    order_status", "Northwind Express")
	clitest.Execute(t, "", "numbers", "create", "+12015550199", "--data-dir", dir).Wants(t, command.ExitDone, "+12015550199 is answered by")
	clitest.Execute(t, "", "numbers", "create", "+4930123456", "--data-dir", dir).
		Wants(t, command.ExitFailed, "not one of the carrier's account")
	clitest.Execute(t, "", "tenants", "create", "acme", "--plan", "free", "--data-dir", dir, "--json").Wants(t,
		command.ExitDone, `"api_key":"prl_`)
	clitest.Execute(t, "", "dev", "--data-dir", dir).Wants(t, command.ExitFailed, "another `parlance dev` uses",
		strings.TrimSuffix(env[command.EnvBaseURL], "/v1"))
	first.interrupt()
	first.wantsEnd()

	second := startDev(t, dir, "--tls")
	second.await("Ctrl-C stops everything")
	again := readEnv(t, dir)
	for _, name := range []string{command.EnvAPIKey, command.EnvWorkspace, command.EnvAgent} {
		if again[name] != env[name] {
			t.Errorf("%s changed from one start to the next", name)
		}
	}
	readyOverTLS(t, dir, strings.TrimSuffix(again[command.EnvBaseURL], "/v1"))
	clitest.Execute(t, "", "call", "+12015550125", "--to", "+12015550199", "--hang-up-after", "1ms", "--data-dir", dir).
		Wants(t, command.ExitDone, "answered")
	clitest.Execute(t, "Which file types can I upload?", "chat", "--data-dir", dir).Wants(t, command.ExitDone, "plain text and Markdown")
	second.interrupt()
	second.interrupt()
	second.wantsEnd()
}

// readyOverTLS requests /readyz with the local CA, over HTTP/2, which gRPC needs.
func readyOverTLS(t *testing.T, dir, origin string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(clitest.ReadFile(t, filepath.Join(dir, command.CAFile))))
	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, origin+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // the status is all that was wanted
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Errorf("%s %s, want 200 over HTTP/2", resp.Proto, resp.Status)
	}
}

// TestDevStopsInMidStart interrupts the start at each of its steps, once and twice, and then starts
// with the same directory.
func TestDevStopsInMidStart(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	for _, moment := range []struct {
		line  string
		times int
	}{
		{"making a Postgres", 1},
		{"making a Postgres", 2},
		{"starting Postgres", 1},
		{"starting Redis", 2},
		{"with pgvector and Redis", 1},
		{"Migrating", 2},
		{"Seeding", 1},
		{"data in", 1},
		{"data in", 2},
	} {
		p := startDev(t, dir)
		p.await(moment.line)
		for range moment.times {
			p.interrupt()
		}
		p.wantsEnd()
	}
	p := startDev(t, dir)
	p.await("Ctrl-C stops everything")
	p.interrupt()
	p.wantsEnd()
}

func TestDevOutlivesKill(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	first := startDev(t, dir)
	first.await("Ctrl-C stops everything")
	key := readEnv(t, dir)[command.EnvAPIKey]
	if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // killed
	second := startDev(t, dir)
	second.await("were running already")
	second.await("Ctrl-C stops everything")
	if got := readEnv(t, dir)[command.EnvAPIKey]; got != key {
		t.Error("the key changed")
	}
	second.interrupt()
	second.wantsEnd()
}

func TestDevNamesAFreePort(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }() // the end of the test
	port := taken.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	clitest.Execute(t, "", "dev", "--data-dir", dir, "--model", "none", "--port", fmt.Sprint(port)).
		Wants(t, command.ExitUsage, fmt.Sprintf("port %d is taken by another program: use --port ", port))
	if lock, err := devstack.TryLockExclusive(filepath.Join(dir, "dev.lock")); err != nil || lock == nil {
		t.Errorf("the data directory is still taken: %v", err)
	} else {
		lock.Unlock()
	}
}

func TestDevRefusesWrongModel(t *testing.T) {
	t.Parallel()
	clitest.Execute(t, "", "dev", "--model", "gpt").Wants(t, command.ExitUsage, "--model must be auto or none")
	clitest.Execute(t, "", "dev", "--embedding", "nomic-embed-text").Wants(t, command.ExitUsage, "--embedding must be tell, auto or none")
}
