package devstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

type logFunc func(format string, args ...any)

// progress numbers the steps that a person sees: "[2/5] starting Redis".
type progress struct {
	log       logFunc
	at, total int
}

func (p *progress) step(format string, args ...any) {
	p.at++
	p.total = max(p.total, p.at)
	p.log("[%d/%d] "+format, append([]any{p.at, p.total}, args...)...)
}

// Options say where the stack lives and how it behaves.
type Options struct {
	// DataDir is absolute. It is made with mode 0711, so that the user postgres can pass when we
	// are root; the directories in it are 0700. Where a parent is closed to that user, as /root is,
	// a directory below /var/tmp stands in for it (see Stack.DataDir).
	DataDir string
	// Ephemeral is for tests: nothing is synced to disk, the servers die with the process that
	// started them, and Stop removes DataDir. Postgres and Redis start empty.
	Ephemeral bool
	// RedisDatabases is the number of logical databases of Redis; 0 means 16.
	RedisDatabases int
	// CacheDir holds our copies of Postgres with a newer pgvector; empty means parlance below the
	// user's cache directory, or below /var/tmp as for DataDir.
	CacheDir string
	// PGBin is a directory with initdb and postgres that is preferred to all others; empty means
	// the newest that is found. Callers take it from PG_BIN.
	PGBin string
	// Tools are programs wanted beside the databases. Their packages are installed with the rest.
	Tools []Tool
	// Confirm is asked before anything is installed or built; false refuses, and an error is returned
	// as it is. Nil means yes.
	// Packages are installed on apt systems as root only, whatever it says.
	Confirm func(plan InstallPlan) (bool, error)
	// Log takes progress lines for people, without a newline. Nil drops them.
	Log func(format string, args ...any)
}

func (o Options) withDefaults() (Options, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	var err error
	if o.CacheDir == "" {
		o.CacheDir, err = defaultCacheDir()
	} else {
		o.CacheDir, err = reachableDir(o.CacheDir)
	}
	if err != nil {
		return o, err
	}
	if o.DataDir == "" {
		return o, nil
	}
	if !filepath.IsAbs(o.DataDir) {
		return o, fmt.Errorf("data directory %q is not absolute", o.DataDir)
	}
	o.DataDir, err = reachableDir(filepath.Clean(o.DataDir))
	return o, err
}

// Stack is a running pair of servers, and our share in it.
type Stack struct {
	// DatabaseURL is for pgx: a superuser on database parlance with the vector extension. Databases
	// made from template1 have the extension too.
	DatabaseURL string
	// RedisURL is for redis.ParseURL: unix:///path/redis.sock?db=0.
	RedisURL string
	// DataDir is where the data really is.
	DataDir string
	// Reused says that the servers were running already.
	Reused bool
	// Postgres is the installation in use.
	Postgres Postgres

	options      Options
	cluster      cluster
	redis        *RedisServer
	redisVersion string
	users        *Lock
	steps        *progress
}

// Start makes the servers of o.DataDir run and returns when they answer. It installs what is
// missing, reuses servers that run already, and may be called by several processes at once.
// When ctx ends first, nothing that it started is left running.
//
// Errors: *MissingError when something is missing that cannot be installed here or was refused.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.DataDir == "" {
		return nil, errors.New("start databases: no data directory")
	}
	steps := &progress{log: o.Log, total: 2}
	_, made := dataMajor(o.DataDir)
	if !made {
		steps.total++
	}
	found, err := ensure(ctx, o, steps, Inspect)
	if err != nil {
		return nil, err
	}
	lock, err := LockExclusive(ctx, startLock(o.DataDir))
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	users, err := LockShared(ctx, UsersLock(o.DataDir))
	if err != nil {
		return nil, err
	}
	s, err := newStack(ctx, o, found)
	if err == nil {
		s.users, s.steps = users, steps
		err = s.run(ctx)
	}
	if err != nil {
		users.Unlock()
		return nil, err
	}
	return s, nil
}

// UsersLock is the lock that each user of the stack in dataDir holds shared. Whoever gets it
// exclusively knows that the stack is not in use.
func UsersLock(dataDir string) string { return filepath.Join(dataDir, "users.lock") }

// startLock is held while servers are being started or stopped.
func startLock(dataDir string) string { return filepath.Join(dataDir, "start.lock") }

func newStack(ctx context.Context, o Options, found Found) (*Stack, error) {
	c, err := newCluster(o.DataDir, found.Postgres)
	if err != nil {
		return nil, err
	}
	c.ephemeral = o.Ephemeral
	s := &Stack{DataDir: o.DataDir, Postgres: found.Postgres, options: o, cluster: c, redisVersion: found.Redis.Version}
	s.redis, err = NewRedisServer(ctx, RedisParams{
		Program:   found.Redis.Path,
		Dir:       filepath.Join(o.DataDir, "redis"),
		SocketDir: c.socketDir,
		Databases: o.RedisDatabases,
		Durable:   !o.Ephemeral,
		DieWithUs: o.Ephemeral,
	})
	if err != nil {
		return nil, err
	}
	s.DatabaseURL = s.cluster.url(databaseName)
	s.RedisURL = s.redis.URL()
	return s, nil
}

// run starts what does not run yet; on failure it ends what it started itself.
func (s *Stack) run(ctx context.Context) (err error) {
	postgres, err := s.runPostgres(ctx)
	if err != nil {
		return errors.Join(err, s.discard())
	}
	before := s.redis.pid(ctx)
	if before == 0 {
		s.steps.step("starting Redis %s", s.redisVersion)
	}
	err = s.redis.Start(ctx)
	if err == nil {
		s.Reused = postgres == nil && before != 0
		return nil
	}
	postgres.kill(syscall.SIGINT)
	return errors.Join(err, s.discard())
}

// runPostgres returns the process it started, or nil when the server was running.
func (s *Stack) runPostgres(ctx context.Context) (*process, error) {
	c := s.cluster
	if c.answers(ctx, databaseName) {
		return nil, nil //nolint:nilnil // nil says that there was nothing to start
	}
	if c.answers(ctx, maintenance) {
		return nil, c.prepare(ctx) // the process that started it was killed before it had prepared it
	}
	if c.ephemeral {
		// Left by a process that was killed: unsynced files are not worth a recovery.
		err := errors.Join(c.stop(ctx), os.RemoveAll(c.dir()))
		if err != nil {
			return nil, err
		}
	}
	return c.run(ctx, s.steps.step)
}

// discard removes an ephemeral stack's files after a failed start, unless somebody uses it.
func (s *Stack) discard() error {
	if !s.options.Ephemeral || !s.users.upgrade() {
		return nil
	}
	return s.remove()
}

func (s *Stack) remove() error {
	return errors.Join(os.RemoveAll(s.cluster.socketDir), os.RemoveAll(s.DataDir))
}

// Stop gives our share back. The last user's Stop ends the servers, and removes an ephemeral
// stack's files. It waits until they have ended or ctx has; a second call does nothing.
func (s *Stack) Stop(ctx context.Context) error {
	if s.users == nil {
		return nil
	}
	lock, err := LockExclusive(ctx, startLock(s.DataDir))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	defer func() {
		s.users.Unlock()
		s.users = nil
	}()
	if !s.users.upgrade() {
		return nil
	}
	err = errors.Join(s.redis.Stop(ctx), s.cluster.stop(ctx))
	if err != nil || !s.options.Ephemeral {
		return err
	}
	return s.remove()
}
