package recordings

import (
	"log/slog"
	"time"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service needs. DB, Workspaces and Bucket are required.
type Deps struct {
	DB *postgres.DB
	// Workspaces says how long plans keep recordings.
	Workspaces *workspaces.Service
	Bucket     blob.Bucket
	// Log gets errors that no caller sees; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service records sessions and reads recordings. It is safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	bucket     blob.Bucket
	log        *slog.Logger
	clock      func() time.Time
}

// New returns a Service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, workspaces: d.Workspaces, bucket: d.Bucket, log: d.Log, clock: d.Now}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	return s
}

// now is the time as Postgres stores it.
func (s *Service) now() time.Time { return s.clock().UTC().Truncate(time.Microsecond) }
