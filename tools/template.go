package tools

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// placeholder finds {{ variable }} (first group) and {argument} (second group). What looks
// otherwise is text.
var placeholder = regexp.MustCompile(`\{\{ *([A-Za-z_][A-Za-z0-9_]{0,127}) *\}\}|\{([A-Za-z_][A-Za-z0-9_.-]{0,99})\}`)

// lookup finds the value of a name; false when there is none.
type lookup func(name string) (value string, ok bool)

// piece is a part of a template: text as written, a {{variable}} or an {argument}.
type piece struct {
	text     string // what stands in the template
	variable string
	argument string
}

// split cuts a template into its pieces, in order; their texts joined are the template.
func split(template string) []piece {
	var pieces []piece
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(template, -1) {
		if m[0] > at {
			pieces = append(pieces, piece{text: template[at:m[0]]})
		}
		p := piece{text: template[m[0]:m[1]]}
		if m[2] >= 0 {
			p.variable = template[m[2]:m[3]]
		} else {
			p.argument = template[m[4]:m[5]]
		}
		pieces = append(pieces, p)
		at = m[1]
	}
	if at < len(template) {
		pieces = append(pieces, piece{text: template[at:]})
	}
	return pieces
}

// placeholders lists the {argument} names of a template, each once, in order.
func placeholders(template string) []string {
	var names []string
	for _, p := range split(template) {
		if p.argument != "" && !slices.Contains(names, p.argument) {
			names = append(names, p.argument)
		}
	}
	return names
}

// errMissing is a placeholder without a value.
func errMissing(name string) *Error {
	return refuse(CodeVariableMissing, "The variable %q has no value in this conversation, so the tool was not called. It cannot be supplied as an argument; tell the user that this is not possible right now.", name)
}

// renderText replaces each {{variable}} by its value as it is; nil variables replace nothing.
// It is for JSON strings and query values, which are encoded as a whole afterwards.
func renderText(template string, variables lookup) (string, *Error) {
	if variables == nil || !strings.Contains(template, "{{") {
		return template, nil
	}
	var out strings.Builder
	for _, p := range split(template) {
		if p.variable == "" {
			out.WriteString(p.text)
			continue
		}
		value, ok := variables(p.variable)
		if !ok {
			return "", errMissing(p.variable)
		}
		out.WriteString(value)
	}
	return out.String(), nil
}

// renderHeader is renderText for a header's value: one that could begin another header is refused.
func renderHeader(name, template string, variables lookup) (string, *Error) {
	value, problem := renderText(template, variables)
	if problem != nil {
		return "", problem
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "", refuse(CodeHeaderInvalid, "The value of the header %s would hold a line break or a control character, so the tool was not called. Tell the user that this is not possible right now.", name)
	}
	return value, nil
}

// renderValue is one hardcoded or model-made JSON value with its strings rendered, at any depth.
func renderValue(value any, variables lookup) (any, *Error) {
	switch value := value.(type) {
	case string:
		return renderText(value, variables)
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			rendered, problem := renderValue(item, variables)
			if problem != nil {
				return nil, problem
			}
			out[i] = rendered
		}
		return out, nil
	case map[string]any:
		return renderObject(value, variables)
	}
	return value, nil
}

// renderObject is renderValue of an object; the names of members are left alone.
func renderObject(object map[string]any, variables lookup) (map[string]any, *Error) {
	out := make(map[string]any, len(object))
	for name, member := range object {
		rendered, problem := renderValue(member, variables)
		if problem != nil {
			return nil, problem
		}
		out[name] = rendered
	}
	return out, nil
}

// splitURL cuts a webhook_url into what comes before its path, the path, and the query, which
// has no question mark.
func splitURL(template string) (origin, path, query string) {
	authority := 0
	if at := strings.Index(template, "://"); at >= 0 {
		authority = at + len("://")
	}
	end := strings.IndexAny(template[authority:], "/?#")
	if end < 0 {
		return template, "", ""
	}
	origin, rest := template[:authority+end], template[authority+end:]
	path, query, _ = strings.Cut(rest, "?")
	return origin, path, query
}

// renderPath fills a path's placeholders. A value stays within its segment: separators are
// escaped, and one that would be empty or walk up the path is refused.
func renderPath(template string, variables, arguments lookup) (string, *Error) {
	segments := strings.Split(template, "/")
	// A variable's name holds no slash, so a placeholder never spans segments.
	for i, segment := range segments {
		rendered, filled, problem := renderPieces(segment, variables, arguments, url.PathEscape)
		if problem != nil {
			return "", problem
		}
		if filled && !staysInSegment(rendered) {
			return "", refuse(CodeArgumentUnsafe, "A value that belongs into the path of the tool's URL is empty or would change the path. Give the plain identifier and call the tool again.")
		}
		segments[i] = rendered
	}
	return strings.Join(segments, "/"), nil
}

// renderQuery fills the placeholders of the query that stands in a webhook_url.
func renderQuery(template string, variables, arguments lookup) (string, *Error) {
	rendered, _, problem := renderPieces(template, variables, arguments, url.QueryEscape)
	return rendered, problem
}

// renderPieces fills placeholders and escapes what it fills in; filled says whether there were any.
func renderPieces(template string, variables, arguments lookup, escape func(string) string) (rendered string, filled bool, problem *Error) {
	var out strings.Builder
	for _, p := range split(template) {
		switch {
		case p.variable != "" && variables != nil:
			value, ok := variables(p.variable)
			if !ok {
				return "", false, errMissing(p.variable)
			}
			out.WriteString(escape(value))
			filled = true
		case p.argument != "":
			value, ok := arguments(p.argument)
			if !ok {
				return "", false, refuse(CodeArgumentsInvalid, "The argument %q is needed for the tool's URL and must be a string, a number or a boolean. Give it and call the tool again.", p.argument)
			}
			out.WriteString(escape(value))
			filled = true
		default:
			out.WriteString(escapeLiteral(p.text))
		}
	}
	return out.String(), filled, nil
}

// staysInSegment says whether a filled segment is one step down the path, however the server
// reads escaped separators.
func staysInSegment(segment string) bool {
	plain, err := url.PathUnescape(segment)
	if err != nil || plain == "" {
		return false
	}
	steps := strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' })
	return !slices.ContainsFunc(steps, func(step string) bool { return step == "." || step == ".." })
}

// escapeLiteral escapes what may not stand in a URL and leaves the operator's own escapes.
func escapeLiteral(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}#", c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}
