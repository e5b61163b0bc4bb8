package workspaces

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
)

// credentialProviders are the providers of each kind, by the names that agents use.
var credentialProviders = map[CredentialKind][]string{
	CredentialModel:     {"openai", "anthropic", providerAzure},
	CredentialSTT:       {"openai", "deepgram", "openai-realtime"},
	CredentialTTS:       {"openai", "elevenlabs"},
	CredentialTelephony: {"twilio"},
}

// Providers returns the providers of a kind, by the names that agents use.
func Providers(kind CredentialKind) []string { return slices.Clone(credentialProviders[kind]) }

// providerAzure has a server for each customer, with an optional version in the URL.
const (
	providerAzure = "azure"
	azureVersion  = "api-version"
)

// minHintedChars is the length from which on the last hintChars of a key are shown.
const (
	minHintedChars = 16
	hintChars      = 4
)

// check refuses providers that the kind does not have and servers that tenants may not reach.
func (s *Credentials) check(c Credential) error {
	known, ok := credentialProviders[c.Kind]
	if !ok {
		return fault.InvalidField("kind", "in", "kind must be model, stt, tts or telephony.")
	}
	if !slices.Contains(known, c.Provider) {
		return fault.InvalidField("provider", "in", "The providers of kind %s are: %s.", c.Kind, strings.Join(known, ", "))
	}
	if c.Kind == CredentialTelephony && c.AccountID == "" {
		return fault.InvalidField("account_id", "required", "account_id is needed for %s.", c.Provider)
	}
	if c.Provider == providerAzure {
		return s.checkAzure(c)
	}
	return s.checkBase(c.BaseURL)
}

// checkAzure is checkBase for a resource of Azure, which is required and may have an api-version.
func (s *Credentials) checkAzure(c Credential) error {
	if c.BaseURL == "" {
		return fault.InvalidField("base_url", "required",
			"base_url is needed for azure: the resource's endpoint (https://NAME.openai.azure.com), or a deployment's target URI.")
	}
	base, query, _ := strings.Cut(c.BaseURL, "?")
	if values, err := url.ParseQuery(query); err != nil || len(values) > 1 || (len(values) == 1 && !values.Has(azureVersion)) {
		return fault.InvalidField("base_url", "url", "base_url may have no query but api-version.")
	}
	if i := strings.Index(base, "/openai/"); i >= 0 && !azurePath.MatchString(base[i:]) {
		return fault.InvalidField("base_url", "url",
			"base_url must be the resource's endpoint, alone or with /openai/v1, or a deployment's target URI.")
	}
	return s.checkBase(base)
}

// azurePath matches the paths below /openai/ that package azure accepts.
var azurePath = regexp.MustCompile(`^/openai/(v1|deployments/[^/]+)?(/chat/completions)?/?$`)

// checkBase refuses a base_url that is not https, or that names an address that is not public. http
// is allowed when the operator opened private ranges for development. Each dial checks the address
// again.
func (s *Credentials) checkBase(raw string) error {
	if raw == "" {
		return nil
	}
	u, err := url.Parse(raw)
	unprintable := func(r rune) bool { return r <= ' ' || r == 0x7f }
	if err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.ContainsFunc(raw, unprintable) {
		return fault.InvalidField("base_url", "url", "base_url must be a URL without query and fragment.")
	}
	if u.Scheme != "https" && !s.guard.Opened() {
		return fault.InvalidField("base_url", "https", "base_url must begin with https://.")
	}
	switch err := s.guard.CheckLiteral(u); {
	case errors.Is(err, publicnet.ErrNotPublic):
		return fault.InvalidField("base_url", "url_not_public", "base_url names an address that is not public.")
	case err != nil:
		return fault.InvalidField("base_url", "url", "base_url needs a host, may have a port from 1 to 65535, and cannot have a user name.")
	}
	return nil
}

// sealKey stores a key in its credential.
func (s *Credentials) sealKey(ctx context.Context, c *Credential, key seal.Secret) (err error) {
	text := key.Reveal()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.InvalidField("api_key", "format", "api_key must be 1 to 4096 printable ASCII characters without spaces.")
	}
	c.APIKeyHint = ""
	if len(text) >= minHintedChars {
		c.APIKeyHint = text[len(text)-hintChars:]
	}
	c.SealedKey, err = s.keys.Seal(ctx, []byte(text), c.binding())
	return err
}
