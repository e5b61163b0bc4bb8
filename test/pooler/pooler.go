package pooler

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

const (
	// within bounds the start, which takes some tens of milliseconds.
	within = 20 * time.Second
	// port only names the socket.
	port = 6432
	// servers is how many connections the pooler makes: fewer than an installation's.
	servers = 4
)

// Mode is PgBouncer's pool_mode.
type Mode string

// The modes.
const (
	Session     Mode = "session"
	Transaction Mode = "transaction"
	Statement   Mode = "statement"
)

// Start runs a PgBouncer before the server of databaseURL, a database on a Unix socket, until the
// test ends, and returns the URL through it. Nothing of its configuration makes it lenient.
func Start(t testing.TB, databaseURL string, mode Mode) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatalf("pooler: %v", err)
	}
	query := u.Query()
	dir, err := os.MkdirTemp("", "prl-pool-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatalf("pooler: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // below the system's temporary directory anyway
	account := ownerOf(t, query.Get("host"))
	write(t, filepath.Join(dir, "users"), fmt.Sprintf("%q \"\"\n", query.Get("user")))
	write(t, filepath.Join(dir, "pgbouncer.ini"), fmt.Sprintf(`[databases]
* = host=%s port=%s
[pgbouncer]
listen_port = %d
unix_socket_dir = %s
auth_type = trust
auth_file = %s/users
pool_mode = %s
default_pool_size = %d
max_client_conn = 500
`, query.Get("host"), query.Get("port"), port, dir, dir, mode, servers))
	if err := os.Chown(dir, int(account.Uid), int(account.Gid)); err != nil {
		t.Fatalf("pooler: %v", err)
	}
	run(t, dir, account)
	query.Set("host", dir)
	query.Set("port", strconv.Itoa(port))
	u.RawQuery = query.Encode()
	return u.String()
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatalf("pooler: %v", err)
	}
}

// ownerOf is the account of the database server, whose socket nobody else may use.
func ownerOf(t testing.TB, dir string) *syscall.Credential {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatalf("pooler: %v", err)
	}
	owner := info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // what it is on every Unix
	return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
}

// run starts the program and waits until its socket is there.
func run(t testing.TB, dir string, account *syscall.Credential) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "pgbouncer", filepath.Join(dir, "pgbouncer.ini"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin"}
	if path, err := exec.LookPath("/usr/sbin/pgbouncer"); cmd.Err != nil && err == nil {
		cmd.Path, cmd.Err = path, nil
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatalf("pooler: %v", err)
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd.Stderr = log
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("pooler: %v (.ci/pooled installs it)", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	socket := filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(port))
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err == nil {
			_ = conn.Close() // only tried
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			said, _ := os.ReadFile(filepath.Join(dir, "log")) // only adds to the failure
			t.Fatalf("pooler: it does not answer: %s", said)
		}
	}
}
