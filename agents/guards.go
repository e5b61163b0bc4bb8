package agents

import (
	"context"
	"fmt"

	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Zones are the no-go zones of the agent, in the order of Guards. Errors: a phrase or pattern that
// cannot be used.
func (c Config) Zones() (*nogo.Zones, error) {
	zones := make([]nogo.Zone, len(c.Guards))
	for i, g := range c.Guards {
		zones[i] = nogo.Zone{Name: g.Name, Phrases: g.Phrases, Patterns: g.Patterns}
	}
	return nogo.Compile(zones)
}

// checkGuards refuses guards that would guard nothing or cannot be used, and two of one name.
// Errors: Invalid invalid-request.
func checkGuards(guards []Guard) error {
	var fields []fault.Field
	names := map[string]bool{}
	for i, g := range guards {
		add := func(field, code, message string) {
			fields = append(fields, fault.Field{Field: fmt.Sprintf("guards[%d].%s", i, field), Code: code, Message: message})
		}
		if names[g.Name] {
			add("name", "repeated", "Another guard has this name; events and receipts tell guards by their names.")
		}
		names[g.Name] = true
		if len(g.Phrases)+len(g.Patterns)+len(g.Examples) == 0 {
			add("phrases", "required", "The guard has no phrase and no pattern, so it would guard nothing.")
		}
		if _, err := nogo.Compile([]nogo.Zone{{Name: g.Name, Phrases: g.Phrases}}); err != nil {
			add("phrases", "unusable", err.Error())
		}
		if _, err := nogo.Compile([]nogo.Zone{{Name: g.Name, Patterns: g.Patterns}}); err != nil {
			add("patterns", "unusable", err.Error())
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.InvalidFields(fields...)
}

// GuardVerdict is a guard that a text matches.
type GuardVerdict struct {
	Guard
	// Matched is the part of the text, MatchedBy phrase or pattern.
	Matched, MatchedBy string
}

// CheckGuards returns the guards of an agent that a text matches, in their order; the first one
// acts. Errors: NotFound.
func (s *Service) CheckGuards(ctx context.Context, ref workspaces.Ref, id ID, text string) ([]GuardVerdict, error) {
	agent, err := s.Get(ctx, ref, id)
	if err != nil {
		return nil, err
	}
	zones, err := agent.Config.Zones()
	if err != nil {
		return nil, fmt.Errorf("the guards of %s: %w", id, err)
	}
	found, err := zones.Find(ctx, text, nil)
	verdicts := make([]GuardVerdict, len(found))
	for i, match := range found {
		verdicts[i] = GuardVerdict{agent.Config.Guards[match.Zone], match.Matched, match.By}
	}
	return verdicts, err
}
