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
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/tools/httpcall"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/tools/template"
)

var slugPattern = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

const (
	maxDescriptionChars = 2000
	maxURLBytes         = 2048
	maxAuthHeaderBytes  = 8192
	maxListed           = 50
	// maxPairName and maxPairValue bound headers and hardcoded query parameters, in characters.
	maxPairName, maxPairValue = 200, 4096
)

// managedHeaders are headers that the service or the connection sets.
var managedHeaders = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer",
	"Upgrade", "Proxy-Authorization", "Proxy-Connection", "Expect", "Idempotency-Key",
}

// checker checks custom tools.
type checker struct {
	guard   *publicnet.Guard
	schemas *schema.Cache
}

// violations collects what is wrong with a tool. All of it is reported at once.
type violations []fault.Field

func (v *violations) add(field, code, message string) {
	*v = append(*v, fault.Field{Field: field, Code: code, Message: message})
}

// addErr adds the fields of a fault.Error. Any other error is not expected, and becomes one on
// field.
func (v *violations) addErr(field string, err error) {
	if err == nil {
		return
	}
	if decided, ok := errors.AsType[*fault.Error](err); ok && len(decided.Fields) > 0 {
		*v = append(*v, decided.Fields...)
		return
	}
	v.add(field, "invalid", err.Error())
}

func (v violations) err() error {
	if len(v) == 0 {
		return nil
	}
	return fault.InvalidFields(v...)
}

// withDefaults sets fields that were left out. Source: decisions, Tools.
func (t Tool) withDefaults() Tool {
	c := &t.Config
	if len(c.InputSchema) == 0 {
		c.InputSchema = schema.Default
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

// check refuses a custom tool that could not be called, with all violations. stored is the previous
// configuration, or the zero value for a new tool. A URL that did not change is not checked again:
// which addresses are public may have changed since, and each call checks it. Errors: Invalid
// invalid-request.
func (c checker) check(t Tool, given secrets, stored Config) error {
	var v violations
	if !slugPattern.MatchString(t.Slug) {
		v.add("slug", "pattern", "slug must be a letter followed by at most 63 letters, digits, _ or -.")
	}
	if n := utf8.RuneCountInString(t.Description); strings.TrimSpace(t.Description) == "" || n > maxDescriptionChars {
		v.add("description", "length", "description must have 1 to 2,000 characters.")
	}
	if !utf8.ValidString(t.Description) || strings.ContainsRune(t.Description, 0) {
		v.add("description", "characters", "description must be text without the character U+0000.")
	}
	if n := t.Config.TimeoutSeconds; n < 1 || n > MaxTimeoutSeconds {
		v.add("timeout_seconds", "out_of_range", "timeout_seconds must be from 1 to 120.")
	}
	if n := t.Config.ResponseMaxBytes; n < MinResponseMaxBytes || n > MaxResponseMaxBytes {
		v.add("response_max_bytes", "out_of_range", "response_max_bytes must be from 1,024 to 10,485,760.")
	}
	v.checkAssignments(t.Config.Assignments)
	properties, err := c.schemas.Check(t.Config.InputSchema)
	v.addErr("input_schema", err)
	v.checkHeaders("headers", t.Config.Headers)
	v.checkSecrets(t, given)
	v.checkApproval(t)
	switch t.Kind {
	case KindHTTP:
		c.checkHTTP(&v, t.Config, stored, properties)
	case KindMCP:
		c.checkMCP(&v, t.Config, stored)
	default:
		v.add("kind", "in", "kind must be http or mcp.")
	}
	return v.err()
}

// checkHTTP checks what is special to kind http. properties is nil when the schema is not valid.
func (c checker) checkHTTP(v *violations, config, stored Config, properties map[string]json.RawMessage) {
	if config.WebhookURL == "" {
		v.add("webhook_url", "required", "webhook_url is required for kind http.")
	} else {
		c.checkURL(v, "webhook_url", config.WebhookURL, stored.WebhookURL)
	}
	if !slices.Contains(httpcall.Methods, config.Method) {
		v.add("method", "in", "method must be GET, POST, PATCH, PUT or DELETE.")
	}
	v.checkNames("path_params", config.PathParams, properties)
	v.checkNames("query_params", config.QueryParams, properties)
	v.checkPathParams(config)
	v.checkHardcoded(config)
	for field, set := range map[string]bool{
		"mcp_server_url": config.MCPServerURL != "", "mcp_tool_name": config.MCPToolName != "",
		"allowed_tools": len(config.AllowedTools) > 0,
	} {
		if set {
			v.add(field, "not_allowed", field+" belongs to kind mcp.")
		}
	}
}

// checkMCP checks what is special to kind mcp.
func (c checker) checkMCP(v *violations, config, stored Config) {
	if config.MCPServerURL == "" {
		v.add("mcp_server_url", "required", "mcp_server_url is required for kind mcp.")
	} else {
		c.checkURL(v, "mcp_server_url", config.MCPServerURL, stored.MCPServerURL)
	}
	for field, set := range map[string]bool{
		"webhook_url": config.WebhookURL != "", "method": config.Method != "", "path_params": len(config.PathParams) > 0,
		"query_params": len(config.QueryParams) > 0, "hardcoded_query_params": len(config.HardcodedQueryParams) > 0,
		"hardcoded_body_params": len(config.HardcodedBodyParams) > 0, "retry": config.Retry != nil,
	} {
		if set {
			v.add(field, "not_allowed", field+" belongs to kind http.")
		}
	}
	for i, name := range append([]string{config.MCPToolName}, config.AllowedTools...) {
		if strings.ContainsRune(name, 0) || len(name) > 128 {
			field := "mcp_tool_name"
			if i > 0 {
				field = "allowed_tools[" + strconv.Itoa(i-1) + "]"
			}
			v.add(field, "characters", field+" must be the name of a remote tool, at most 128 bytes.")
		}
	}
}

// checkURL refuses a URL that cannot be called. It does not resolve the host: only calls do. The
// host may have no placeholders, because a variable would decide where secrets are sent.
func (c checker) checkURL(v *violations, field, raw, stored string) {
	if raw == stored {
		return
	}
	if len(raw) > maxURLBytes {
		v.add(field, "max_len", field+" can have at most 2,048 bytes.")
		return
	}
	if scheme, _, found := strings.Cut(raw, "://"); !found || scheme != "http" && scheme != "https" {
		v.add(field, "url_scheme", field+" must begin with https:// or http://.")
		return
	}
	origin, path, query := template.SplitURL(raw)
	if strings.ContainsAny(origin, "{}") {
		v.add(field, "url_placeholder", "Placeholders can stand in the path and the query of "+field+", not in its host.")
		return
	}
	if strings.Contains(path+query, "#") || strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		v.add(field, "url", field+" cannot have a fragment (#) or control characters.")
		return
	}
	parsed, err := url.Parse(origin + template.EscapeLiteral(path))
	if err != nil {
		v.add(field, "url", field+" is not a valid URL.")
		return
	}
	if _, err := url.ParseQuery(template.EscapeLiteral(query)); err != nil {
		v.add(field, "url", "The query of "+field+" is not valid.")
		return
	}
	switch err := c.guard.CheckLiteral(parsed); {
	case errors.Is(err, publicnet.ErrNotPublic):
		v.add(field, "url_not_public", field+" names an address that is not public.")
	case err != nil:
		v.add(field, "url", field+" needs a host, may have a port from 1 to 65535, "+
			"and cannot have a user name; put credentials into auth_header.")
	}
}

// checkNames checks a list of argument names: each occurs once, and is a property of the schema.
// nil properties are not known.
func (v *violations) checkNames(field string, names []string, properties map[string]json.RawMessage) {
	if len(names) > maxListed {
		v.add(field, "max_items", field+" can have at most 50 names.")
	}
	for i, name := range names {
		at := field + "[" + strconv.Itoa(i) + "]"
		if slices.Index(names, name) != i {
			v.add(at, "duplicate", strconv.Quote(name)+" stands twice in "+field+".")
		}
		if _, known := properties[name]; properties != nil && !known {
			v.add(at, "unknown_property", strconv.Quote(name)+" is not a property of input_schema.")
		}
	}
}

// checkPathParams checks that path_params and the {argument} placeholders are the same names.
func (v *violations) checkPathParams(config Config) {
	_, path, query := template.SplitURL(config.WebhookURL)
	found := template.Arguments(path + "?" + query)
	for i, name := range config.PathParams {
		if !slices.Contains(found, name) {
			v.add("path_params["+strconv.Itoa(i)+"]", "no_placeholder", "webhook_url has no placeholder {"+name+"}.")
		}
		if slices.Contains(config.QueryParams, name) {
			v.add("path_params["+strconv.Itoa(i)+"]", "duplicate", strconv.Quote(name)+" cannot be in both path_params and query_params.")
		}
	}
	for _, name := range found {
		if !slices.Contains(config.PathParams, name) {
			v.add("path_params", "missing", "webhook_url has the placeholder {"+name+"}, which path_params does not name.")
		}
	}
}

// checkHardcoded checks the values that the operator sends with each call.
func (v *violations) checkHardcoded(config Config) {
	if len(config.HardcodedQueryParams) > maxListed {
		v.add("hardcoded_query_params", "max_pairs", "hardcoded_query_params can have at most 50 members.")
	}
	for name, value := range config.HardcodedQueryParams {
		if strings.ContainsRune(name+value, 0) {
			v.add("hardcoded_query_params", "characters", "hardcoded_query_params cannot hold the character U+0000.")
		}
		if utf8.RuneCountInString(name) > maxPairName || utf8.RuneCountInString(value) > maxPairValue {
			v.add("hardcoded_query_params", "max_len",
				"A member of hardcoded_query_params can have a name of at most 200 and a value of at most 4,096 characters.")
		}
	}
	if len(config.HardcodedBodyParams) == 0 {
		return
	}
	if !httpcall.HasBody(config.Method) {
		v.add("hardcoded_body_params", "not_allowed", "A "+config.Method+" request has no body; use hardcoded_query_params.")
	}
	var object map[string]any
	raw := config.HardcodedBodyParams
	if json.Unmarshal(raw, &object) != nil || object == nil || len(raw) > schema.MaxBytes ||
		jsonvalue.HasNUL(raw) || jsonvalue.DeeperThan(object, jsonvalue.MaxDepth) {
		v.add("hardcoded_body_params", "object",
			"hardcoded_body_params must be a JSON object of at most 65,536 bytes and 100 levels, without the character U+0000.")
	}
}

// checkSecrets checks the secrets that a request gives, and that no header is set twice.
func (v *violations) checkSecrets(t Tool, given secrets) {
	if given.authHeader != nil {
		authHeader := given.authHeader.Reveal()
		if authHeader != "" && strings.TrimSpace(authHeader) == "" {
			v.add("auth_header", "blank", "auth_header has only spaces; send the value of the Authorization header, or none.")
		}
		if len(authHeader) > maxAuthHeaderBytes || !httpguts.ValidHeaderFieldValue(authHeader) {
			v.add("auth_header", "header_value", "auth_header must be one line of at most 8,192 bytes without control characters.")
		}
	}
	names := t.SecretHeaderNames
	if given.headers != nil {
		names = nil
		values := map[string]string{}
		for name, value := range *given.headers {
			names = append(names, textproto.CanonicalMIMEHeaderKey(name))
			if values[name] = value.Reveal(); strings.TrimSpace(values[name]) == "" {
				v.add("secret_headers", "blank", "secret_headers needs a value for "+strconv.Quote(name)+".")
			}
		}
		v.checkHeaders("secret_headers", values)
	}
	for name := range t.Config.Headers {
		if canonical := textproto.CanonicalMIMEHeaderKey(name); slices.Contains(names, canonical) {
			v.add("secret_headers", "duplicate", canonical+" stands in headers and in secret_headers; leave it out of one of them.")
		}
	}
}

// checkHeaders checks the headers of a field, headers or secret_headers.
func (v *violations) checkHeaders(field string, headers map[string]string) {
	if len(headers) > maxListed {
		v.add(field, "max_pairs", field+" can have at most 50 members.")
	}
	seen := map[string]bool{}
	for name, value := range headers {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name) || len(name) > maxPairName:
			v.add(field, "header_name", strconv.Quote(name)+" is not a header name.")
		case seen[canonical]:
			v.add(field, "duplicate", canonical+" stands twice in "+field+".")
		case canonical == authorizationHeader:
			v.add(field, "not_allowed", "Put the authorization into auth_header, where it is stored encrypted.")
		case slices.Contains(managedHeaders, canonical):
			v.add(field, "not_allowed", canonical+" is set by the service.")
		case !httpguts.ValidHeaderFieldValue(value):
			v.add(field, "header_value", "The value of "+canonical+" cannot hold line breaks or control characters.")
		case utf8.RuneCountInString(value) > maxPairValue:
			v.add(field, "max_len", "The value of "+canonical+" can have at most 4,096 characters.")
		}
		seen[canonical] = true
	}
}

