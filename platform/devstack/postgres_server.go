package devstack

import (
	"context"
	"path/filepath"
	"syscall"
)

// PostgresParams describe one private Postgres with pgvector that keeps what it has committed.
type PostgresParams struct {
	// Dir is absolute and holds the data and the log; it is made.
	Dir string
	// CacheDir and PGBin are as in Options.
	CacheDir, PGBin string
	// DieWithUs ends the server when our process is killed, on Linux.
	DieWithUs bool
}

// PostgresServer is a Postgres of its own on a unix socket, which can be killed and started
// again. Everything is synced as in production. Its methods are not safe for concurrent use.
type PostgresServer struct {
	cluster cluster
	proc    *process
}

// NewPostgresServer finds the installation and prepares the directory; Start runs the server.
// Errors: *MissingError when nothing that is installed will do; Start of this package installs.
func NewPostgresServer(ctx context.Context, p PostgresParams) (*PostgresServer, error) {
	o, err := Options{DataDir: p.Dir, CacheDir: p.CacheDir, PGBin: p.PGBin}.withDefaults()
	if err != nil {
		return nil, err
	}
	found, err := Inspect(ctx, o)
	if err != nil {
		return nil, err
	}
	if !found.Plan.Empty() {
		return nil, &MissingError{Plan: found.Plan}
	}
	c, err := newCluster(o.DataDir, found.Postgres)
	if err != nil {
		return nil, err
	}
	c.dieWithUs = p.DieWithUs
	return &PostgresServer{cluster: c}, nil
}

// Socket is the path of the unix socket.
func (s *PostgresServer) Socket() string { return filepath.Join(s.cluster.socketDir, postgresSocket) }

// URL is a DSN for pgx and libpq of the database that Start makes, as a superuser.
func (s *PostgresServer) URL() string { return s.cluster.url(databaseName) }

// TCPURL is URL for a host and port that lead to Socket; there is no password.
func (s *PostgresServer) TCPURL(address string) string {
	return "postgres://" + superuser + "@" + address + "/" + databaseName + "?sslmode=disable"
}

// Start runs the server on the data it has, the first time on a new cluster with the vector
// extension, and returns when it answers.
func (s *PostgresServer) Start(ctx context.Context) (err error) {
	s.proc, err = s.cluster.run(ctx, func(string, ...any) {})
	return err
}

// Stop ends the server at once by its immediate shutdown: connections break and the next Start
// recovers from the log. It waits for the end.
func (s *PostgresServer) Stop() { s.end(syscall.SIGQUIT) }

// Kill ends the first process with SIGKILL; its children notice and end by themselves.
func (s *PostgresServer) Kill() { s.end(syscall.SIGKILL) }

func (s *PostgresServer) end(signal syscall.Signal) {
	s.proc.kill(signal)
	s.proc = nil
}
