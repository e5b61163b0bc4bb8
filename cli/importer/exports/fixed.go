package exports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	notFixed = "Variables are sent in bodies, queries and headers, but not inside of lists, in tools that a client runs, " +
		"and in objects of a query: have the endpoint set it."
	asText = "It is sent as a text, because variables are texts."
)

// hasBody says whether the requests of a tool have a body.
func (t *Tool) hasBody() bool {
	return slices.Contains([]string{"", "POST", "PUT", "PATCH"}, t.Want.GetMethod())
}

// fix sets a member of the body at a path to a value that the model does not choose.
func (t *Tool) fix(path []string, value any) {
	t.body = withAt(t.body, path, value)
	t.Want.HardcodedBodyParamsJson = jsonText(t.body)
	t.variables(t.Want.GetHardcodedBodyParamsJson())
}

// notInBody notes parameters that are sent in the URL, and were in the body too.
func (t *Tool) notInBody(names ...string) {
	if len(names) > 0 {
		t.Notes = append(t.Notes, "does not send "+quotedList(names)+" in its body any more, because the URL has it: have the endpoint "+
			"read it there")
	}
}

// withAt is an object with a value at a path.
func withAt(object map[string]any, path []string, value any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	if len(path) > 1 {
		inner, _ := object[path[0]].(map[string]any)
		value = withAt(inner, path[1:], value)
	}
	object[path[0]] = value
	return object
}

// fixer takes values that the model does not choose out of schemas of parameters.
type fixer struct {
	// tool is nil for a tool that a client runs.
	tool *Tool
	// field is where the schema goes.
	field string
	// note says what a person has to look at, as Tool.Notes do.
	note func(string)
}

func newFixer(tool *Tool) *fixer {
	return &fixer{tool, "tool.input_schema", func(text string) { tool.Notes = append(tool.Notes, text) }}
}

// clientFixer is for a tool that a client runs.
func clientFixer(b *builder, name string) *fixer {
	return &fixer{nil, "agent.tools_config.client_tools", func(text string) {
		b.todo(fmt.Sprintf("Look at the tool %s of the client: it %s", slugOf(name), text), "")
	}}
}

// set sends the value of a member n of the export at a path of the arguments. kind is the type of
// the parameter. An empty path is a place in a list. Where nothing but the model can set a value,
// the answer is the schema that leaves it no choice; the parameter is required then.
func (f *fixer) set(n node, path []string, name string, value any, kind string) (only map[string]any) {
	text, isText := value.(string)
	switch {
	case f.tool != nil && len(path) > 0 && f.tool.hasBody():
		f.tool.fix(path, value)
		n.became("tool.hardcoded_body_params")
		if isText && isPlaceholder(text) && kind != "" && kind != "string" {
			f.asText(n, path, name, kind)
		}
	case f.tool != nil && len(path) == 1:
		f.query(n, name, value, kind)
	case strings.Contains(jsonText(map[string]any{"v": value}), "{{"):
		n.lost(notFixed)
		f.note("does not send " + shown(path, name) + " any more, which was a variable: have the endpoint set it")
	default:
		n.became(f.field)
		if only = map[string]any{"const": value}; kind != "" && !strings.Contains(kind, " ") {
			only["type"] = kind
		}
	}
	return only
}

// query sends the value of a member n of the export in the query.
func (f *fixer) query(n node, name string, value any, kind string) {
	put(&f.tool.Want.HardcodedQueryParams, name, textOf(value))
	f.tool.variables(textOf(value))
	n.became("tool.hardcoded_query_params")
	if isPlaceholder(textOf(value)) && (kind == "array" || kind == "object") {
		f.asText(n, nil, name, kind)
	}
}

// kindOf is the type of a parameter that JSON Schema gives it, but null.
func kindOf(n node) string {
	kinds, ok := textsOf(n.at("type").value)
	if !ok {
		return n.peek("type")
	}
	return strings.Join(slices.DeleteFunc(kinds, func(kind string) bool { return kind == "null" }), " or ")
}

// asText notes a variable that was more than a text.
func (f *fixer) asText(n node, path []string, name, kind string) {
	n.lost(asText)
	f.note("sends " + shown(path, name) + " as a text and no more as " + kind + ", because variables are texts")
}

// isPlaceholder says whether a text is a variable and nothing else.
func isPlaceholder(text string) bool {
	text = strings.TrimSpace(text)
	return placeholder.FindString(text) == text && text != ""
}

// shown is the place of a parameter for people.
func shown(path []string, name string) string {
	if len(path) == 0 {
		return quoted(name)
	}
	return quoted(strings.Join(path, "."))
}

// constant finds the value that a JSON Schema gives a parameter: const at Retell, value at Vapi.
func constant(n node) (place node, ok bool) {
	for _, key := range []string{"const", "value"} {
		if n.has(key) && !isUnset(n.at(key).value) {
			return n.at(key), true
		}
	}
	return node{}, false
}

// schema is the JSON Schema of an object without the values that are fixed. all says that nothing
// is left of it. inList says that it is a member of a list.
func (f *fixer) schema(n node, path []string, inList bool) (out map[string]any, all bool) {
	given, _ := n.value.(map[string]any)
	out = maps.Clone(given)
	if items := n.at("items"); items.isObject() {
		out["items"], _ = f.schema(items, nil, true)
	}
	properties := n.at("properties")
	if len(properties.keys()) == 0 {
		return out, false
	}
	left := map[string]any{}
	required, _ := textsOf(given["required"])
	for _, name := range properties.keys() {
		property := properties.at(name)
		var below []string
		if !inList {
			below = append(slices.Clone(path), name)
		}
		place, isFixed := constant(property)
		if !isFixed && !property.isObject() {
			left[name] = property.value
			continue
		}
		var inner map[string]any
		if isFixed {
			inner = f.set(place, below, name, place.value, kindOf(property))
		} else if schema, empty := f.schema(property, below, inList); !empty {
			inner = schema
		}
		if inner != nil {
			left[name] = inner
		}
		required = requires(required, name, inner == nil, isFixed)
	}
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
	out["properties"] = left
	return out, len(left) == 0
}

// requires is a list of required names after one of them was taken out of the schema, or fixed.
func requires(names []string, name string, taken, isFixed bool) []string {
	switch {
	case taken:
		return slices.DeleteFunc(slices.Clone(names), func(one string) bool { return one == name })
	case isFixed && !slices.Contains(names, name):
		return append(slices.Clone(names), name)
	}
	return names
}
