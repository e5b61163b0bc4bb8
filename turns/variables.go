package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Variables are the variables that tools get: the public ones and the opened secrets.
func (s *Service) Variables(ctx context.Context, session sessions.Session) (tools.Variables, error) {
	values, err := s.sessions.PublicVariables(ctx, session)
	if err != nil {
		return tools.Variables{}, err
	}
	if len(session.SecretVariables) > 0 {
		opened, err := s.seal.Open(ctx, session.SecretVariables, sessions.SecretsBinding(session))
		if err != nil {
			return tools.Variables{}, fmt.Errorf("opening secret variables: %w", err)
		}
		secrets := map[string]string{}
		if err := json.Unmarshal(opened, &secrets); err != nil {
			return tools.Variables{}, fmt.Errorf("reading secret variables: %w", err)
		}
		maps.Copy(values, secrets)
	}
	return tools.NewVariables(values), nil
}

// maxAssigned bounds the variables that tools' answers set in a session. Source: decisions, dynamic
// variables.
const maxAssigned = sessions.MaxVariables

// assignments are the variables that a tool's answer sets, and their names in order.
func assignments(wanted []tools.Assignment, outcome tools.Outcome) (map[string]string, []string) {
	values := tools.Assign(wanted, outcome.OutputJSON)
	for name, value := range values {
		if !sessions.IsStorable(value) {
			delete(values, name)
		}
	}
	return values, slices.Sorted(maps.Keys(values))
}

// MergeAssigned adds values to the session's variables. New names beyond maxAssigned are left out,
// in alphabetical order.
func MergeAssigned(session *sessions.Session, values map[string]string) {
	merged := maps.Clone(session.AssignedVariables)
	if merged == nil {
		merged = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, there := merged[name]; there || len(merged) < maxAssigned {
			merged[name] = values[name]
		}
	}
	session.AssignedVariables = merged
}
