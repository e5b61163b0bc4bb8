package analysis

import (
	"context"
	"log/slog"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// ModelFunc finds what answers for an agent. Errors: fault upstream-failed when the named provider is not
// configured.
type ModelFunc func(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error)

// Deps is what a Service works with. DB, Sessions and Models are required.
type Deps struct {
	DB       *postgres.DB
	Sessions *sessions.Service
	Models   ModelFunc
	// Memory keeps what is learnt of users; nil: nothing is learnt.
	Memory *memory.Service
	// Gate shares the calls of models between tenants; nil: nobody waits.
	Gate *fair.Gate
	// Log gets what goes wrong without anybody to tell; nil discards it.
	Log *slog.Logger
}

// Service analyses and announces sessions that have ended. Safe for concurrent use.
type Service struct {
	db       *postgres.DB
	sessions *sessions.Service
	models   ModelFunc
	memory   *memory.Service
	gate     *fair.Gate
	log      *slog.Logger
}

// New makes the service, and has the sessions call it when one ends.
func New(d Deps) *Service {
	s := &Service{db: d.DB, sessions: d.Sessions, models: d.Models, memory: d.Memory, gate: d.Gate, log: d.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	d.Sessions.OnEnd(s.AnnounceEnd)
	return s
}
