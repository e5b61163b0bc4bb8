package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	clusterName    = "postgres" // the cluster's directory below DataDir
	databaseName   = "parlance"
	superuser      = "parlance"
	maintenance    = "postgres"      // to connect to when nothing else is sure; template1 has to stay free
	postgresSocket = ".s.PGSQL.5432" // the port only names the socket: there is no TCP listener
)

// cluster is one Postgres data directory and the server on it.
type cluster struct {
	pg        Postgres
	account   *account
	dataDir   string // absolute, of the whole stack
	socketDir string
	ephemeral bool
	// dieWithUs ends the server when our process is killed; an ephemeral one always does.
	dieWithUs bool
}

// newCluster prepares the directories of a cluster; its methods make and start it.
func newCluster(dataDir string, pg Postgres) (cluster, error) {
	if err := makeDir(dataDir, 0o711); err != nil { // the servers' account passes through
		return cluster{}, err
	}
	account, err := serverAccount()
	if err != nil {
		return cluster{}, err
	}
	sockets, err := socketDir(dataDir)
	if err != nil {
		return cluster{}, err
	}
	return cluster{pg: pg, account: account, dataDir: dataDir, socketDir: sockets}, account.give(sockets)
}

func (c cluster) dir() string     { return filepath.Join(c.dataDir, clusterName) }
func (c cluster) logPath() string { return filepath.Join(c.dataDir, "postgres.log") }
func (c cluster) pidPath() string { return filepath.Join(c.dir(), "postmaster.pid") }

// url is a DSN for pgx and libpq. The directory's mode is what protects it.
func (c cluster) url(database string) string {
	query := url.Values{"host": {c.socketDir}, "port": {"5432"}, "user": {superuser}}
	return "postgres:///" + database + "?" + query.Encode()
}

// create runs initdb in a directory beside the final one, so that an interrupted run leaves
// nothing that looks like a cluster.
func (c cluster) create(ctx context.Context) error {
	fresh := c.dir() + ".new"
	err := os.RemoveAll(fresh)
	if err != nil {
		return fmt.Errorf("remove unfinished cluster: %w", err)
	}
	err = c.account.give(fresh)
	if err != nil {
		return err
	}
	locale := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		locale = "en_US.UTF-8"
	}
	cmd := command(ctx, 5*time.Second, filepath.Join(c.pg.BinDir, "initdb"), "--pgdata="+fresh, "--username="+superuser,
		"--auth=trust", "--encoding=UTF8", "--locale="+locale, "--no-sync", "--no-instructions")
	cmd.Dir = fresh
	cmd.Env = serverEnv
	cmd.SysProcAttr.Credential = c.account.credential()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), os.RemoveAll(fresh))
	}
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, lastLines(string(out), 12))
	}
	err = os.Rename(fresh, c.dir())
	if err != nil {
		return fmt.Errorf("put cluster in place: %w", err)
	}
	return nil
}

// run starts the server with its database, and makes the cluster first if there is none. It tells
// step what it does.
func (c cluster) run(ctx context.Context, step logFunc) (*process, error) {
	_, made := dataMajor(c.dataDir)
	if !made {
		step("making a Postgres %d cluster in %s", c.pg.Major, c.dir())
		err := c.create(ctx)
		if err != nil {
			return nil, err
		}
	}
	step("starting Postgres %s with pgvector %s", c.pg.Version, c.pg.Vector)
	proc, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	err = c.prepare(ctx)
	if err != nil {
		proc.kill(syscall.SIGINT)
		return nil, err
	}
	return proc, nil
}

// orphanPatience is how long a postmaster that does not answer gets to end, and backends to notice
// that theirs was killed.
const orphanPatience = 5 * time.Second

// start runs the server and returns when it takes queries.
func (c cluster) start(ctx context.Context) (*process, error) {
	err := c.clearStalePid(ctx)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(orphanPatience)
	for {
		proc, err := c.startOnce(ctx)
		orphans := err != nil && strings.Contains(err.Error(), "shared memory block")
		if !orphans || time.Now().After(deadline) {
			return proc, err
		}
	}
}

func (c cluster) startOnce(ctx context.Context) (*process, error) {
	return startServer(ctx, processParams{
		account:   c.account,
		dir:       c.dir(),
		logPath:   c.logPath(),
		program:   filepath.Join(c.pg.BinDir, "postgres"),
		args:      c.args(),
		abort:     syscall.SIGQUIT, // immediate shutdown
		dieWithUs: c.ephemeral || c.dieWithUs,
	}, func() bool { return c.answers(ctx, maintenance) })
}

func (c cluster) args() []string {
	settings := []string{
		"listen_addresses=",
		"unix_socket_directories=" + c.socketDir,
		"unix_socket_permissions=0700",
		"port=5432",
		"max_connections=300",
		"timezone=UTC",
		"log_timezone=UTC",
		// Without it a filtered vector search returns too few rows. A placeholder until vector.so
		// is loaded, and inherited by every database, which ALTER DATABASE would not be.
		"hnsw.iterative_scan=strict_order",
	}
	if !AtLeast(c.pg.Vector, SafeVector) {
		settings = append(settings, "max_parallel_maintenance_workers=0") // CVE-2026-3172
	}
	if c.ephemeral {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "max_wal_size=2GB")
	}
	args := []string{"-D", c.dir()}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// clearStalePid makes a postmaster.pid harmless whose number now belongs to another process:
// Postgres would refuse to start. Every other stale file is left to Postgres, and this one keeps
// its further lines, because they tell it whether old backends still use the shared memory. A
// server that is just ending gets some time for it.
func (c cluster) clearStalePid(ctx context.Context) error {
	pid, ok := c.pid()
	if !ok || !alive(pid) {
		return nil
	}
	if c.owns(pid) {
		ctx, cancel := context.WithTimeout(ctx, orphanPatience)
		defer cancel()
		if waitGone(ctx, pid) == nil {
			return nil
		}
		return fmt.Errorf("postgres (process %d) runs on %s but does not answer: end it, or see %s", pid, c.dir(), c.logPath())
	}
	content, err := os.ReadFile(c.pidPath())
	if err != nil {
		return fmt.Errorf("read stale postmaster.pid: %w", err)
	}
	_, rest, _ := bytes.Cut(content, []byte("\n"))
	content = append([]byte(impossiblePid+"\n"), rest...)
	err = os.WriteFile(c.pidPath(), content, 0o600)
	if err != nil {
		return fmt.Errorf("mark postmaster.pid as stale: %w", err)
	}
	return nil
}

// impossiblePid is above every system's limit.
const impossiblePid = "2147483647"

// owns reports whether the process works in the cluster's directory, as a postmaster does. Where
// that cannot be seen the answer is yes: taking a live server's lock file away would be worse.
func (c cluster) owns(pid int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err != nil || cwd == resolve(c.dir())
}

// pid reads the first line of postmaster.pid.
func (c cluster) pid() (int, bool) {
	content, _ := os.ReadFile(c.pidPath()) // without the file there is no number
	line, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(line)
	return pid, err == nil && pid > 0
}

// answers reports whether a query on database works.
func (c cluster) answers(ctx context.Context, database string) bool {
	return c.exec(ctx, database, "SELECT 1") == nil
}

// prepare makes the database and the extension, which needs a superuser because pgvector's
// control file is not trusted. In template1 so that every later database has it. Idempotent.
func (c cluster) prepare(ctx context.Context) error {
	extension := []string{"CREATE EXTENSION IF NOT EXISTS vector", "ALTER EXTENSION vector UPDATE"}
	err := c.exec(ctx, "template1", extension...)
	if err != nil {
		return err
	}
	if c.answers(ctx, databaseName) {
		return c.exec(ctx, databaseName, extension...)
	}
	return c.exec(ctx, maintenance, "CREATE DATABASE "+databaseName)
}

// exec runs statements over a connection of their own.
func (c cluster) exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, c.url(database))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }() // all statements have been answered
	for _, statement := range statements {
		_, err = conn.Exec(ctx, statement)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", statement, database, err)
		}
	}
	return nil
}

// stop ends the server, ours or one that another process started, and waits for it.
func (c cluster) stop(ctx context.Context) error {
	pid, ok := c.pid()
	if !ok || !alive(pid) || !c.owns(pid) {
		return nil
	}
	sig := syscall.SIGINT // fast: roll back, checkpoint, end
	if c.ephemeral {
		sig = syscall.SIGQUIT // immediate: the files are thrown away
	}
	err := syscall.Kill(pid, sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return waitGone(ctx, pid)
}
