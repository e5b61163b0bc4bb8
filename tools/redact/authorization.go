package redact

import (
	"encoding/base64"
	"strings"
)

// Authorization returns the parts of an Authorization header that an endpoint might echo alone.
func Authorization(header string) []string {
	secrets := []string{header}
	_, credentials, found := strings.Cut(header, " ")
	if !found {
		return secrets
	}
	secrets = append(secrets, credentials)
	if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil {
		if _, password, found := strings.Cut(string(plain), ":"); found {
			secrets = append(secrets, string(plain), password)
		}
	}
	for _, part := range strings.FieldsFunc(credentials, func(r rune) bool { return strings.ContainsRune(` ,;="'`, r) }) {
		if len(part) >= minEncodedBytes && strings.ContainsAny(part, "0123456789") { // Token token="…", Signature keyId=…
			secrets = append(secrets, part)
		}
	}
	return secrets
}
