package openapi

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// maxURLBytes is the server's limit for the URL of a tool.
const maxURLBytes = 2048

// errLongURL is the reason why an operation with a long path has no tool.
var errLongURL = leftOut("its URL has more than 2,048 bytes")

var serverVariable = regexp.MustCompile(`\{([^{}]*)\}`)

// server returns the base URL of an operation: its own, that of its path, or that of the document.
func (p *planner) server() (string, error) {
	if p.options.Server != "" {
		return strings.TrimRight(p.options.Server, "/"), nil
	}
	written := map[string]any{"url": "/"}
	for _, from := range []any{p.from["servers"], p.item["servers"], p.doc.root["servers"]} {
		if servers := list(from); len(servers) > 0 {
			written = object(servers[0])
			break
		}
	}
	address, err := fillServer(written, p.options.Hints)
	if err != nil {
		return "", err
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return "", leftOut("its server's address %s is no URL: give %s", oneLine(address, 60), p.options.Hints.server())
	}
	if !parsed.IsAbs() {
		if p.doc.base == nil {
			return "", leftOut("the document does not say which host it is about: give %s", p.options.Hints.server())
		}
		address = p.doc.base.ResolveReference(parsed).String()
	}
	if why := p.options.checkServer(address); why != "" {
		return "", leftOut("its server's address %s: give %s", why, p.options.Hints.server())
	}
	return strings.TrimRight(address, "/"), nil
}

// fillServer replaces the variables of a server's URL by their defaults.
func fillServer(server map[string]any, hints Hints) (string, error) {
	address := text(server["url"])
	if len(address) > maxURLBytes {
		return "", leftOut("its server's address is too long: give %s", hints.server())
	}
	variables := object(server["variables"])
	var err error
	filled := serverVariable.ReplaceAllStringFunc(address, func(found string) string {
		name := found[1 : len(found)-1]
		variable := object(variables[name])
		value := text(variable["default"])
		if value == "" {
			if allowed := list(variable["enum"]); len(allowed) > 0 {
				value = text(allowed[0])
			}
		}
		if value == "" {
			err = leftOut("its server's address has the variable %s without a default: give %s", oneLine(name, 40), hints.server())
		}
		return value
	})
	return filled, err
}

// checkServer returns what is wrong with a base URL, or "". Braces are refused: they would be
// filled with a conversation's variables.
func (o Options) checkServer(address string) string {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "":
		return fmt.Sprintf("%s does not begin with https:// or http:// and a host", oneLine(address, 60))
	case parsed.User != nil:
		return "holds a user name: credentials belong into " + cmp.Or(o.Hints.Auth, "auth_header")
	case parsed.RawQuery != "" || parsed.Fragment != "" || strings.ContainsAny(address, "?#"):
		return "has a query or a fragment"
	case strings.ContainsAny(address, "{}"):
		return "has { or } in it"
	}
	return ""
}

// Server returns the base URL of the document's operations, or "" when it is not known.
func (d *Document) Server(o Options) string {
	p := planner{doc: d, options: o}
	address, err := p.server()
	if err != nil {
		return ""
	}
	return address
}
