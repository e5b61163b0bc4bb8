package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"parlance.dev/parlance/workspaces"
)

// maxRecalled bounds how many agents a process remembers; which one makes room is left to chance.
const maxRecalled = 1024

// memory keeps agents as JSON, so that nobody changes what another got from it.
type memory struct {
	mu     sync.Mutex
	agents map[remembered][]byte
}

// remembered is an agent of a tenant: another tenant's is as unknown here as one that never was.
type remembered struct {
	tenant workspaces.TenantID
	id     ID
}

func (m *memory) get(id remembered) (encoded []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.agents[id]
}

func (m *memory) put(id remembered, encoded []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agents == nil {
		m.agents = map[remembered][]byte{}
	}
	if _, known := m.agents[id]; !known && len(m.agents) >= maxRecalled {
		for some := range m.agents {
			delete(m.agents, some)
			break
		}
	}
	m.agents[id] = encoded
}

// Recall is Find from this process's memory where it has the agent; recalled says so. What is
// recalled may have been saved anew or deleted since: use it only in a statement that checks the
// agent's version itself, and Find the agent when it does not hold.
// Errors: NotFound.
func (s *Service) Recall(ctx context.Context, p workspaces.Principal, id ID) (agent Agent, recalled bool, err error) {
	encoded := s.memory.get(remembered{p.TenantID, id})
	if encoded == nil {
		agent, err = s.FindAnew(ctx, p, id)
		return agent, false, err
	}
	if err := json.Unmarshal(encoded, &agent); err != nil {
		return Agent{}, false, fmt.Errorf("decode a recalled agent: %w", err)
	}
	if !p.MayTouch(agent.Ref()) { // how long the refusal takes must not tell that there is one
		agent, err = s.FindAnew(ctx, p, id)
		return agent, false, err
	}
	return agent, true, nil
}

// FindAnew is Find that replaces what Recall remembers. Errors: NotFound.
func (s *Service) FindAnew(ctx context.Context, p workspaces.Principal, id ID) (Agent, error) {
	agent, err := s.Find(ctx, p, id)
	if err != nil {
		return Agent{}, err
	}
	encoded, err := json.Marshal(agent)
	if err != nil {
		return Agent{}, fmt.Errorf("encode an agent: %w", err)
	}
	s.memory.put(remembered{agent.TenantID, id}, encoded)
	return agent, nil
}
