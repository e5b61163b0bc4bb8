package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/pgtest"
	"parlance.dev/parlance/test/redistest"
)

// productionFlags are the settings of a server or worker on the test's databases.
func productionFlags(t *testing.T, databaseURL string) []string {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "master.key")
	if err := seal.NewMasterKeyFile(key); err != nil {
		t.Fatal(err)
	}
	return []string{
		"--database-url", databaseURL, "--redis-url", redistest.New(t),
		"--blob-url", "file://" + dir, "--master-key-file", key, "--log-level", "error", "--shutdown-timeout", "5s",
	}
}

func TestProductionNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"server", "worker"} {
		clitest.Execute(t, "", name, "--database-url", "", "--redis-url", "").Wants(t, command.ExitUsage,
			"DATABASE_URL is not set", "REDIS_URL is not set", "PARLANCE_BLOB_URL is not set", "PARLANCE_MASTER_KEY_FILE is not set")
	}
}

func TestProductionRefusesAnOldSchema(t *testing.T) {
	t.Parallel()
	flags := productionFlags(t, pgtest.NewWith(t, pgtest.Empty{}).URL)
	for _, name := range []string{"server", "worker"} {
		clitest.Execute(t, "", append([]string{name}, flags...)...).Wants(t, command.ExitFailed, "run `parlance migrate up`")
	}
	for _, words := range [][]string{{"tenants", "create", "acme"}, {"tenants", "list"}} {
		clitest.Execute(t, "", append(words, "--database-url", flags[1])...).Wants(t, command.ExitFailed, "run `parlance migrate up`")
	}
	clitest.Execute(t, "", "migrate", "up", "--database-url", flags[1]).Wants(t, command.ExitDone, "has the schema")
}

// TestServerAndWorker starts both with production settings, and stops them as SIGTERM does.
func TestServerAndWorker(t *testing.T) {
	t.Parallel()
	flags := productionFlags(t, pgtest.New(t).URL)
	metrics := freeAddress(t)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	serverSays, workerSays := newPipe(), newPipe()
	codes := make(chan string, 2)
	for name, out := range map[string]*pipe{"server": serverSays, "worker": workerSays} {
		args := append([]string{name}, flags...)
		if name == "server" {
			args = append(args, "--listen", "127.0.0.1:0", "--metrics-listen", metrics)
		}
		go func() {
			code := cli.Execute(running, cli.IO{In: &bytes.Buffer{}, Out: io.Discard, Err: out}, args)
			_ = out.w.Close() // ends the wait for what it never said
			codes <- fmt.Sprint(name, " ", code)
		}()
	}
	address := serverSays.await(t, regexp.MustCompile(`Listening on (\S+)\.\n`))
	workerSays.await(t, regexp.MustCompile(`(Working)`))
	for _, want := range []struct {
		url    string
		status int
	}{{address + "/readyz", http.StatusOK}, {address + "/metrics", http.StatusNotFound}, {metrics + "/metrics", http.StatusOK}} {
		if got := status(t, "http://"+want.url); got != want.status {
			t.Errorf("%s answered %d, want %d", want.url, got, want.status)
		}
	}
	stop()
	for range 2 {
		select {
		case code := <-codes:
			if code[len(code)-1:] != "0" {
				t.Errorf("%s, want 0", code)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("they do not stop")
		}
	}
}

// status returns the status of an answer to GET.
func status(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // the status is all that was wanted
	return response.StatusCode
}

// freeAddress returns an address of this machine that nobody listened on a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // nothing came in
	return listener.Addr().String()
}

// pipe is the output of a running command.
type pipe struct {
	r    *io.PipeReader
	w    *io.PipeWriter
	said bytes.Buffer
}

func newPipe() *pipe {
	r, w := io.Pipe()
	return &pipe{r: r, w: w}
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

// await returns the first group of the pattern, and discards the rest of the output.
func (p *pipe) await(t *testing.T, pattern *regexp.Regexp) string {
	t.Helper()
	buffer := make([]byte, 4096)
	for {
		if found := pattern.FindStringSubmatch(p.said.String()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, p.r) }() // ends when the command does
			return found[1]
		}
		n, err := p.r.Read(buffer)
		p.said.Write(buffer[:n])
		if err != nil {
			t.Fatalf("it ended before it said %s: %s", pattern, p.said.String())
		}
	}
}
