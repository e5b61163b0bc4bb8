package tools

import (
	"encoding/json"
	"errors"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
)

var slugPattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

const (
	maxDescriptionChars = 2000
	maxURLBytes         = 2048
	maxAuthHeaderBytes  = 8192
	maxListed           = 50
)

var methods = []string{"GET", "POST", "PATCH", "PUT", "DELETE"}

// managedHeaders are written by us or by the connection; an operator's would contradict them.
var managedHeaders = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer",
	"Upgrade", "Proxy-Authorization", "Proxy-Connection", "Expect", "Idempotency-Key",
}

// checker collects violations; all are shown at once.
type checker struct {
	fields []fault.Field
	// known are URLs that were accepted before.
	known []string
}

func (c *checker) add(field, code, message string) {
	c.fields = append(c.fields, fault.Field{Field: field, Code: code, Message: message})
}

// addErr keeps the fields of a decision; any other error is not expected here and becomes one on field.
func (c *checker) addErr(field string, err error) {
	if err == nil {
		return
	}
	if decided, ok := errors.AsType[*fault.Error](err); ok && len(decided.Fields) > 0 {
		c.fields = append(c.fields, decided.Fields...)
		return
	}
	c.add(field, "invalid", err.Error())
}

func (c *checker) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return fault.InvalidFields(c.fields...)
}

// withDefaults fills what was left out. Source: decisions, Tools.
func (t Tool) withDefaults() Tool {
	c := &t.Config
	if len(c.InputSchema) == 0 {
		c.InputSchema = defaultSchema
	}
	if t.Kind == KindHTTP && c.Method == "" {
		c.Method = "POST"
	}
	if c.TimeoutSeconds == 0 {
		c.TimeoutSeconds = DefaultTimeoutSecondsHTTP
		if t.Kind == KindMCP {
			c.TimeoutSeconds = DefaultTimeoutSecondsMCP
		}
	}
	if c.ResponseMaxBytes == 0 {
		c.ResponseMaxBytes = DefaultResponseMaxBytes
	}
	if t.Kind == KindMCP && c.Approval == "" {
		c.Approval = ApprovalNever
	}
	return t
}

// check refuses a custom tool that could not be called, all violations at once. stored is what the
// tool was, the zero Config for a new one: an address that stays is not judged again, because what
// is public may have changed since, and calls judge it anyway. Errors: Invalid invalid-request.
func (s *Service) check(t Tool, authHeader string, stored Config) error {
	c := checker{known: []string{stored.WebhookURL, stored.MCPServerURL}}
	if !slugPattern.MatchString(t.Slug) {
		c.add("slug", "pattern", "slug must be a letter followed by at most 63 letters, digits, _ or -.")
	}
	if n := utf8.RuneCountInString(t.Description); strings.TrimSpace(t.Description) == "" || n > maxDescriptionChars {
		c.add("description", "length", "description must have 1 to 2,000 characters.")
	}
	if !utf8.ValidString(t.Description) || strings.ContainsRune(t.Description, 0) {
		c.add("description", "characters", "description must be text without the character U+0000.")
	}
	if n := t.Config.TimeoutSeconds; n < 1 || n > MaxTimeoutSeconds {
		c.add("timeout_seconds", "out_of_range", "timeout_seconds must be from 1 to 120.")
	}
	if n := t.Config.ResponseMaxBytes; n < MinResponseMaxBytes || n > MaxResponseMaxBytes {
		c.add("response_max_bytes", "out_of_range", "response_max_bytes must be from 1,024 to 10,485,760.")
	}
	c.assignments(t.Config.Assignments)
	properties, err := s.schemas.checkSchema(t.Config.InputSchema)
	c.addErr("input_schema", err)
	c.headers(t.Config.Headers)
	if len(authHeader) > maxAuthHeaderBytes || !httpguts.ValidHeaderFieldValue(authHeader) {
		c.add("auth_header", "header_value", "auth_header must be one line of at most 8,192 bytes without control characters.")
	}
	c.approval(t)
	switch t.Kind {
	case KindHTTP:
		s.checkHTTP(&c, t.Config, properties, err == nil)
	case KindMCP:
		s.checkMCP(&c, t.Config)
	default:
		c.add("kind", "in", "kind must be http or mcp.")
	}
	return c.err()
}

