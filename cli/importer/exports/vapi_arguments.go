package exports

import (
	"net/url"
	"slices"
	"strings"
)

// arguments makes arguments of the placeholders of a URL that the model fills in. Vapi writes
// {{name}} for those and for variables. In the query they become parameters of it, because those
// may be left out.
func (t *Tool) arguments(address string) string {
	path, query, _ := strings.Cut(address, "?")
	path = t.pathArguments(path, url.PathEscape)
	var left []string
	for pair := range strings.SplitSeq(query, "&") {
		if !t.queryArgument(pair) {
			left = append(left, t.pathArguments(pair, url.QueryEscape))
		}
	}
	if query = strings.Join(left, "&"); query == "" {
		return path
	}
	return path + "?" + query
}

// properties are the parameters that the model fills in.
func (t *Tool) properties() map[string]any {
	properties, _ := t.schema["properties"].(map[string]any)
	return properties
}

// pathArguments makes {name} of each {{name}} that is a parameter, and puts in what is fixed.
func (t *Tool) pathArguments(text string, escape func(string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(placeholder.FindStringSubmatch(found)[1])
		if value, ok := t.body[name]; ok {
			return escaped(value, escape)
		}
		if value, ok := t.Want.GetHardcodedQueryParams()[name]; ok {
			return escaped(value, escape)
		}
		if _, ok := t.properties()[name]; !ok {
			return found
		}
		if !slices.Contains(t.Want.GetPathParams(), name) {
			t.Want.PathParams = append(t.Want.PathParams, name)
		}
		return "{" + name + "}"
	})
}

// queryArgument makes a parameter of the query of key={{name}}. One that may be left out and has
// another name in the query gets that name, because a parameter is sent under its own.
func (t *Tool) queryArgument(pair string) bool {
	key, value, _ := strings.Cut(pair, "=")
	if !isPlaceholder(value) {
		return false
	}
	name := strings.TrimSpace(placeholder.FindStringSubmatch(value)[1])
	property, ok := t.properties()[name]
	_, taken := t.properties()[key]
	required, _ := t.schema["required"].([]any)
	switch {
	case !ok || slices.Contains(t.Want.GetPathParams(), name) || slices.Contains(t.Want.GetQueryParams(), name):
		return false
	case key == name:
	case taken || slices.Contains(required, any(name)):
		return false
	default:
		delete(t.properties(), name)
		t.properties()[key] = property
		t.Want.InputSchemaJson = jsonText(t.schema)
		t.Notes = append(t.Notes, "has the parameter "+quoted(key)+", which was "+quoted(name)+": it is sent under its name")
	}
	t.Want.QueryParams = append(t.Want.QueryParams, key)
	return true
}

// fixedParameters reads Vapi's static values of a tool.
func (t *Tool) fixedParameters(n node) {
	fixer := newFixer(t)
	for _, one := range n.items() {
		name := one.peek("key")
		if name == "" {
			continue
		}
		value := one.at("value")
		fixer.set(value, []string{name}, name, value.value, "")
		one.at("key").became(map[bool]string{true: "tool.hardcoded_body_params", false: "tool.hardcoded_query_params"}[t.hasBody()])
	}
}
