package openapi

import (
	"encoding/json"
	"maps"
	"mime"
	"slices"
	"strings"
)

// body makes arguments of the members of the JSON body.
func (p *planner) body() error {
	written, _, err := p.doc.resolve(p.from["requestBody"])
	if err != nil {
		return err
	}
	if written == nil {
		return nil
	}
	if !hasBody(p.tool.Method) {
		if required(written) {
			return because("tools send no body with %s", p.tool.Method)
		}
		p.note("its body is left out: tools send none with %s", p.tool.Method)
		return nil
	}
	content := object(written["content"])
	kind, ok := jsonType(content)
	if !ok && len(content) > 0 {
		return because("it takes %s; tools send JSON", oneLine(strings.Join(sorted(content), ", "), 80))
	}
	if plainKind(kind) != "application/json" && kind != "" && !strings.Contains(kind, "*") {
		p.tool.Headers["Content-Type"] = kind
	}
	return p.members(p.schema.schema(object(content[kind])["schema"], 0))
}

// plainKind is a media type without its parameters, in small letters.
func plainKind(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// jsonType is the body's media type that is JSON: application/json before others.
func jsonType(content map[string]any) (string, bool) {
	best, rank := "", 0
	for _, kind := range sorted(content) {
		one := 0
		switch name := plainKind(kind); {
		case name == "application/json":
			one = 4
		case strings.HasSuffix(name, "+json"):
			one = 3
		case name == "*/*", name == "application/*":
			one = 2
		}
		if _, _, err := mime.ParseMediaType(kind); one == 3 && (err != nil || strings.Contains(kind, "{")) {
			continue // it cannot be sent as Content-Type, or would be filled with variables
		}
		if one > rank {
			best, rank = kind, one
		}
	}
	return best, rank > 0
}

// members makes arguments of a body's schema, which must be that of an object.
func (p *planner) members(schema map[string]any) error {
	schema = p.flat(schema)
	if kinds := typesOf(schema); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return because("its body is %s; tools send an object", map[string]string{"array": "a list"}[kinds[0]]+map[bool]string{true: "", false: "of type " + kinds[0]}[kinds[0] == "array"])
	}
	if whole, there := schema["additionalProperties"]; there {
		p.open = whole
	} else if len(object(schema["properties"])) == 0 {
		p.open = true // any object
	}
	needed := list(schema["required"])
	members := object(schema["properties"])
	for _, name := range sorted(members) {
		must := slices.Contains(needed, any(name))
		if !argumentName.MatchString(name) {
			if must {
				return because("a member of its body has a name that models cannot use: %s", oneLine(name, 60))
			}
			p.note("the member %s of its body is left out: models cannot use its name", oneLine(name, 60))
			continue
		}
		p.argument(name, object(members[name]), must)
	}
	return nil
}

// flat is a body of several possible shapes as one: vendors of models take no alternatives at the top
// of a tool's arguments.
func (p *planner) flat(schema map[string]any) map[string]any {
	out := maps.Clone(schema)
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		shapes := list(out[name])
		delete(out, name)
		if len(shapes) == 0 {
			continue
		}
		var always []any
		first := true
		for _, value := range shapes {
			shape := p.flat(object(value))
			if kinds := typesOf(shape); len(kinds) > 0 && !slices.Contains(kinds, "object") {
				if out["type"] == nil && first && name != "allOf" && len(shapes) == 1 {
					out["type"] = shape["type"]
				}
				continue
			}
			merge(out, shape)
			if first || name == "allOf" {
				always = append(always, list(shape["required"])...)
			} else {
				always = slices.DeleteFunc(always, func(one any) bool { return !slices.Contains(list(shape["required"]), one) })
			}
			first = false
		}
		if first && out["type"] == nil && out["properties"] == nil { // no shape is an object
			out["type"] = object(shapes[0])["type"]
		}
		if name != "allOf" && len(shapes) > 1 && !first {
			p.note("its body has one of several shapes; the arguments are those of all")
		}
		out["required"] = append(slices.Clone(list(out["required"])), always...)
	}
	return out
}

// merge adds the members of a shape; a member that differs is one or the other.
func merge(out, shape map[string]any) {
	members := maps.Clone(object(out["properties"]))
	if members == nil {
		members = map[string]any{}
	}
	for name, member := range object(shape["properties"]) {
		had, there := members[name]
		if there && !same(had, member) {
			choices := slices.Clone(list(object(had)["anyOf"]))
			if choices == nil || len(object(had)) > 1 {
				choices = []any{had}
			}
			member = map[string]any{"anyOf": append(choices, member)}
		}
		members[name] = member
	}
	if len(members) > 0 {
		out["properties"] = members
	}
	if whole, there := shape["additionalProperties"]; there && out["additionalProperties"] == nil {
		out["additionalProperties"] = whole
	}
}

// compact is a value as JSON.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "" // no value of a document does that
	}
	return string(text)
}

func sorted(members map[string]any) []string { return slices.Sorted(maps.Keys(members)) }

func sortedKeys(members map[string]string) []string { return slices.Sorted(maps.Keys(members)) }