func (s *Service) checkHTTP(c *checker, config Config, properties map[string]json.RawMessage, schemaValid bool) {
	if config.WebhookURL == "" {
		c.add("webhook_url", "required", "webhook_url is required for kind http.")
	} else {
		s.checkURL(c, "webhook_url", config.WebhookURL)
	}
	if !slices.Contains(methods, config.Method) {
		c.add("method", "in", "method must be GET, POST, PATCH, PUT or DELETE.")
	}
	c.names("path_params", config.PathParams, properties, schemaValid)
	c.names("query_params", config.QueryParams, properties, schemaValid)
	c.pathParams(config)
	c.hardcoded(config)
	for field, set := range map[string]bool{
		"mcp_server_url": config.MCPServerURL != "", "mcp_tool_name": config.MCPToolName != "", "allowed_tools": len(config.AllowedTools) > 0,
	} {
		if set {
			c.add(field, "not_allowed", field+" belongs to kind mcp.")
		}
	}
}

func (s *Service) checkMCP(c *checker, config Config) {
	if config.MCPServerURL == "" {
		c.add("mcp_server_url", "required", "mcp_server_url is required for kind mcp.")
	} else {
		s.checkURL(c, "mcp_server_url", config.MCPServerURL)
	}
	for field, set := range map[string]bool{
		"webhook_url": config.WebhookURL != "", "method": config.Method != "", "path_params": len(config.PathParams) > 0,
		"query_params": len(config.QueryParams) > 0, "hardcoded_query_params": len(config.HardcodedQueryParams) > 0,
		"hardcoded_body_params": len(config.HardcodedBodyParams) > 0,
	} {
		if set {
			c.add(field, "not_allowed", field+" belongs to kind http.")
		}
	}
	for i, name := range append([]string{config.MCPToolName}, config.AllowedTools...) {
		if strings.ContainsRune(name, 0) || len(name) > 128 {
			field := "mcp_tool_name"
			if i > 0 {
				field = "allowed_tools[" + strconv.Itoa(i-1) + "]"
			}
			c.add(field, "characters", field+" must be the name of a remote tool, at most 128 bytes.")
		}
	}
}

// checkURL refuses what cannot be called: nobody is asked, a name is resolved only by a call.
// Placeholders stand in path and query only: one in the host would send auth_header wherever
// a variable says.
func (s *Service) checkURL(c *checker, field, raw string) {
	if slices.Contains(c.known, raw) {
		return
	}
	if len(raw) > maxURLBytes {
		c.add(field, "max_len", field+" can have at most 2,048 bytes.")
		return
	}
	if scheme, _, found := strings.Cut(raw, "://"); !found || scheme != "http" && scheme != "https" {
		c.add(field, "url_scheme", field+" must begin with https:// or http://.")
		return
	}
	origin, path, query := splitURL(raw)
	if strings.ContainsAny(origin, "{}") {
		c.add(field, "url_placeholder", "Placeholders can stand in the path and the query of "+field+", not in its host.")
		return
	}
	if strings.Contains(path+query, "#") || strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		c.add(field, "url", field+" cannot have a fragment (#) or control characters.")
		return
	}
	parsed, err := url.Parse(origin + escapeLiteral(path))
	if err != nil {
		c.add(field, "url", field+" is not a valid URL.")
		return
	}
	if _, err := url.ParseQuery(escapeLiteral(query)); err != nil {
		c.add(field, "url", "The query of "+field+" is not valid.")
		return
	}
	switch err := s.guard.CheckLiteral(parsed); {
	case errors.Is(err, publicnet.ErrNotPublic):
		c.add(field, "url_not_public", field+" names an address that is not public.")
	case err != nil:
		c.add(field, "url", field+" needs a host, may have a port from 1 to 65535, and cannot have a user name; put credentials into auth_header.")
	}
}

