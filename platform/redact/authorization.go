package redact

import (
	"encoding/base64"
	"strings"
)

// Header returns the value of a secret header, and the parts of it that an endpoint might echo
// alone: those of an Authorization header behind its scheme, of a cookie, and of a list.
func Header(header string) []string {
	secrets := []string{header}
	scheme, credentials, found := strings.Cut(header, " ")
	if !found || strings.ContainsAny(scheme, separators) {
		return append(secrets, parts(header)...)
	}
	secrets = append(secrets, credentials)
	if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil {
		if _, password, found := strings.Cut(string(plain), ":"); found {
			secrets = append(secrets, string(plain), password)
		}
	}
	return append(secrets, parts(credentials)...)
}

// separators stand between the parts of a header.
const separators = ` ,;="'`

// parts are the words of a header that may be secrets.
func parts(header string) (secrets []string) {
	for _, part := range strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if len(part) >= minEncodedBytes && strings.ContainsAny(part, "0123456789") { // Token token="…", Signature keyId=…
			secrets = append(secrets, part)
		}
	}
	return secrets
}
