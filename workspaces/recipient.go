package workspaces

import (
	"bytes"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
)

// Recipient is a server and the stored secret that is sent to it. The API returns such a secret to
// nobody, so nobody may send it to a server that it was not given for.
type Recipient struct {
	// URL is where the secret is sent, and URLField its name in requests.
	URL, URLField string
	// Sealed is the secret as it is stored; nil for none. SecretField is its name in requests.
	Sealed      []byte
	SecretField string
}

// CheckMove refuses a change from before to r that sends the stored secret to another scheme, host
// or port. A secret that is given again is sealed anew, and so differs from the stored one.
// From https to http no secret is sent. Errors: Invalid invalid-request.
func (r Recipient) CheckMove(before Recipient) error {
	if len(r.Sealed) == 0 || publicnet.SameOrigin(before.URL, r.URL) {
		return nil
	}
	if bytes.Equal(before.Sealed, r.Sealed) {
		return fault.InvalidField(r.SecretField, "required",
			"A %s with another scheme, host or port needs %s in the same request: the stored one was given for another server.",
			r.URLField, r.SecretField)
	}
	if scheme(before.URL) == "https" && scheme(r.URL) == "http" {
		return fault.InvalidField(r.URLField, "https",
			"%s cannot change from https to http while %s is set: it would be sent unencrypted. Keep https, or clear %s.",
			r.URLField, r.SecretField, r.SecretField)
	}
	return nil
}

// scheme reads the beginning of a URL only, which may have placeholders behind it.
func scheme(raw string) string {
	name, _, _ := strings.Cut(raw, "://")
	return strings.ToLower(name)
}
