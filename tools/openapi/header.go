package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// serviceHeaders are set by the service, or described elsewhere in OpenAPI.
var serviceHeaders = []string{
	"accept", "content-type", "authorization", "idempotency-key", "user-agent", "host", "content-length", "connection",
}

// header sets a header to the operator's or the document's value. Models do not choose headers.
func (p *planner) header(one map[string]any) error {
	name := text(one["name"])
	if slices.Contains(serviceHeaders, strings.ToLower(name)) {
		return nil
	}
	if p.gives(name) {
		return nil
	}
	if !required(one) {
		p.note("the header %s is not sent%s", oneLine(name, 60), p.options.Hints.header("; %s %q sends it", name))
		return nil
	}
	schema, _ := p.value(one)
	value, ok := fixed(schema)
	if !ok {
		return leftOut("it needs the header %s, whose value the document does not say%s", oneLine(name, 60),
			p.options.Hints.header(": give %s %q", name))
	}
	p.tool.Headers[name] = value
	p.note("the header %s is always %q", oneLine(name, 60), oneLine(value, 60))
	return nil
}

// gives reports whether the operator gives a header.
func (p *planner) gives(name string) bool {
	names := append(sorted(p.options.Headers), p.options.SecretHeaders...)
	return slices.ContainsFunc(names, func(given string) bool { return strings.EqualFold(given, name) })
}

// fixed returns the default of a schema, or the only value that it allows.
func fixed(schema map[string]any) (string, bool) {
	value, ok := schema["default"]
	if allowed := list(schema["enum"]); !ok && len(allowed) == 1 {
		value, ok = allowed[0], true
	}
	if only, there := schema["const"]; !ok && there {
		value, ok = only, true
	}
	if !ok {
		return "", false
	}
	words := ""
	switch value := value.(type) {
	case string:
		words = value
	case bool:
		words = strconv.FormatBool(value)
	case float64:
		words = strconv.FormatFloat(value, 'f', -1, 64)
	case json.Number:
		words = value.String()
	default:
		return "", false
	}
	if words == "" || strings.Contains(words, "{{") || strings.ContainsFunc(words, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", false
	}
	return words, true
}

// Wants describes how callers of an API authenticate.
type Wants struct {
	// Scheme is the name in the document. Words is a description: "Authorization: Bearer …".
	Scheme, Words string
	// Authorization is "Bearer", "Basic" or "any" when the Authorization header is used, which a tool
	// stores encrypted. Otherwise it is empty.
	Authorization string
	// Optional reports whether the API also answers without authentication.
	Optional bool
}

// security chooses the first way to authenticate that tools support.
func (p *planner) security() error {
	from, said := p.from["security"]
	if !said {
		from = p.doc.root["security"]
	}
	var refused []string
	ways := list(from)
	p.doc.work.spend(len(ways))
	optional := slices.ContainsFunc(ways, func(way any) bool { return len(object(way)) == 0 })
	for _, way := range ways {
		if len(object(way)) == 0 {
			continue
		}
		why := p.way(object(way), optional)
		if why == "" {
			p.op.Wants.Optional = optional && p.op.Wants.Words != ""
			return nil
		}
		p.doc.work.spend(len(refused))
		if !slices.Contains(refused, why) {
			refused = append(refused, why)
		}
	}
	if len(refused) == 0 || optional {
		return nil
	}
	return leftOut("%s", strings.Join(refused, "; "))
}

// way applies all schemes of one way to authenticate, or returns why it cannot. Optional schemes
// that need a variable are skipped: a call that works without the variable must not require it.
func (p *planner) way(names map[string]any, optional bool) (why string) {
	type change struct{ header, query, variable string }
	var changes []change
	var wants Wants
	p.doc.work.spend(8 * len(names))
	for _, name := range sorted(names) {
		scheme, _, err := p.doc.resolve(object(object(p.doc.root["components"])["securitySchemes"])[name])
		if err != nil {
			return err.Error()
		}
		shown := oneLine(name, 40)
		kind, http := text(scheme["type"]), strings.ToLower(text(scheme["scheme"]))
		key := text(scheme["name"])
		switch {
		case kind == "http" && http == "basic":
			wants = Wants{Scheme: shown, Words: "Authorization: Basic …", Authorization: "Basic"}
		case kind == "http" && http == "bearer", kind == "oauth2", kind == "openIdConnect":
			wants = Wants{Scheme: shown, Words: "Authorization: Bearer …", Authorization: "Bearer"}
		case kind == "http":
			wants = Wants{Scheme: shown, Words: "Authorization: " + oneLine(text(scheme["scheme"]), 30) + " …", Authorization: "any"}
		case kind == "apiKey" && text(scheme["in"]) == "header" && strings.EqualFold(key, "authorization"):
			wants = Wants{Scheme: shown, Words: "Authorization: …", Authorization: "any"}
		case kind == "apiKey" && text(scheme["in"]) == "header" && headerName(key):
			changes = append(changes, change{header: key, variable: "secret__" + variable(key)})
		case kind == "apiKey" && text(scheme["in"]) == "query" && key != "":
			changes = append(changes, change{query: key, variable: "secret__" + variable(key)})
		default:
			return fmt.Sprintf("its authentication %s (%s) is none that tools have", shown,
				oneLine(strings.TrimSpace(kind+" "+text(scheme["in"])), 40))
		}
	}
	for _, c := range changes {
		if p.gives(c.header) {
			continue
		}
		if optional {
			p.note("the API takes %s too, and answers without: it is not sent", oneLine(c.header+c.query, 60))
			continue
		}
		wants.Words = strings.TrimPrefix(wants.Words+", ", ", ")
		if c.header != "" {
			wants.Words += c.header + ": …"
			p.tool.Headers[c.header] = "{{" + c.variable + "}}"
		} else {
			wants.Words += "?" + oneLine(c.query, 60) + "=…"
			p.tool.HardcodedQueryParams[c.query] = "{{" + c.variable + "}}"
			p.drop(c.query)
		}
		p.tool.DynamicVariables = true
		p.tool.Variables = append(p.tool.Variables, c.variable)
	}
	p.op.Wants = wants
	return ""
}

// drop removes an argument that is replaced by the operator's value.
func (p *planner) drop(name string) {
	if !slices.Contains(p.tool.QueryParams, name) {
		return
	}
	p.tool.QueryParams = slices.DeleteFunc(p.tool.QueryParams, func(one string) bool { return one == name })
	p.required = slices.DeleteFunc(p.required, func(one any) bool { return one == name })
	delete(p.properties, name)
}

// variable returns the name of a dynamic variable.
func variable(name string) string {
	words := snake(name)
	if words == "" {
		return "key"
	}
	return words[:min(len(words), 60)]
}

func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// Authorized reports whether the document describes the Authorization header. If it does not, a
// header that the operator gives is sent with every operation.
func (d *Document) Authorized() bool {
	for _, value := range object(object(d.root["components"])["securitySchemes"]) {
		scheme, _, err := d.resolve(value)
		if err == nil && (text(scheme["type"]) != "apiKey" || strings.EqualFold(text(scheme["name"]), "authorization")) {
			return true
		}
	}
	return false
}
