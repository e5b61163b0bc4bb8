package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"time"

	"parlance.dev/parlance/tools"
)

// placeholder is {{name}}, with spaces inside allowed.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,127})\s*\}\}`)

// render fills the placeholders of a text that the model or the user sees. One without a value
// stays as it is written, and so does every secret__ one: values has none.
func render(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		if value, ok := values[name]; ok {
			return value
		}
		return match
	})
}

// publicVariables are the session's variables and those the service sets. Caller and called
// numbers exist on telephone calls only.
func publicVariables(session Session, now time.Time) map[string]string {
	values := maps.Clone(session.DynamicVariables)
	if values == nil {
		values = map[string]string{}
	}
	maps.Copy(values, session.AssignedVariables)
	maps.Copy(values, map[string]string{
		"system__session_id":      string(session.ID),
		"system__conversation_id": string(session.ID),
		"system__agent_id":        string(session.AgentID),
		"system__user_id":         session.UserID,
		"system__time_utc":        now.UTC().Format(time.RFC3339),
		"system__timezone":        "UTC",
		"system__language":        session.Language,
	})
	return values
}

// variables are what tools get: the public ones and the opened secrets.
func (s *Service) variables(ctx context.Context, session Session) (tools.Variables, error) {
	values := publicVariables(session, s.moment())
	if len(session.SecretVariables) > 0 {
		opened, err := s.seal.Open(ctx, session.SecretVariables, secretsPlace(session))
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
