package exports

import (
	"net/url"
	"slices"
	"strings"
)

// path reads the parameters of the path.
func (s *schema) path(n node) {
	want := s.tool.Want
	for _, name := range n.keys() {
		property := n.at(name)
		property.note(elevenNotes.property)
		if place, value, ok := fixed(property); ok {
			want.WebhookUrl = strings.ReplaceAll(want.GetWebhookUrl(), "{"+name+"}", escaped(value, url.PathEscape))
			place.became("tool.webhook_url")
			property.at("type").like(place)
			continue
		}
		if !strings.Contains(want.GetWebhookUrl(), "{"+name+"}") {
			property.lost("The URL has no place for it.")
			continue
		}
		if s.add(property, nil, name, true) {
			want.PathParams = append(want.PathParams, name)
		}
	}
}

// query reads the parameters of the query.
func (s *schema) query(n node) {
	required := requiredOf(n, "tool.input_schema")
	properties := n.at("properties")
	for _, name := range properties.keys() {
		property := properties.at(name)
		property.note(elevenNotes.property)
		if omitted(property) {
			continue
		}
		if place, value, ok := fixed(property); ok {
			s.fixer.query(place, name, value, property.peek("type"))
			property.at("type").like(place)
			continue
		}
		if s.add(property, nil, name, slices.Contains(required, name)) {
			s.tool.Want.QueryParams = append(s.tool.Want.QueryParams, name)
		}
	}
}

// readBody reads the parameters of the body.
func (s *schema) readBody(n node) {
	n.note(elevenNotes.property)
	n.at("type").became("tool.input_schema")
	required := requiredOf(n, "tool.input_schema")
	properties := n.at("properties")
	for _, name := range properties.keys() {
		property := properties.at(name)
		property.note(elevenNotes.property)
		if !omitted(property) {
			s.add(property, []string{name}, name, slices.Contains(required, name))
		}
	}
}

// finish writes the schema into the tool.
func (s *schema) finish() {
	s.tool.Want.InputSchemaJson = s.text()
}

func (s *schema) text() string {
	object := map[string]any{"type": "object", "properties": s.properties}
	if len(s.required) > 0 {
		object["required"] = s.required
	}
	return jsonText(object)
}

// requiredOf reads the names of the parameters that must be there.
func requiredOf(n node, to string) (names []string) {
	n.texts("required", to, into(&names))
	return names
}

// textOf is a fixed value as a text of a URL.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return strings.Trim(jsonText(map[string]any{"v": value}), "{}")[len(`"v":`):]
}

// escaped is a fixed value at its place in a URL. Parlance escapes variables itself.
func escaped(value any, escape func(string) string) string {
	if text := textOf(value); isPlaceholder(text) {
		return text
	}
	return escape(textOf(value))
}

// object is the JSON Schema of an object; nil when there is none.
func (s *schema) object(n node) any {
	if !n.isObject() {
		return nil
	}
	n.note(elevenNotes.property)
	schema, _ := s.value(n, nil, "")
	return schema
}

// value is the JSON Schema of a parameter at a path of the body; the path is empty elsewhere. It is
// nil for what the model does not choose.
func (s *schema) value(n node, path []string, name string) (out map[string]any, isFixed bool) {
	n.note(elevenNotes.property)
	if omitted(n) {
		return nil, true
	}
	if place, value, ok := fixed(n); ok {
		out = s.fixer.set(place, path, name, value, n.peek("type"))
		n.at("type").like(place)
		return out, true
	}
	out = map[string]any{}
	if kind := n.at("type"); kind.exists() {
		out["type"] = kind.value
		kind.became(s.fixer.field)
	}
	n.text("description", s.fixer.field, func(text string) string {
		out["description"] = text
		return ""
	})
	n.texts("enum", s.fixer.field, func(values []string) string {
		out["enum"] = values
		return ""
	})
	if items := n.at("items"); items.isObject() {
		if inner, _ := s.value(items, nil, "items"); inner != nil {
			out["items"] = inner
		}
	}
	if properties := n.at("properties"); len(properties.keys()) > 0 && !s.members(n, path, out) {
		return nil, false
	}
	return out, false
}

// members puts the members of an object that the model fills in into its schema. It is false when
// there are none.
func (s *schema) members(n node, path []string, out map[string]any) bool {
	properties := n.at("properties")
	required := requiredOf(n, s.fixer.field)
	left := map[string]any{}
	for _, name := range properties.keys() {
		var below []string
		if len(path) > 0 {
			below = append(slices.Clone(path), name)
		}
		inner, isFixed := s.value(properties.at(name), below, name)
		if inner != nil {
			left[name] = inner
		}
		required = requires(required, name, inner == nil, isFixed)
	}
	out["properties"] = left
	if len(required) > 0 {
		out["required"] = required
	}
	return len(left) > 0
}
