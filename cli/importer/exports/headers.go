package exports

import (
	"net/textproto"
	"regexp"
	"slices"
	"strings"
)

// credentialName matches names of headers and parameters that hold credentials.
var credentialName = regexp.MustCompile(`(?i)authori[sz]ation|(^|[-_.])auth($|[-_.])|key|token|secret|cookie|passw|pwd|` +
	`signature|(^|[-_.])sig($|[-_.])|(^|[-_.])tok($|[-_.])|credential|bearer|jwt`)

// ownHeaders are headers that Parlance sets itself.
var ownHeaders = []string{"Content-Type", "Content-Length", "Host", "Idempotency-Key", "Connection", "Transfer-Encoding"}

const ownHeader = "Parlance sets this header itself: bodies are JSON."

// header gives a tool a header. Only what is named like a credential is stored as a secret: the
// values of secrets are cut out of the tool's answers, and those of other headers must not be.
func (t *Tool) header(name, value string) string {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	switch {
	case slices.Contains(ownHeaders, name):
		return ownHeader
	case name == "Authorization":
		t.Want.AuthHeader = value
	case isCredential(name):
		put(&t.Want.SecretHeaders, name, value)
	default:
		put(&t.Want.Headers, name, value)
	}
	t.variables(value)
	return ""
}

// headerField is the field that a header goes into.
func headerField(name string) string {
	switch name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)); {
	case name == "Authorization":
		return "tool.auth_header"
	case isCredential(name):
		return "tool.secret_headers"
	}
	return "tool.headers"
}

// secret notes a header whose value the export does not have.
func (t *Tool) secret(name string) {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	if !slices.Contains(t.Secrets, name) {
		t.Secrets = append(t.Secrets, name)
	}
}
