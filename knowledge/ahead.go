package knowledge

import (
	"context"
	"slices"
	"sync"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Ahead lets a turn look for passages before the database has said what the agent has: the search goes by what it had
// when it was asked last, and what it has now is asked along with what the turn asks anyhow. When they differ the turn
// looks again, and only then. For one turn.
type Ahead struct {
	s   *Service
	key attachedKey

	mu sync.Mutex
	// used is what the search went by, found what there is; nil: not yet.
	used, found *attached
}

// attachedKey is whose sources they are.
type attachedKey struct {
	ref   workspaces.Ref
	agent agents.ID
}

// attachedBytes is how much is remembered of what agents had when they were asked last.
const attachedBytes = 1 << 20

// Ahead is made before the turn is asked for; see [RetrieveParams].
func (s *Service) Ahead(ref workspaces.Ref, agent agents.ID) *Ahead {
	return &Ahead{s: s, key: attachedKey{ref, agent}}
}

// Step is the question; it belongs into a [postgres.DB.Ask].
func (a *Ahead) Step() postgres.Step {
	return attachedStep(a.key.ref, a.key.agent, UsagePrompt, func(has attached) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.found = &has
		a.s.remember(a.key, &has)
	})
}

// Held says, behind Step, that the search has gone by what there is.
func (a *Ahead) Held() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found != nil && a.used != nil && a.used.same(a.found)
}

// attachedTo is what a search goes by. Nobody changes it.
func (s *Service) attachedTo(ctx context.Context, ref workspaces.Ref, agent agents.ID, ahead *Ahead) (*attached, error) {
	if ahead != nil {
		return ahead.attached(ctx)
	}
	has, err := s.beforeSearch(ctx, ref, agent, UsagePrompt)
	return &has, err
}

// attached is what there is, where that is known, or was; where it never was it is asked.
func (a *Ahead) attached(ctx context.Context) (*attached, error) {
	a.mu.Lock()
	has := a.found
	a.mu.Unlock()
	if has == nil {
		has = a.s.recall(a.key)
	}
	if has == nil {
		asked, err := a.s.beforeSearch(ctx, a.key.ref, a.key.agent, UsagePrompt)
		if err != nil {
			return nil, err
		}
		has = &asked
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = has
	return has, nil
}

// recall is what an agent had when it was asked last; nil: it is not known.
func (s *Service) recall(key attachedKey) *attached {
	was, there := s.lately.Get(key)
	if !there {
		return nil
	}
	return was.(*attached) //nolint:forcetypeassert,errcheck // nothing else is put there
}

// remember keeps what an agent has for the turn after.
func (s *Service) remember(key attachedKey, has *attached) {
	if was := s.recall(key); was != nil && was.same(has) {
		return
	}
	const number = 8
	s.lately.Set(key, has, number*len(has.Numbers))
}

func (a *attached) same(other *attached) bool {
	return a.Any == other.Any && a.Always == other.Always && a.Model == other.Model && slices.Equal(a.Numbers, other.Numbers)
}
