package mcpservers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

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
	// SealedAuthorization is the Authorization header as it is stored. nil when there is none.
	SealedAuthorization []byte
	// OpenAuthorization decrypts it.
	OpenAuthorization func(ctx context.Context) (string, error)
	// Variables fill the placeholders. nil leaves them as text.
	Variables      template.Lookup
	MaxAnswerBytes int
}

// Endpoint is the rendered address of a server, with the headers of its requests.
type Endpoint struct {
	mcp.Endpoint

	// Authorization is the rendered header, empty when there is none.
	Authorization string
	// key identifies the endpoint on this node, and the session with it.
	key string
	// digest is that of the URL and the headers. It is empty when they depend on variables.
	digest string
}

// keySeparator occurs in no id.
const keySeparator = " "

// Endpoint renders the URL and the headers. authorization is a template, empty for none.
func (s Server) Endpoint(authorization string) (Endpoint, *failure.Error) {
	url, problem := s.renderURL()
	if problem != nil {
		return Endpoint{}, problem
	}
	out := Endpoint{Endpoint: mcp.Endpoint{URL: url, Headers: map[string]string{}, MaxAnswerBytes: s.MaxAnswerBytes}}
	headers := map[string]string{}
	maps.Copy(headers, s.Headers)
	if authorization != "" {
		headers["Authorization"] = authorization
	}
	dynamic := s.Variables != nil && template.HasVariables(s.URL)
	for name, text := range headers {
		if out.Headers[name], problem = template.Header(name, text, s.Variables); problem != nil {
			return Endpoint{}, problem
		}
		dynamic = dynamic || s.Variables != nil && template.HasVariables(text)
	}
	out.Authorization = out.Headers["Authorization"]
	rendered := hash(append([]string{out.URL, s.ToolID}, sortedPairs(out.Headers)...))
	out.key = strings.Join([]string{
		string(s.Ref.TenantID), string(s.Ref.ID), s.ToolID, rendered, map[bool]string{true: "private"}[dynamic],
	}, keySeparator)
	if !dynamic {
		// The digest is stored, so it is made of the sealed authorization and not of the plain one.
		stored := append(sortedPairs(s.Headers), s.URL, hex.EncodeToString(s.SealedAuthorization))
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