// checkApproval checks approval and approval_tools.
func (v *violations) checkApproval(t Tool) {
	config := t.Config
	switch {
	case t.Kind != KindMCP && (config.Approval != "" || len(config.ApprovalTools) > 0):
		v.add("approval", "not_allowed", "approval belongs to kind mcp.")
	case t.Kind == KindMCP && !slices.Contains([]string{ApprovalNever, ApprovalAlways, ApprovalListed}, config.Approval):
		v.add("approval", "in", "approval must be never, always or listed.")
	case config.Approval == ApprovalListed && len(config.ApprovalTools) == 0:
		v.add("approval_tools", "required",
			"approval_tools must name the tools whose calls need an approval, with approval listed.")
	case config.Approval != ApprovalListed && len(config.ApprovalTools) > 0:
		v.add("approval_tools", "not_allowed", "approval_tools belongs to approval listed.")
	}
}

// checkAssignments checks names and paths.
func (v *violations) checkAssignments(list []Assignment) {
	if len(list) > maxAssignments {
		v.add("assignments", "max_items", "assignments can have at most 16 entries.")
		return
	}
	seen := map[string]bool{}
	for i, a := range list {
		field := "assignments[" + strconv.Itoa(i) + "]."
		name := a.DynamicVariable
		switch {
		case !variableName.MatchString(name):
			v.add(field+"dynamic_variable", "pattern",
				"dynamic_variable must be a letter or _ followed by at most 127 letters, digits or _.")
		case strings.HasPrefix(name, SecretPrefix), strings.HasPrefix(name, SystemPrefix):
			v.add(field+"dynamic_variable", "reserved",
				"An answer cannot set variables whose names begin with secret__ or system__.")
		case seen[name]:
			v.add(field+"dynamic_variable", "duplicate", strconv.Quote(name)+" is set twice.")
		}
		seen[name] = true
		if _, ok := parsePath(a.ValuePath); !ok {
			v.add(field+"value_path", "pattern", "value_path leads to a value of the answer's JSON, "+
				"e.g. customer.id or items[0].id, with at most 16 steps and 200 bytes.")
		}
	}
}
