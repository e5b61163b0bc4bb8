package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"

	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// authorizationHeader is the header that auth_header sets.
const authorizationHeader = "Authorization"

// secrets are the secrets that a request gives a tool; nil keeps the stored one.
type secrets struct {
	authHeader *seal.Secret
	// headers replace all stored ones.
	headers *map[string]seal.Secret
}

// sealed are secrets as they are stored.
type sealed struct {
	authHeader, headers []byte
	headerNames         []string
}

// seal encrypts the secrets for a tool. An empty one becomes nil.
func (s *Service) seal(ctx context.Context, t Tool, given secrets) (out sealed, err error) {
	if given.authHeader != nil && given.authHeader.IsSet() {
		if out.authHeader, err = s.keys.Seal(ctx, []byte(given.authHeader.Reveal()), t.place("auth_header")); err != nil {
			return sealed{}, err
		}
	}
	if given.headers == nil || len(*given.headers) == 0 {
		return out, nil
	}
	values := map[string]string{}
	for name, value := range *given.headers {
		values[textproto.CanonicalMIMEHeaderKey(name)] = value.Reveal()
	}
	plain, err := json.Marshal(values)
	if err != nil {
		return sealed{}, fmt.Errorf("encode secret_headers: %w", err)
	}
	out.headerNames = slices.Sorted(maps.Keys(values))
	out.headers, err = s.keys.Seal(ctx, plain, t.place("secret_headers"))
	return out, err
}

// take gives the tool the secrets that were given.
func (t *Tool) take(given secrets, made sealed) {
	if given.authHeader != nil {
		t.AuthHeader = made.authHeader
	}
	if given.headers != nil {
		t.SecretHeaders, t.SecretHeaderNames = made.headers, made.headerNames
	}
}

// openSecretHeaders decrypts auth_header and secret_headers: templates of headers by their names.
func (s *Service) openSecretHeaders(ctx context.Context, t Tool) (map[string]string, error) {
	headers := map[string]string{}
	if len(t.SecretHeaders) > 0 {
		plain, err := s.keys.Open(ctx, t.SecretHeaders, t.place("secret_headers"))
		if err != nil {
			return nil, fmt.Errorf("open secret_headers of tool %s: %w", t.ID, err)
		}
		if err := json.Unmarshal(plain, &headers); err != nil {
			return nil, fmt.Errorf("decode secret_headers of tool %s", t.ID) // the cause may quote them
		}
	}
	if t.AuthHeaderSet() {
		plain, err := s.keys.Open(ctx, t.AuthHeader, t.place("auth_header"))
		if err != nil {
			return nil, fmt.Errorf("open auth_header of tool %s: %w", t.ID, err)
		}
		headers[authorizationHeader] = string(plain)
	}
	return headers, nil
}

// place binds a sealed secret to its tool and field.
func (t Tool) place(field string) seal.Binding {
	return seal.Binding{TenantID: string(t.TenantID), Record: "tools/" + string(t.ID), Field: field}
}

// checkMove refuses a change from before that sends a stored secret to another server.
func (t Tool) checkMove(before Tool) error {
	if err := t.recipient("auth_header", t.AuthHeader).CheckMove(before.recipient("auth_header", before.AuthHeader)); err != nil {
		return err
	}
	return t.recipient("secret_headers", t.SecretHeaders).CheckMove(before.recipient("secret_headers", before.SecretHeaders))
}

// recipient is where a secret of the tool is sent.
func (t Tool) recipient(field string, sealed []byte) workspaces.Recipient {
	to := workspaces.Recipient{URL: t.Config.WebhookURL, URLField: "webhook_url", Sealed: sealed, SecretField: field}
	if t.Kind == KindMCP {
		to.URL, to.URLField = t.Config.MCPServerURL, "mcp_server_url"
	}
	return to
}

// hidden are secret headers where a request is shown.
func hidden(headers map[string]string) map[string]string {
	shown := map[string]string{}
	for name := range headers {
		shown[name] = redact.Placeholder
	}
	return shown
}
