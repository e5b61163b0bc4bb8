package exports

import (
	"slices"
	"strings"
)

// path reads the parameters of the path.
func (s *schema) path(n node) {
	want := s.tool.Want
	for _, name := range n.keys() {
		property := n.at(name)
		property.note(elevenNotes.property)
		if value, ok := fixed(property, "tool.webhook_url"); ok {
			want.WebhookUrl = strings.ReplaceAll(want.GetWebhookUrl(), "{"+name+"}", textOf(value))
			property.at("type").became("tool.webhook_url")
			continue
		}
		if !strings.Contains(want.GetWebhookUrl(), "{"+name+"}") {
			property.lost("The URL has no place for it.")
			continue
		}
		if s.add(property, name, true) {
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
		if value, ok := fixed(property, "tool.hardcoded_query_params"); ok {
			put(&s.tool.Want.HardcodedQueryParams, name, textOf(value))
			s.tool.variables(textOf(value))
			property.at("type").became("tool.hardcoded_query_params")
			continue
		}
		if s.add(property, name, slices.Contains(required, name)) {
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
	hasBody := slices.Contains([]string{"", "POST", "PUT", "PATCH"}, s.tool.Want.GetMethod())
	for _, name := range properties.keys() {
		property := properties.at(name)
		property.note(elevenNotes.property)
		if omitted(property) {
			continue
		}
		place := map[bool]string{true: "tool.hardcoded_body_params", false: "tool.hardcoded_query_params"}[hasBody]
		value, ok := fixed(property, place)
		switch {
		case ok && hasBody:
			s.body = with(s.body, name, value)
			s.tool.variables(jsonText(s.body))
			property.at("type").became("tool.hardcoded_body_params")
		case ok:
			put(&s.tool.Want.HardcodedQueryParams, name, textOf(value))
			s.tool.variables(textOf(value))
			property.at("type").became("tool.hardcoded_query_params")
		default:
			s.add(property, name, slices.Contains(required, name))
		}
	}
}

func with(object map[string]any, name string, value any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	object[name] = value
	return object
}

// finish writes the schema and the fixed values into the tool.
func (s *schema) finish() {
	s.tool.Want.InputSchemaJson = s.text()
	s.tool.Want.HardcodedBodyParamsJson = jsonText(s.body)
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

// object is the JSON Schema of an object; nil when there is none.
func (s *schema) object(n node) any {
	if !n.isObject() {
		return nil
	}
	n.note(elevenNotes.property)
	return s.value(n)
}

// value is the JSON Schema of a parameter. Fixed values inside of objects become constants.
func (s *schema) value(n node) any {
	n.note(elevenNotes.property)
	out := map[string]any{}
	if kind := n.at("type"); kind.exists() {
		out["type"] = kind.value
		kind.became(s.to)
	}
	n.text("description", s.to, func(text string) string {
		out["description"] = text
		return ""
	})
	n.texts("enum", s.to, func(values []string) string {
		out["enum"] = values
		return ""
	})
	if value, ok := fixed(n, s.to); ok {
		out["const"] = value
		if s.tool != nil {
			s.tool.variables(textOf(value))
		}
	}
	if required := requiredOf(n, s.to); len(required) > 0 {
		out["required"] = required
	}
	properties := n.at("properties")
	inner := map[string]any{}
	for _, name := range properties.keys() {
		if property := properties.at(name); !omitted(property) {
			inner[name] = s.value(property)
		}
	}
	if len(inner) > 0 {
		out["properties"] = inner
	}
	if items := n.at("items"); items.isObject() {
		out["items"] = s.value(items)
	}
	return out
}
