package keeper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/devstack"
)

const (
	// recipe changes whenever stacks of older test binaries may not be shared with newer ones.
	recipe = "1 ephemeral databases=1024"
	// startTimeout is for a bare machine, which installs packages.
	startTimeout = 10 * time.Minute
	// pollEvery is how often a waiting binary looks at the keeper's files.
	pollEvery = 20 * time.Millisecond
)

// Addresses say where the databases of this test run are.
type Addresses struct {
	// DatabaseURL is for pgx. Its user can make databases.
	DatabaseURL string
	// RedisURL is for redis.ParseURL.
	RedisURL string
	// ExternalDatabase and ExternalRedis say that DATABASE_URL or REDIS_URL chose them: they may
	// hold what is not ours.
	ExternalDatabase, ExternalRedis bool
}

// Acquire returns the databases that DATABASE_URL and REDIS_URL name; for those that are unset
// it starts, or joins, the shared stack, which this process then holds until it ends. The first
// call takes a second when nothing runs, some milliseconds otherwise; later ones nothing.
//
// When there is no stack to be had it writes why and what to do to standard error, once, and ends
// the process: a hundred failing tests would say no more.
func Acquire() Addresses {
	addresses, err := acquireOnce()
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ntests need Postgres with pgvector, and Redis\n%v\n\n", err)
		os.Exit(1)
	}
	return addresses
}

var acquireOnce = sync.OnceValues(func() (Addresses, error) {
	a := Addresses{DatabaseURL: os.Getenv("DATABASE_URL"), RedisURL: os.Getenv("REDIS_URL")}
	a.ExternalDatabase, a.ExternalRedis = a.DatabaseURL != "", a.RedisURL != ""
	if a.ExternalDatabase && a.ExternalRedis {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := defaultState()
	if err != nil {
		return Addresses{}, err
	}
	r, users, err := join(ctx, s)
	if err != nil {
		return Addresses{}, err
	}
	heldLocks = append(heldLocks, users)
	if !a.ExternalDatabase {
		a.DatabaseURL = r.DatabaseURL
	}
	if !a.ExternalRedis {
		a.RedisURL = r.RedisURL
	}
	return a, nil
})

// heldLocks keeps the lock of this process until it ends: a file that is collected is closed.
var heldLocks []*devstack.Lock

// StateDir is a directory of this user for locks that test binaries share.
func StateDir() (string, error) {
	s, err := defaultState()
	return s.dir, err
}

const (
	// memory is where Linux has a file system in memory (tmpfs), which tmpfsType names.
	memory    = "/dev/shm"
	tmpfsType = 0x01021994
	// memoryBytes is the least size of one that is used: half of a machine's memory as a rule. The
	// tests need a tenth of it.
	memoryBytes = 4 << 30
)

// tempDir is where the stack keeps its files: in memory where that is large enough, unless TMPDIR
// names another place. Each test copies a database of 800 small files, an eighth of the work there.
func tempDir() string {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &fs) == nil && fs.Type == tmpfsType &&
		int64(fs.Blocks)*fs.Bsize >= memoryBytes {
		return memory
	}
	return os.TempDir()
}

// defaultState is keyed by user and recipe. Its name can be guessed and its parent is writable
// for all, so one that belongs to somebody else is refused.
func defaultState() (state, error) {
	sum := sha256.Sum256([]byte(recipe + "\x00" + os.Getenv("PG_BIN")))
	name := "parlance-test-" + strconv.Itoa(os.Geteuid()) + "-" + hex.EncodeToString(sum[:4])
	dir := filepath.Join(tempDir(), name)
	err := os.Mkdir(dir, 0o711)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return state{}, fmt.Errorf("make state directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return state{}, fmt.Errorf("look at state directory: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(stat.Uid) != os.Geteuid() {
		return state{}, fmt.Errorf("%s belongs to somebody else: remove it, or set TMPDIR", dir)
	}
	return state{dir: dir}, nil
}

// join holds the stack of s and returns its addresses, starting a keeper if none lives. The lock
// is ours until it is unlocked or the process ends.
func join(ctx context.Context, s state) (ready, *devstack.Lock, error) {
	users, err := devstack.LockShared(ctx, s.usersLock())
	if err != nil {
		return ready{}, nil, err
	}
	r, err := await(ctx, s)
	if err != nil {
		users.Unlock()
		return ready{}, nil, err
	}
	return r, users, nil
}

// await returns the addresses of the keeper's servers. One binary at a time starts a keeper; the
// others find it.
func await(ctx context.Context, s state) (ready, error) {
	turn, err := devstack.LockExclusive(ctx, s.spawnLock())
	if err != nil {
		return ready{}, err
	}
	defer turn.Unlock()
	nobody, err := devstack.TryLockExclusive(s.keeperLock())
	if err != nil {
		return ready{}, err
	}
	var exited <-chan struct{}
	if nobody != nil {
		// What a killed keeper said is not true any more.
		err := os.Remove(s.readyFile())
		if err == nil || errors.Is(err, os.ErrNotExist) {
			exited, err = spawn(s)
		}
		nobody.Unlock()
		if err != nil {
			return ready{}, err
		}
	}
	return waitReady(ctx, s, exited)
}

// waitReady waits for ready.json and passes the keeper's progress on to standard error.
func waitReady(ctx context.Context, s state, exited <-chan struct{}) (ready, error) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var shown int64
	for {
		content, err := os.ReadFile(s.readyFile())
		if exited != nil {
			shown = showLog(s, shown)
		}
		if err == nil {
			return parse(content)
		}
		select {
		case <-ctx.Done():
			return ready{}, fmt.Errorf("wait for the databases (see %s): %w", s.logFile(), ctx.Err())
		case <-exited:
			return ready{}, fmt.Errorf("the keeper of the databases ended: see %s", s.logFile())
		case <-ticker.C:
		}
	}
}

func parse(content []byte) (ready, error) {
	var r ready
	err := json.Unmarshal(content, &r)
	if err != nil {
		return ready{}, fmt.Errorf("read addresses: %w", err)
	}
	if r.Error != "" {
		return ready{}, errors.New(r.Error)
	}
	return r, nil
}

// showLog copies what the log has from offset on and returns its new length. It is only comfort:
// failures to read it are not worth an error.
func showLog(s state, offset int64) int64 {
	file, err := os.Open(s.logFile())
	if err != nil {
		return offset
	}
	defer func() { _ = file.Close() }() // read only
	n, err := io.Copy(os.Stderr, io.NewSectionReader(file, offset, 1<<20))
	if err != nil {
		return offset
	}
	return offset + n
}

// spawn starts this executable as keeper: detached, in its own session, with none of our files
// (`go test` waits for whoever holds its output). exited is closed if it ends before we do.
func spawn(s state) (exited <-chan struct{}, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own executable: %w", err)
	}
	log, err := os.OpenFile(s.logFile(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }() // the keeper has its own descriptor
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(cmd.Environ(), stateVariable+"="+s.dir)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	if err != nil {
		return nil, fmt.Errorf("start keeper: %w", err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // reaps it; its log says how it ended
		close(done)
	}()
	return done, nil
}
