package twilio

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio's signatures are made with it
	"encoding/base64"
	"net/url"
	"slices"

	"parlance.dev/parlance/platform/seal"
)

// SignatureHeader has the signature of a webhook.
const SignatureHeader = "X-Twilio-Signature"

// Sign is the signature of a request to a URL with a form: HMAC-SHA1 of the URL and the parameters
// by name, in base64. Source: twilio.com/docs/usage/security, Validating Requests. A value that is
// given twice counts once.
func Sign(token seal.Secret, target string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token.Reveal()))
	_, _ = mac.Write([]byte(target)) // a hash never fails
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Sorted(slices.Values(form[name]))
		for _, value := range slices.Compact(values) {
			_, _ = mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// isSigned reports whether a signature is one of the request. Twilio leaves the port out of some
// URLs that it signs.
func (c *Carrier) isSigned(signature, target string, form url.Values) bool {
	signed := hmac.Equal([]byte(signature), []byte(Sign(c.token, target, form)))
	if parsed, err := url.Parse(target); !signed && err == nil && parsed.Port() != "" {
		parsed.Host = parsed.Hostname()
		signed = hmac.Equal([]byte(signature), []byte(Sign(c.token, parsed.String(), form)))
	}
	return signed
}
