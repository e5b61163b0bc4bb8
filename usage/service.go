package usage

import (
	"time"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service needs. DB and Workspaces are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service sums, reads and limits usage. It is safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	now        func() time.Time
	// known are the months of tenants that Admit has read.
	known *cache.Cache[workspaces.TenantID, known]
}

// maxKnown bounds the tenants whose month is kept in memory.
const maxKnown = 10_000

// New returns a Service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, workspaces: d.Workspaces, now: d.Now, known: cache.New[workspaces.TenantID, known](maxKnown)}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// moment is the time as Postgres stores it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }
