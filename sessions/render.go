package sessions

import (
	"maps"
	"regexp"
	"time"
)

// placeholder is {{name}}, with spaces inside allowed.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,127})\s*\}\}`)

// render fills the placeholders of a text that the model or the user sees. One without a value
// stays as it is written, and so does every secret__ one: values has none.
func RenderVariables(text string, values map[string]string) string {
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
func PublicVariables(session Session, now time.Time) map[string]string {
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
