package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// Variables are what tools get: the public ones and the opened secrets.
func (s *Service) Variables(ctx context.Context, session sessions.Session) (tools.Variables, error) {
	values := sessions.PublicVariables(session, s.sessions.Now())
	if len(session.SecretVariables) > 0 {
		opened, err := s.seal.Open(ctx, session.SecretVariables, sessions.SecretsPlace(session))
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
