package pgtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/test/pgtest/keeper"
)

// Server is a Postgres that belongs to one test, with the product's migrations applied, and
// synced as in production. Its methods fail the test themselves; they are not safe for
// concurrent use.
type Server struct {
	// URL is for pgx, over the unix socket; it stays the same over restarts.
	URL string
	// Socket is the path of the unix socket.
	Socket string

	t        testing.TB
	postgres *devstack.PostgresServer
	running  bool
}

// NewServer starts a Postgres that ends with the test, also when the test binary is killed.
func NewServer(t testing.TB) *Server {
	t.Helper()
	keeper.Acquire() // installs what is missing
	// t.TempDir is too long for a socket, and closed to the account that Postgres runs as.
	dir, err := os.MkdirTemp("", "prl-pg-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	postgres, err := devstack.NewPostgresServer(t.Context(), devstack.PostgresParams{
		Dir: filepath.Join(dir, "data"), PGBin: os.Getenv("PG_BIN"), DieWithUs: true,
	})
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	s := &Server{URL: postgres.URL(), Socket: postgres.Socket(), t: t, postgres: postgres}
	t.Cleanup(func() {
		if s.running {
			s.Stop()
		}
	})
	s.Start()
	if err := defaultMigrator.Up(t.Context(), s.URL); err != nil {
		t.Fatalf("pgtest: migrate: %v", err)
	}
	return s
}

// TCPURL is URL for an address that leads to Socket.
func (s *Server) TCPURL(address string) string { return s.postgres.TCPURL(address) }

// Start runs the server after Stop or Kill and waits until it answers: it has recovered then.
func (s *Server) Start() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), cleanupTimeout)
	defer cancel()
	if err := s.postgres.Start(ctx); err != nil {
		s.t.Fatalf("pgtest: start: %v", err)
	}
	s.running = true
}

// Stop ends the server by its immediate shutdown.
func (s *Server) Stop() {
	s.postgres.Stop()
	s.running = false
}

// Kill ends the server's first process with SIGKILL, as the system does when memory runs out.
func (s *Server) Kill() {
	s.postgres.Kill()
	s.running = false
}
