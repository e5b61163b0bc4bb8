package exports

import (
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
)

// credentialWord matches words of names of headers and parameters that hold credentials. Words that
// are written together are one word, because the case of a header's name says nothing.
var credentialWord = regexp.MustCompile(`^((api|access|secret|private|auth|session|client|bearer)?(key|token|secret)|` +
	`authori[sz]ation|auth|cookie|password|passwd|passphrase|passcode|pwd|pin|hmac|signature|sig|tok|credentials?|bearer|jwt)$`)

// ownHeaders are headers that Parlance sets itself.
var ownHeaders = []string{"Content-Type", "Content-Length", "Host", "Idempotency-Key", "Connection", "Transfer-Encoding"}

// lineHeaders belong to a connection, and tools cannot set them.
var lineHeaders = []string{
	"Keep-Alive", "Te", "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Expect",
}

const (
	ownHeader  = "Parlance sets this header itself: bodies are JSON."
	lineHeader = "The header belongs to the connection, which Parlance makes itself."
)

// header gives a tool a header, and says which field it went into, or why into none. Only what is
// named like a credential is stored as a secret: the values of secrets are cut out of the tool's
// answers, and those of other headers must not be. A variable is given by the session, so that the
// export holds no secret.
func (t *Tool) header(name, value string) (field, why string) {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	switch {
	case slices.Contains(ownHeaders, name):
		return "", ownHeader
	case t.isLineHeader(name):
		return "", lineHeader
	}
	t.variables(value)
	switch {
	case name == "Authorization":
		t.Want.AuthHeader = value
		return "tool.auth_header", ""
	case !isCredential(name):
	case isPlaceholder(value):
		if !strings.Contains(value, "secret__") {
			t.Notes = append(t.Notes, fmt.Sprintf("sends the header %s, which is a variable, as an ordinary header. "+
				"If the values are secrets, give the variable a name that begins with secret__", name))
		}
	default:
		put(&t.Want.SecretHeaders, name, value)
		return "tool.secret_headers", ""
	}
	put(&t.Want.Headers, name, value)
	return "tool.headers", ""
}

// secret notes a header whose value the export does not have.
func (t *Tool) secret(name string) {
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	if !slices.Contains(t.Secrets, name) && !t.isLineHeader(name) {
		t.Secrets = append(t.Secrets, name)
	}
}

// isLineHeader says whether a header belongs to the connection, and notes that it is left out.
func (t *Tool) isLineHeader(name string) bool {
	is := slices.Contains(lineHeaders, name)
	if is {
		t.Notes = append(t.Notes, "is called without the header "+name+", which belongs to the connection")
	}
	return is
}

var camelCase = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// isCredential says whether a header or parameter is named like a credential: by one of its words,
// unless the next one says that it is only the id of one.
func isCredential(name string) bool {
	name = strings.ToLower(camelCase.ReplaceAllString(name, "$1-$2"))
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. []", r) })
	for i, word := range words {
		if credentialWord.MatchString(word) && (i+1 == len(words) || words[i+1] != "id") {
			return true
		}
	}
	return false
}