// names checks a list of argument names: each once, and a property of the schema.
func (c *checker) names(field string, names []string, properties map[string]json.RawMessage, schemaValid bool) {
	if len(names) > maxListed {
		c.add(field, "max_items", field+" can have at most 50 names.")
	}
	for i, name := range names {
		at := field + "[" + strconv.Itoa(i) + "]"
		if slices.Index(names, name) != i {
			c.add(at, "duplicate", strconv.Quote(name)+" stands twice in "+field+".")
		}
		if _, known := properties[name]; schemaValid && !known {
			c.add(at, "unknown_property", strconv.Quote(name)+" is not a property of input_schema.")
		}
	}
}

// pathParams holds path_params against the {name} placeholders, which must be the same set.
func (c *checker) pathParams(config Config) {
	_, path, query := splitURL(config.WebhookURL)
	found := placeholders(path + "?" + query)
	for i, name := range config.PathParams {
		if !slices.Contains(found, name) {
			c.add("path_params["+strconv.Itoa(i)+"]", "no_placeholder", "webhook_url has no placeholder {"+name+"}.")
		}
		if slices.Contains(config.QueryParams, name) {
			c.add("path_params["+strconv.Itoa(i)+"]", "duplicate", strconv.Quote(name)+" cannot be in both path_params and query_params.")
		}
	}
	for _, name := range found {
		if !slices.Contains(config.PathParams, name) {
			c.add("path_params", "missing", "webhook_url has the placeholder {"+name+"}, which path_params does not name.")
		}
	}
}

// hardcoded checks the operator's own values.
func (c *checker) hardcoded(config Config) {
	if len(config.HardcodedQueryParams) > maxListed {
		c.add("hardcoded_query_params", "max_pairs", "hardcoded_query_params can have at most 50 members.")
	}
	for name, value := range config.HardcodedQueryParams {
		if strings.ContainsRune(name+value, 0) {
			c.add("hardcoded_query_params", "characters", "hardcoded_query_params cannot hold the character U+0000.")
		}
	}
	if len(config.HardcodedBodyParams) == 0 {
		return
	}
	if !hasBody(config.Method) {
		c.add("hardcoded_body_params", "not_allowed", "A "+config.Method+" request has no body; use hardcoded_query_params.")
	}
	var object map[string]any
	if json.Unmarshal(config.HardcodedBodyParams, &object) != nil || object == nil || len(config.HardcodedBodyParams) > maxSchemaBytes || hasNUL(config.HardcodedBodyParams) || deeper(object, maxJSONDepth) {
		c.add("hardcoded_body_params", "object", "hardcoded_body_params must be a JSON object of at most 65,536 bytes and 100 levels, without the character U+0000.")
	}
}

func (c *checker) headers(headers map[string]string) {
	if len(headers) > maxListed {
		c.add("headers", "max_pairs", "headers can have at most 50 members.")
	}
	seen := map[string]bool{}
	for name, value := range headers {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			c.add("headers", "header_name", strconv.Quote(name)+" is not a header name.")
		case seen[canonical]:
			c.add("headers", "duplicate", canonical+" stands twice in headers.")
		case canonical == "Authorization":
			c.add("headers", "not_allowed", "Put the authorization into auth_header, where it is stored encrypted.")
		case slices.Contains(managedHeaders, canonical):
			c.add("headers", "not_allowed", canonical+" is set by the service.")
		case !httpguts.ValidHeaderFieldValue(value):
			c.add("headers", "header_value", "The value of "+canonical+" cannot hold line breaks or control characters.")
		}
		seen[canonical] = true
	}
}

// hasBody says whether arguments go into a JSON body rather than the query.
func hasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }
