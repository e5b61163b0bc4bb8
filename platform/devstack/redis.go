package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/redis/go-redis/v9"
)

const redisSocket = "redis.sock"

// RedisParams describe one private Redis.
type RedisParams struct {
	// Program is the path of redis-server; empty means the one that Inspect finds.
	Program string
	// Dir holds the socket, the log and the data. It is made, and belongs to the server's account.
	Dir string
	// SocketDir holds the socket where Dir's path is too long for one; empty means Dir.
	SocketDir string
	// Databases is the number of logical databases; 0 means 16.
	Databases int
	// Durable switches the append-only file on, synced every second.
	Durable bool
	// DieWithUs kills the server when our process is killed, on Linux.
	DieWithUs bool
}

// rewriteFrom is how large the append-only file gets before Redis writes it anew, which takes a
// core while people wait. What sockets are sent for a while is most of it: with Redis's own 64 MB,
// 265 turns a second had it written anew every 12 s.
const rewriteFrom = "256mb"

// RedisServer is a Redis on a unix socket, with no TCP port and maxmemory-policy noeviction.
// Its methods are not safe for concurrent use.
type RedisServer struct {
	params  RedisParams
	account *account
	proc    *process // nil when another process started it
}

// NewRedisServer prepares the directory; Start runs the server.
func NewRedisServer(ctx context.Context, p RedisParams) (*RedisServer, error) {
	if p.Program == "" {
		p.Program = findRedis(ctx).Path
	}
	if p.Program == "" {
		return nil, errors.New("no redis-server of version 7 or newer")
	}
	if p.Databases == 0 {
		p.Databases = 16
	}
	if p.SocketDir == "" {
		p.SocketDir = p.Dir
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	s := &RedisServer{params: p, account: account}
	if len(s.socket()) > maxSocketPath {
		return nil, fmt.Errorf("socket path %s is longer than %d bytes", s.socket(), maxSocketPath)
	}
	return s, errors.Join(account.give(p.Dir), account.give(p.SocketDir))
}

func (s *RedisServer) socket() string { return filepath.Join(s.params.SocketDir, redisSocket) }

// URL is understood by redis.ParseURL: unix:///path/redis.sock?db=0.
func (s *RedisServer) URL() string { return "unix://" + s.socket() + "?db=0" }

// Start runs the server and returns when it answers. A server that is there already is used.
func (s *RedisServer) Start(ctx context.Context) error {
	if s.pid(ctx) != 0 {
		return nil
	}
	appendOnly := "no"
	if s.params.Durable {
		appendOnly = "yes"
	}
	var err error
	s.proc, err = startServer(ctx, processParams{
		account: s.account,
		dir:     s.params.Dir,
		logPath: filepath.Join(s.params.Dir, "redis.log"),
		program: s.params.Program,
		args: []string{
			"--port", "0", "--unixsocket", s.socket(), "--unixsocketperm", "700",
			"--dir", s.params.Dir, "--save", "", "--appendonly", appendOnly, "--appendfsync", "everysec",
			"--auto-aof-rewrite-min-size", rewriteFrom,
			"--maxmemory-policy", "noeviction", "--databases", strconv.Itoa(s.params.Databases),
			"--daemonize", "no", "--loglevel", "warning",
		},
		abort:     syscall.SIGKILL,
		dieWithUs: s.params.DieWithUs,
	}, func() bool { return s.pid(ctx) != 0 })
	return err
}

// pid asks the server on the socket for its process id; 0 when none answers or it still loads.
func (s *RedisServer) pid(ctx context.Context) int {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", s.socket())
	if err != nil {
		return 0 // said here because the client would write it to the standard log
	}
	_ = conn.Close() // only tried
	client := redis.NewClient(&redis.Options{
		Network: "unix", Addr: s.socket(), MaxRetries: -1, DialerRetries: 1, DisableIdentity: true,
	})
	defer func() { _ = client.Close() }() // nothing is in flight
	if client.Ping(ctx).Err() != nil {
		return 0
	}
	pid, _ := strconv.Atoi(client.InfoMap(ctx, "server").Item("Server", "process_id")) // not a number: no server of ours
	return pid
}

// Stop ends the server in order (the append-only file is synced) and waits for it.
func (s *RedisServer) Stop(ctx context.Context) error {
	return s.end(ctx, syscall.SIGTERM)
}

// Kill ends the server as a crash would, and waits for it.
func (s *RedisServer) Kill(ctx context.Context) error {
	return s.end(ctx, syscall.SIGKILL)
}

func (s *RedisServer) end(ctx context.Context, sig syscall.Signal) error {
	if s.proc != nil {
		s.proc.kill(sig)
		s.proc = nil
		return nil
	}
	pid := s.pid(ctx)
	if pid == 0 {
		return nil
	}
	err := syscall.Kill(pid, sig)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop redis: %w", err)
	}
	return waitGone(ctx, pid)
}
