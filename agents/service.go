package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	// CheckDisabledTools refuses names that are not built-in tools. Package app sets it to that of
	// package tools.
	CheckDisabledTools func(names []string) error
	// Embedder compares sentences with the examples of guards; nil: nothing does.
	Embedder embedding.Embedder
	// Models finds the judges of guards; nil: there are none.
	Models ModelFunc
	// Priced says which models have a price; nil: none has.
	Priced PriceFunc
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}

// Service manages agents. Safe for concurrent use.
type Service struct {
	db                 *postgres.DB
	workspaces         *workspaces.Service
	checkDisabledTools func(names []string) error
	comparer           Comparer
	models             ModelFunc
	priced             PriceFunc
	now                func() time.Time
	cache              *cache.Cache[cacheKey, []byte]
}

// New makes the service.
func New(d Deps) *Service {
	s := &Service{
		db: d.DB, workspaces: d.Workspaces, checkDisabledTools: d.CheckDisabledTools, comparer: Comparer{d.Embedder}, now: d.Now,
		models: d.Models, priced: d.Priced, cache: cache.New[cacheKey, []byte](maxCached),
	}
	if s.checkDisabledTools == nil {
		s.checkDisabledTools = func([]string) error { return nil }
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// timestamp is the time as Postgres keeps it.
func (s *Service) timestamp() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// check is Config.Check with the check of disabled_tools by package tools. stored is the
// configuration before the change.
func (s *Service) check(c, stored Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := c.checkBuilt(stored, s.comparer, s.priced); err != nil {
		return err
	}
	err := s.checkDisabledTools(c.DisabledTools)
	if decided, ok := errors.AsType[*fault.Error](err); ok {
		for i := range decided.Fields {
			decided.Fields[i].Field = "tools_config." + decided.Fields[i].Field
		}
		if decided.Reason == fault.InvalidRequest {
			return fault.InvalidFields(decided.Fields...) // its message names the field
		}
	}
	return err
}

// checkNew checks the configuration of a new agent.
func (s *Service) checkNew(ctx context.Context, ref workspaces.Ref, config Config) error {
	if err := s.check(config, Config{}); err != nil {
		return err
	}
	return s.checkModels(ctx, ref, config, Config{})
}

// Create makes an agent at version 1.
// Errors: Invalid invalid-request, Invalid system-tool-always-on, Unimplemented not-implemented.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, name string, config Config) (Agent, error) {
	if err := s.checkNew(ctx, ref, config); err != nil {
		return Agent{}, err
	}
	now := s.timestamp()
	agent := Agent{
		ID: ID(idgen.In(ctx, idgen.Agent)), TenantID: ref.TenantID, WorkspaceID: ref.ID,
		Name: name, Version: 1, Config: config.withDefaults(), CreatedAt: now, UpdatedAt: now,
	}
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		return insertAgent(ctx, tx, agent)
	})
	if err != nil {
		if made, findErr := selectAgent(ctx, s.db, ref, agent.ID); findErr == nil { // a repeated request: see idgen.In
			return made, nil
		}
	}
	return agent, err
}

// Get returns an agent at its latest version. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Agent, error) {
	return selectAgent(ctx, s.db, ref, id)
}

// Unknown returns the ids that are not agents of the workspace, in the same order.
func (s *Service) Unknown(ctx context.Context, ref workspaces.Ref, ids []string) ([]string, error) {
	return selectUnknown(ctx, s.db, ref, ids)
}

// Find returns an agent of any workspace the caller may touch. Errors: NotFound.
func (s *Service) Find(ctx context.Context, p workspaces.Principal, id ID) (Agent, error) {
	agent, err := selectTenantAgent(ctx, s.db, p.TenantID, id)
	if err != nil {
		return Agent{}, err
	}
	if !p.MayTouch(agent.Ref()) {
		return Agent{}, fault.NoSuch("agent", string(id))
	}
	return agent, nil
}

// List lists the workspace's agents, newest first unless params has an OrderBy. A Query narrows it
// by name. Errors: Invalid invalid-request (page_size, order_by, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, params postgres.PageParams) ([]Agent, string, error) {
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(ref.TenantID), string(ref.ID)}
	return listAgents(ctx, s.db, ref, params)
}

// checkVersion refuses to change an agent that is at none of the expected versions; none: any.
func checkVersion(agent Agent, expected []int) error {
	if len(expected) == 0 || slices.Contains(expected, agent.Version) {
		return nil
	}
	return fault.New(fault.VersionMismatch, "The agent is at version %d by now; read it before you change it.", agent.Version)
}

