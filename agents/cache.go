package agents

import (
	"context"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/workspaces"
)

// maxCached bounds the agents that a process caches.
const maxCached = 1024

// cacheKey is an agent of a tenant: the cache shows nothing of the agents of other tenants.
type cacheKey struct {
	tenant workspaces.TenantID
	id     ID
}

// FindCached is Find from the cache of this process. fromCache says that the agent came from there:
// it may have been saved or deleted since, so use it only in a statement that checks the version of
// the agent, and call FindFresh when that version is not the latest. Errors: NotFound.
func (s *Service) FindCached(ctx context.Context, p workspaces.Principal, id ID) (agent Agent, fromCache bool, err error) {
	encoded, cached := s.cache.Get(cacheKey{p.TenantID, id})
	if !cached {
		agent, err = s.FindFresh(ctx, p, id)
		return agent, false, err
	}
	if err := json.Unmarshal(encoded, &agent); err != nil {
		return Agent{}, false, fmt.Errorf("decode cached agent: %w", err)
	}
	if !p.MayTouch(agent.Ref()) { // a refusal takes as long as for an agent that does not exist
		agent, err = s.FindFresh(ctx, p, id)
		return agent, false, err
	}
	return agent, true, nil
}

// FindFresh is Find that also caches the agent, as JSON, so that no caller changes the agent of
// another. Errors: NotFound.
func (s *Service) FindFresh(ctx context.Context, p workspaces.Principal, id ID) (Agent, error) {
	agent, err := s.Find(ctx, p, id)
	if err != nil {
		return Agent{}, err
	}
	encoded, err := json.Marshal(agent)
	if err != nil {
		return Agent{}, fmt.Errorf("encode agent: %w", err)
	}
	s.cache.Set(cacheKey{agent.TenantID, id}, encoded)
	return agent, nil
}
