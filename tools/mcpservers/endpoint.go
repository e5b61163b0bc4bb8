package mcpservers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/failure"
	"parlance.dev/parlance/tools/template"
	"parlance.dev/parlance/workspaces"
)

// Server is the MCP server of a tool, as the tool configures it.
type Server struct {
	Ref    workspaces.Ref
	ToolID string
	// URL and Headers are templates.
	URL     string
	Headers map[string]string
	// Sealed are the secret headers as they are stored.
	Sealed [][]byte
	// OpenSecretHeaders decrypts them: templates by the headers' names, none of which is in Headers.
	OpenSecretHeaders func(ctx context.Context) (map[string]string, error)
	// Variables fill the placeholders. nil leaves them as text.
	Variables      template.Lookup
	MaxAnswerBytes int
}

// Endpoint is the rendered address of a server, with the headers of its requests.
type Endpoint struct {
	mcp.Endpoint

	// secrets are the values of the secret headers, with their parts.
	secrets []string
	// key identifies the endpoint on this node, and the session with it.
	key string
	// digest is that of the URL and the headers. It is empty when they depend on variables.
	digest string
}

// keySeparator occurs in no id.
const keySeparator = " "

// Endpoint renders the URL, the headers, and secret headers, which are templates.
func (s Server) Endpoint(secretHeaders map[string]string) (Endpoint, *failure.Error) {
	url, problem := s.renderURL()
	if problem != nil {
		return Endpoint{}, problem
	}
	out := Endpoint{Endpoint: mcp.Endpoint{URL: url, Headers: map[string]string{}, MaxAnswerBytes: s.MaxAnswerBytes}}
	headers := map[string]string{}
	maps.Copy(headers, s.Headers)
	maps.Copy(headers, secretHeaders)
	dynamic := s.Variables != nil && template.HasVariables(s.URL)
	for name, text := range headers {
		if out.Headers[name], problem = template.Header(name, text, s.Variables); problem != nil {
			return Endpoint{}, problem
		}
		dynamic = dynamic || s.Variables != nil && template.HasVariables(text)
	}
	for name := range secretHeaders {
		out.secrets = append(out.secrets, redact.Header(out.Headers[name])...)
	}
	rendered := hash(append([]string{out.URL, s.ToolID}, sortedPairs(out.Headers)...))
	out.key = strings.Join([]string{
		string(s.Ref.TenantID), string(s.Ref.ID), s.ToolID, rendered, map[bool]string{true: "private"}[dynamic],
	}, keySeparator)
	if !dynamic {
		// The digest is stored, so it is made of the sealed headers and not of the plain ones.
		stored := append(sortedPairs(s.Headers), s.URL, hex.EncodeToString(bytes.Join(s.Sealed, nil)))
		sum := sha256.Sum256([]byte(strings.Join(stored, "\x00")))
		out.digest = hex.EncodeToString(sum[:])
	}
	return out, nil
}

func (s Server) renderURL() (string, *failure.Error) {
	origin, pathTemplate, queryTemplate := template.SplitURL(s.URL)
	unchanged := func(name string) (string, bool) { return "{" + name + "}", true } // there are no arguments here
	path, problem := template.Path(pathTemplate, s.Variables, unchanged)
	if problem != nil {
		return "", problem
	}
	query, problem := template.Query(queryTemplate, s.Variables, unchanged)
	if problem != nil || query == "" {
		return origin + path, problem
	}
	return origin + path + "?" + query, nil
}

func hash(parts []string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = sum.Write([]byte(part + "\x00")) // a hash returns no error
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func sortedPairs(m map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+": "+m[name])
	}
	return out
}

// Query is for whom and how servers are asked for their tools.
type Query struct {
	// SessionID is the session that keeps the list. Empty: nobody keeps it.
	SessionID string
	// Wait is how long to wait for a server.
	Wait time.Duration
	// Refresh asks the server also when a list is known.
	Refresh bool
}
