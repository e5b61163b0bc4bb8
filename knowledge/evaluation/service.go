package evaluation

import (
	"context"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	Knowledge  *knowledge.Service
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service evaluates how well the knowledge base answers. Safe for concurrent use.
type Service struct {
	db         *postgres.DB
	workspaces *workspaces.Service
	agents     *agents.Service
	knowledge  *knowledge.Service
	now        func() time.Time
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, workspaces: d.Workspaces, agents: d.Agents, knowledge: d.Knowledge, now: d.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// moment is now as Postgres keeps it.
func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// agent checks that the workspace has the agent. Errors: NotFound.
func (s *Service) agent(ctx context.Context, ref workspaces.Ref, id agents.ID) error {
	if !idgen.Valid(idgen.Agent, string(id)) {
		return fault.NoSuch("agent", string(id))
	}
	_, err := s.agents.Get(ctx, ref, id)
	return err
}
