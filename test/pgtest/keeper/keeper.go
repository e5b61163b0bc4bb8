package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/devstack"
)

const (
	// idleAfter is how long the stack outlives its last user: packages are tested one after
	// another.
	idleAfter = 5 * time.Second
	// checkEvery is how often the keeper looks whether it has users.
	checkEvery = 250 * time.Millisecond
	// redisDatabases is how many tests can have a logical database of Redis at once.
	redisDatabases = 1024

	stateVariable = "PARLANCE_TEST_KEEPER_STATE"
)

// ready is the content of ready.json.
type ready struct {
	DatabaseURL string `json:"database_url"`
	RedisURL    string `json:"redis_url"`
	PID         int    `json:"pid"`   // of the keeper
	Error       string `json:"error"` // why there is no stack; the URLs are empty then
}

// In a keeper process the initialiser does not return: see the package comment.
var _ = runIfKeeper()

func runIfKeeper() bool {
	dir := os.Getenv(stateVariable)
	if dir == "" {
		return false
	}
	err := keep(state{dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

// state is the directory in which test binaries and keeper meet.
type state struct {
	dir string
}

func (s state) usersLock() string  { return filepath.Join(s.dir, "users.lock") }
func (s state) keeperLock() string { return filepath.Join(s.dir, "keeper.lock") }
func (s state) spawnLock() string  { return filepath.Join(s.dir, "spawn.lock") }
func (s state) readyFile() string  { return filepath.Join(s.dir, "ready.json") }
func (s state) logFile() string    { return filepath.Join(s.dir, "keeper.log") }
func (s state) dataDir() string    { return filepath.Join(s.dir, "data") }

// keep runs the stack until it has no users.
func keep(s state) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Whoever started us holds the lock until just after the start; a second keeper gives up.
	patience, cancel := context.WithTimeout(ctx, idleAfter)
	alone, err := devstack.LockExclusive(patience, s.keeperLock())
	cancel()
	if err != nil {
		return nil // another keeper serves
	}
	defer alone.Unlock()

	ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	var users *devstack.Lock
	var watch sync.WaitGroup
	watch.Go(func() {
		users = awaitIdle(ctx, s)
		cancel() // also ends a start that nobody waits for any more
	})
	err = serve(ctx, s)
	cancel()
	watch.Wait()
	// Held until everything is gone, so that the next binary starts a keeper of its own.
	defer users.Unlock()
	return errors.Join(err, os.Remove(s.readyFile()))
}

// serve starts the stack, writes its addresses, and stops it when ctx ends.
func serve(ctx context.Context, s state) error {
	stack, err := devstack.Start(ctx, devstack.Options{
		DataDir:        s.dataDir(),
		Ephemeral:      true,
		RedisDatabases: redisDatabases,
		PGBin:          os.Getenv("PG_BIN"),
		Log:            func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
	})
	if err != nil {
		// The users read it and end, which is what ends us.
		err = writeReady(s, ready{Error: err.Error()})
		<-ctx.Done()
		return err
	}
	err = writeReady(s, ready{DatabaseURL: stack.DatabaseURL, RedisURL: stack.RedisURL})
	if err == nil {
		<-ctx.Done()
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), idleAfter*4)
	defer cancel()
	return errors.Join(err, stack.Stop(stopping))
}

// writeReady writes ready.json whole or not at all.
func writeReady(s state, r ready) error {
	r.PID = os.Getpid()
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode addresses: %w", err)
	}
	fresh := s.readyFile() + ".new"
	err = os.WriteFile(fresh, content, 0o600)
	if err == nil {
		err = os.Rename(fresh, s.readyFile())
	}
	if err != nil {
		return fmt.Errorf("write ready.json: %w", err)
	}
	return nil
}

// awaitIdle returns the users' lock, held exclusively, when nobody has held it for idleAfter;
// nil when ctx ends first.
func awaitIdle(ctx context.Context, s state) *devstack.Lock {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	lastUsed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		lock, err := devstack.TryLockExclusive(s.usersLock())
		switch {
		case err != nil || lock == nil:
			lastUsed = time.Now()
		case time.Since(lastUsed) >= idleAfter:
			return lock
		default:
			lock.Unlock()
		}
	}
}
