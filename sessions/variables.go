package sessions

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"parlance.dev/parlance/platform/seal"
)

// Variables of sessions that are telephone calls.
const (
	VariableCallReason    = "system__call_reason"
	VariableCallDirection = "system__call_direction"
	CallInbound           = "inbound"
	CallOutbound          = "outbound"
)

// VariableName is what the name of a dynamic variable must match.
var VariableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// placeholder matches {{name}}, also with spaces inside the braces.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,127})\s*\}\}`)

// RenderVariables replaces the placeholders of a text that the model or the user sees. A
// placeholder without a value stays as it is written. So do all secret__ ones, because values does
// not hold them.
func RenderVariables(text string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		if value, ok := values[name]; ok {
			return value
		}
		return match
	})
}

// SecretsBinding binds the sealed secret variables to the session's row.
func SecretsBinding(session Session) seal.Binding {
	return seal.Binding{TenantID: string(session.TenantID), Record: string(session.ID), Field: "secret_variables"}
}

// hashVariables returns the SHA-256 of the variables as JSON, behind a random salt that is not
// kept. The hash is in the token and in the database: without the salt a short secret, such as a
// PIN, could be guessed from it.
func hashVariables(variables map[string]string) string {
	encoded, _ := json.Marshal(variables) // strings always marshal
	sum := sha256.Sum256(append([]byte(rand.Text()), encoded...))
	return hex.EncodeToString(sum[:])
}
