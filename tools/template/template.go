package template

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/tools/failure"
)

// placeholder matches {{ variable }} (first group) and {argument} (second group). Anything else is
// text.
var placeholder = regexp.MustCompile(`\{\{ *([A-Za-z_][A-Za-z0-9_]{0,127}) *\}\}|\{([A-Za-z_][A-Za-z0-9_.-]{0,99})\}`)

// Lookup finds the value of a name. ok is false when there is none.
type Lookup func(name string) (value string, ok bool)

// piece is a part of a template: literal text, a {{variable}} or an {argument}.
type piece struct {
	text     string // as it is in the template
	variable string
	argument string
}

// split cuts a template into its pieces. Their texts joined are the template.
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

// Arguments lists the {argument} names of a template, each once, in order.
func Arguments(template string) []string {
	var names []string
	for _, p := range split(template) {
		if p.argument != "" && !slices.Contains(names, p.argument) {
			names = append(names, p.argument)
		}
	}
	return names
}

// HasVariables says whether a template has a {{variable}}.
func HasVariables(template string) bool {
	return slices.ContainsFunc(split(template), func(p piece) bool { return p.variable != "" })
}

// missing is the failure for a variable without a value.
func missing(name string) *failure.Error {
	return failure.New(failure.VariableMissing, "The variable %q has no value in this conversation, so the tool was not called. "+
		"It cannot be supplied as an argument; tell the user that this is not possible right now.", name)
}

// Text replaces each {{variable}} by its value without escaping it. nil variables replace nothing.
// It is for JSON strings and query values, which are encoded as a whole afterwards.
func Text(template string, variables Lookup) (string, *failure.Error) {
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
			return "", missing(p.variable)
		}
		out.WriteString(value)
	}
	return out.String(), nil
}

// Header is Text for the value of a header. It refuses a value that could begin another header.
func Header(name, template string, variables Lookup) (string, *failure.Error) {
	value, problem := Text(template, variables)
	if problem != nil {
		return "", problem
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "", failure.New(failure.HeaderInvalid, "The value of the header %s would hold a line break or a control character, "+
			"so the tool was not called. Tell the user that this is not possible right now.", name)
	}
	return value, nil
}

// Value is Text for all strings of a decoded JSON value, at any depth.
func Value(value any, variables Lookup) (any, *failure.Error) {
	switch value := value.(type) {
	case string:
		return Text(value, variables)
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			rendered, problem := Value(item, variables)
			if problem != nil {
				return nil, problem
			}
			out[i] = rendered
		}
		return out, nil
	case map[string]any:
		return Object(value, variables)
	}
	return value, nil
}

// Object is Value for an object. The names of members are not templates.
func Object(object map[string]any, variables Lookup) (map[string]any, *failure.Error) {
	out := make(map[string]any, len(object))
	for name, member := range object {
		rendered, problem := Value(member, variables)
		if problem != nil {
			return nil, problem
		}
		out[name] = rendered
	}
	return out, nil
}
