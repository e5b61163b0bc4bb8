package redistest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/test/pgtest/keeper"
)

// cleanupTimeout bounds what happens after a test, when t.Context has ended, and starting a server:
// patience for a machine that is busy.
const cleanupTimeout = 2 * time.Minute

// New returns the URL, for redis.ParseURL, of an empty logical database that no other test uses
// until this one ends. It is flushed then.
func New(t testing.TB) string {
	t.Helper()
	server := keeper.Acquire()
	taken, err := take(t.Context(), server)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() {
		defer taken.lock.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTimeout)
		defer cancel()
		err := flush(ctx, taken.url)
		if err != nil {
			t.Errorf("redistest: flush: %v", err)
		}
	})
	return taken.url
}

// database is a logical database that we hold.
type database struct {
	url  string
	lock *devstack.Lock
}

// take finds a database that nobody holds. The locks are files, so that a test binary that is
// killed gives its databases back.
func take(ctx context.Context, server keeper.Addresses) (database, error) {
	count, err := databases(ctx, server.RedisURL)
	if err != nil {
		return database{}, err
	}
	state, err := keeper.StateDir()
	if err != nil {
		return database{}, err
	}
	// 0 is left alone: it is where a developer looks, and where a misconfigured client ends up.
	for number := 1; number < count; number++ {
		db, err := tryTake(ctx, server, state, number)
		if err != nil || db.lock != nil {
			return db, err
		}
	}
	return database{}, fmt.Errorf("all %d databases are in use, or hold data that is not ours to remove", count-1)
}

// tryTake returns a database without a lock when number is taken.
func tryTake(ctx context.Context, server keeper.Addresses, state string, number int) (database, error) {
	address, err := withNumber(server.RedisURL, number)
	if err != nil {
		return database{}, err
	}
	kind := "shared"
	if server.ExternalRedis {
		kind = "external"
	}
	lock, err := devstack.TryLockExclusive(filepath.Join(state, "redis-"+kind, strconv.Itoa(number)+".lock"))
	if err != nil || lock == nil {
		return database{}, err
	}
	if server.ExternalRedis {
		// Somebody's server: what is in it stays.
		empty, err := isEmpty(ctx, address)
		if err != nil || !empty {
			lock.Unlock()
			return database{}, err
		}
		return database{url: address, lock: lock}, nil
	}
	err = flush(ctx, address) // a killed test may have left something
	if err != nil {
		lock.Unlock()
		return database{}, err
	}
	return database{url: address, lock: lock}, nil
}

// withNumber exchanges the logical database in a URL of either form.
func withNumber(address string, number int) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("REDIS_URL is not a URL") // not %w: it would print a password
	}
	if u.Scheme != "unix" {
		u.Path = "/" + strconv.Itoa(number)
		return u.String(), nil
	}
	query := u.Query()
	query.Set("db", strconv.Itoa(number))
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// databases asks the server how many logical databases it has.
func databases(ctx context.Context, address string) (int, error) {
	var count int
	err := with(address, func(client *redis.Client) error {
		settings, err := client.ConfigGet(ctx, "databases").Result()
		if err != nil {
			return fmt.Errorf("ask for the number of databases: %w", err)
		}
		count, err = strconv.Atoi(settings["databases"])
		return err
	})
	return count, err
}

func isEmpty(ctx context.Context, address string) (bool, error) {
	var keys int64
	err := with(address, func(client *redis.Client) (err error) {
		keys, err = client.DBSize(ctx).Result()
		return err
	})
	return keys == 0, err
}

func flush(ctx context.Context, address string) error {
	return with(address, func(client *redis.Client) error { return client.FlushDB(ctx).Err() })
}

// with runs do with a client that is closed afterwards.
func with(address string, do func(*redis.Client) error) error {
	options, err := redis.ParseURL(address)
	if err != nil {
		return errors.New("REDIS_URL is not understood") // not %w: it would print a password
	}
	client := redis.NewClient(options)
	return errors.Join(do(client), client.Close())
}

// Server is a Redis process that belongs to one test. Its methods fail the test themselves; they
// are not safe for concurrent use.
type Server struct {
	// URL is for redis.ParseURL and stays the same over restarts.
	URL string

	t     testing.TB
	redis *devstack.RedisServer
}

// NewServer starts a private Redis with an append-only file, synced every second, which ends with
// the test, also when the test binary is killed.
func NewServer(t testing.TB) *Server {
	t.Helper()
	keeper.Acquire()                           // installs redis-server where it is missing
	dir, err := os.MkdirTemp("", "prl-redis-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() {
		err := os.RemoveAll(dir)
		if err != nil {
			t.Errorf("redistest: %v", err)
		}
	})
	server, err := devstack.NewRedisServer(t.Context(), devstack.RedisParams{Dir: dir, Durable: true, DieWithUs: true})
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	s := &Server{URL: server.URL(), t: t, redis: server}
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start runs the server after Stop or Kill, with the data that it kept, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	s.run("start", s.redis.Start)
}

// Stop ends the server in order: everything written is kept.
func (s *Server) Stop() {
	s.t.Helper()
	s.run("stop", s.redis.Stop)
}

// Kill ends the server as a crash would: what it wrote to its file is kept.
func (s *Server) Kill() {
	s.t.Helper()
	s.run("kill", s.redis.Kill)
}

// run calls one of the server's methods under a deadline of its own: clean-up needs them too.
func (s *Server) run(what string, do func(context.Context) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), cleanupTimeout)
	defer cancel()
	err := do(ctx)
	if err != nil {
		s.t.Fatalf("redistest: %s: %v", what, err)
	}
}
