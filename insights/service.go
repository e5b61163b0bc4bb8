package insights

import (
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service needs; all but Currency and Now are required.
type Deps struct {
	DB         *postgres.DB
	Redis      goredis.UniversalClient
	Workspaces *workspaces.Service
	Usage      *usage.Service
	// Currency is that of the prices of models; empty without prices.
	Currency string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service reads. It is safe for concurrent use.
type Service struct {
	Deps
}

// New returns a Service.
func New(d Deps) *Service {
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Service{d}
}

// now is the time as Postgres stores it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }
