package devstack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/devstack"
)

// dataDir is a directory that the servers' account can reach; t.TempDir is closed to it.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "prl-dev-")
	if err != nil {
		t.Fatalf("make directory: %v", err)
	}
	err = os.Chmod(dir, 0o711)
	if err != nil {
		t.Fatalf("open directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func start(t *testing.T, o devstack.Options) *devstack.Stack {
	t.Helper()
	s, err := devstack.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *devstack.Stack) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	err := s.Stop(ctx)
	if err != nil {
		t.Errorf("stop: %v", err)
	}
}

// query runs one statement that returns one text.
func query(t *testing.T, url, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var text string
	err = conn.QueryRow(t.Context(), statement).Scan(&text)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return text
}

func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for _, statement := range statements {
		_, err := conn.Exec(t.Context(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// processes lists the command lines of running programs that name dir.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "args").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatalf("parse %q: %v", url, err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestStartReusesAndKeeps(t *testing.T) {
	t.Parallel()
	o := devstack.Options{DataDir: dataDir(t)}
	first := start(t, o)
	if first.Reused {
		t.Error("first start says that it reused servers")
	}
	execute(t, first.DatabaseURL, "CREATE TABLE kept (word text)", "INSERT INTO kept VALUES ('still here')")
	err := redisClient(t, first.RedisURL).Set(t.Context(), "kept", "too", 0).Err()
	if err != nil {
		t.Fatalf("set: %v", err)
	}

	second := start(t, o)
	if !second.Reused || second.DatabaseURL != first.DatabaseURL || second.RedisURL != first.RedisURL {
		t.Errorf("second start: reused %t, %s, %s, want the servers of the first", second.Reused, second.DatabaseURL, second.RedisURL)
	}
	stop(t, first)
	got := query(t, second.DatabaseURL, "SELECT word FROM kept") // the other user's Stop has not ended it
	if got != "still here" {
		t.Errorf("kept = %q, want still here", got)
	}
	stop(t, second)
	if left := processes(t, o.DataDir); len(left) > 0 {
		t.Errorf("running after the last Stop: %q", left)
	}

	third := start(t, o)
	got = query(t, third.DatabaseURL, "SELECT word FROM kept")
	if third.Reused || got != "still here" {
		t.Errorf("after a restart: reused %t, kept = %q, want false and still here", third.Reused, got)
	}
	value, err := redisClient(t, third.RedisURL).Get(t.Context(), "kept").Result()
	if err != nil || value != "too" {
		t.Errorf("after a restart Redis has %q, %v, want too", value, err)
	}
}

func TestStartTogether(t *testing.T) {
	t.Parallel()
	o := devstack.Options{DataDir: filepath.Join(dataDir(t), "together"), Ephemeral: true}
	var stacks [3]*devstack.Stack
	var wait sync.WaitGroup
	for i := range stacks {
		wait.Go(func() { stacks[i] = start(t, o) })
	}
	wait.Wait()
	fresh := 0
	for _, s := range stacks {
		if !s.Reused {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d of 3 started servers, want 1", fresh)
	}
	for _, s := range stacks {
		stop(t, s)
	}
	_, err := os.Stat(o.DataDir)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ephemeral directory after the last Stop: %v, want it gone", err)
	}
	if left := processes(t, o.DataDir); len(left) > 0 {
		t.Errorf("running after the last Stop: %q", left)
	}
}

func TestVectorSearch(t *testing.T) {
	t.Parallel()
	s := start(t, devstack.Options{DataDir: dataDir(t), Ephemeral: true})
	execute(t, s.DatabaseURL,
		"CREATE TABLE places (id int, kind int, place halfvec(3))",
		"INSERT INTO places SELECT i, i % 50, ARRAY[i, i % 7, 1]::float4[]::vector::halfvec FROM generate_series(1, 2000) i",
		"CREATE INDEX ON places USING hnsw (place halfvec_l2_ops)")
	// Few rows pass the filter: without iterative scans the index returns too few of them.
	got := query(t, s.DatabaseURL, `SELECT count(*)::text FROM (
		SELECT id FROM places WHERE kind = 3 ORDER BY place <-> '[1,1,1]' LIMIT 10) nearest`)
	if got != "10" {
		t.Errorf("filtered search returned %s rows, want 10", got)
	}
	execute(t, s.DatabaseURL, "CREATE DATABASE another")
	got = query(t, strings.Replace(s.DatabaseURL, "/parlance?", "/another?", 1), "SELECT ('[1,2]'::vector <-> '[1,4]')::text")
	if got != "2" {
		t.Errorf("distance in a new database = %s, want 2", got)
	}
	for setting, want := range map[string]string{"listen_addresses": "", "fsync": "off", "TimeZone": "UTC"} {
		got := query(t, s.DatabaseURL, "SELECT current_setting('"+setting+"')")
		if got != want {
			t.Errorf("%s = %q, want %q", setting, got, want)
		}
	}
}

func TestStalePidFile(t *testing.T) {
	t.Parallel()
	o := devstack.Options{DataDir: dataDir(t)}
	s := start(t, o)
	pidFile := filepath.Join(o.DataDir, "postgres", "postmaster.pid")
	content, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatalf("read pid file: %v", err)
	}
	line, rest, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatalf("pid file starts with %q", line)
	}
	err = syscall.Kill(pid, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("kill: %v", err)
	}
	again := start(t, o)
	if got := query(t, again.DatabaseURL, "SELECT 'up'"); got != "up" || again.Reused {
		t.Errorf("after a kill: %q, reused %t, want up and false", got, again.Reused)
	}
	stop(t, s)
	stop(t, again)

	// The number has been given to another process since: this one.
	err = os.WriteFile(pidFile, []byte(fmt.Sprint(os.Getpid(), "\n", rest)), 0o644) // read by the server's account
	if err != nil {
		t.Fatalf("write pid file: %v", err)
	}
	third := start(t, o)
	if got := query(t, third.DatabaseURL, "SELECT 'up'"); got != "up" {
		t.Errorf("with a foreign process id: %q, want up", got)
	}
}

func TestStartCancelled(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"making a Postgres", "starting Postgres", "starting Redis"} {
		t.Run(strings.ReplaceAll(step, " ", ""), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := devstack.Options{DataDir: filepath.Join(dataDir(t), "cancelled"), Ephemeral: true}
			reached := false
			o.Log = func(format string, args ...any) {
				if strings.Contains(format, step) {
					reached = true
					// In the middle of the step, not before it.
					time.AfterFunc(5*time.Millisecond, cancel)
				}
			}
			s, err := devstack.Start(ctx, o)
			if err == nil {
				stop(t, s)
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("Start = %v, want context.Canceled", err)
			}
			if !reached {
				t.Errorf("never came to %q", step)
			}
			if left := processes(t, o.DataDir); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
			_, err = os.Stat(o.DataDir)
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("ephemeral directory: %v, want it gone", err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	o := devstack.Options{
		DataDir: dataDir(t),
		Tools:   []devstack.Tool{{Command: "no-such-program", Apt: "no-such-package", Brew: "no-such-formula"}},
		Confirm: func(devstack.InstallPlan) (bool, error) { return false, nil },
	}
	_, err := devstack.Start(t.Context(), o)
	missing, ok := errors.AsType[*devstack.MissingError](err)
	if !ok {
		t.Fatalf("Start = %v, want a MissingError", err)
	}
	for _, want := range []string{"no-such-program", "pgvector/pgvector:pg17", "redis:7", "export DATABASE_URL=", "export REDIS_URL="} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message lacks %q:\n%v", want, err)
		}
	}
	if missing.Plan.Command != "" && !strings.Contains(err.Error(), missing.Plan.Command) {
		t.Errorf("message lacks the line to run, %q:\n%v", missing.Plan.Command, err)
	}
	if left := processes(t, o.DataDir); len(left) > 0 {
		t.Errorf("running although something is missing: %q", left)
	}
}