// Update applies change to the name and the configuration of an agent and saves the next version.
// If nothing changes it saves none. Concurrent updates are made one after the other. With expected
// versions the agent must be at one of them. Errors: NotFound, Invalid invalid-request, Invalid
// system-tool-always-on, Unimplemented not-implemented, Outdated version-mismatch.
func (s *Service) Update(
	ctx context.Context, ref workspaces.Ref, id ID, change func(name *string, config *Config), expected ...int,
) (Agent, error) {
	now := s.timestamp()
	// Finding a model may read the workspace's credentials, so it is not done in the transaction.
	if agent, err := s.Get(ctx, ref, id); err == nil {
		stored := agent.Config
		change(&agent.Name, &agent.Config)
		if err := s.checkModels(ctx, ref, agent.Config, stored); err != nil {
			return Agent{}, err
		}
	}
	var agent Agent
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if agent, err = lockAgent(ctx, tx, ref, id); err != nil {
			return err
		}
		if err := checkVersion(agent, expected); err != nil {
			return err
		}
		return s.saveChange(ctx, tx, &agent, change, now)
	})
	return agent, err
}

// saveChange applies change to a locked agent and saves the next version. If nothing changes it
// saves none.
func (s *Service) saveChange(
	ctx context.Context, tx bun.Tx, agent *Agent, change func(name *string, config *Config), now time.Time,
) error {
	before := versionOf(*agent)
	change(&agent.Name, &agent.Config)
	if strings.TrimSpace(agent.Name) == "" {
		return fault.InvalidField("name", "required", "name cannot be empty.")
	}
	if err := s.check(agent.Config, before.Config); err != nil {
		return err
	}
	agent.Config = agent.Config.withDefaults()
	changes, err := compare(before, versionOf(*agent))
	if err != nil || len(changes) == 0 {
		return err
	}
	agent.Version++
	agent.UpdatedAt = now
	return saveVersion(ctx, tx, *agent)
}

// SetDisabledTools replaces the list of built-in tools that are off. Errors: as Update.
func (s *Service) SetDisabledTools(ctx context.Context, ref workspaces.Ref, id ID, names []string, expected ...int) (Agent, error) {
	return s.Update(ctx, ref, id, func(_ *string, config *Config) { config.DisabledTools = names }, expected...)
}

// Delete removes an agent, its versions, draft and attachments; repeating it is not an error. With
// expected versions the agent must be at one of them. Errors: NotFound, Outdated version-mismatch.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id ID, expected ...int) error {
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		agent, err := lockAgent(ctx, tx, ref, id)
		if fault.IsReason(err, fault.ResourceNotFound) {
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "agent", string(id))
		}
		if err != nil {
			return err
		}
		if err := checkVersion(agent, expected); err != nil {
			return err
		}
		if _, err := deleteAgent(ctx, tx, ref, id); err != nil {
			return err
		}
		return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
	})
}

// Versions lists an agent's versions, newest first. Errors: NotFound.
func (s *Service) Versions(ctx context.Context, ref workspaces.Ref, id ID, params postgres.PageParams) ([]Version, string, error) {
	if _, err := s.Get(ctx, ref, id); err != nil {
		return nil, "", err
	}
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(ref.TenantID), string(ref.ID), string(id)}
	return listVersions(ctx, s.db, ref, id, params)
}

// Rollback saves an earlier version again, as a new one. With expected versions the agent must be
// at one of them. Errors: NotFound, Unimplemented not-implemented, Outdated version-mismatch.
func (s *Service) Rollback(ctx context.Context, ref workspaces.Ref, id ID, version int, expected ...int) (Agent, error) {
	earlier, err := selectVersion(ctx, s.db, ref, id, version)
	if err != nil {
		return Agent{}, err
	}
	return s.Update(ctx, ref, id, func(name *string, config *Config) { *name, *config = earlier.Name, earlier.Config }, expected...)
}

// Compare lists the fields in which version differs from against; 0 is the version before.
// Errors: NotFound.
func (s *Service) Compare(ctx context.Context, ref workspaces.Ref, id ID, version, against int) ([]Change, error) {
	if against == 0 {
		against = version - 1
	}
	to, err := selectVersion(ctx, s.db, ref, id, version)
	if err != nil {
		return nil, err
	}
	from, err := selectVersion(ctx, s.db, ref, id, against)
	if err != nil {
		return nil, err
	}
	return compare(from, to)
}
