package openapi

import (
	"encoding/json"
	"maps"
	"mime"
	"slices"
	"strings"
)

// body turns the members of the JSON body into arguments.
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
			return leftOut("tools send no body with %s", p.tool.Method)
		}
		p.note("its body is left out: tools send none with %s", p.tool.Method)
		return nil
	}
	content := object(written["content"])
	p.doc.work.spend(len(content))
	kind, ok := jsonType(content)
	if !ok && len(content) > 0 {
		return leftOut("it takes %s; tools send JSON", oneLine(strings.Join(sorted(content), ", "), 80))
	}
	if plainKind(kind) != "application/json" && kind != "" && !strings.Contains(kind, "*") {
		p.tool.Headers["Content-Type"] = kind
	}
	return p.members(p.schema.schema(object(content[kind])["schema"], 0))
}

// plainKind returns a media type in lower case without its parameters.
func plainKind(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// jsonType returns the JSON media type of a body. application/json is preferred.
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
			continue // a variable media type cannot be sent as Content-Type
		}
		if one > rank {
			best, rank = kind, one
		}
	}
	return best, rank > 0
}

// members turns the properties of a body's schema into arguments. The body must be an object.
func (p *planner) members(schema map[string]any) error {
	schema = p.flatten(schema)
	if kinds := typesOf(schema); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		kind := "of type " + kinds[0]
		if kinds[0] == "array" {
			kind = "a list"
		}
		return leftOut("its body is %s; tools send an object", kind)
	}
	if whole, there := schema["additionalProperties"]; there {
		p.open = whole
	} else if len(object(schema["properties"])) == 0 {
		p.open = true // the body is any object
	}
	needed := setOf(list(schema["required"]))
	members := object(schema["properties"])
	p.doc.work.spend(len(needed) + len(members))
	for _, name := range sorted(members) {
		must := needed[name]
		if !argumentName.MatchString(name) {
			if must {
				return leftOut("a member of its body has a name that models cannot use: %s", oneLine(name, 60))
			}
			p.note("the member %s of its body is left out: models cannot use its name", oneLine(name, 60))
			continue
		}
		p.argument(name, object(members[name]), must)
	}
	return nil
}

// flatten merges the alternatives of a body into one object schema: vendors of models accept no
// anyOf, oneOf or allOf at the top level of a tool's arguments.
func (p *planner) flatten(schema map[string]any) map[string]any {
	p.doc.work.spend(weight(schema))
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
			shape := p.flatten(object(value))
			if kinds := typesOf(shape); len(kinds) > 0 && !slices.Contains(kinds, "object") {
				if out["type"] == nil && first && name != "allOf" && len(shapes) == 1 {
					out["type"] = shape["type"]
				}
				continue
			}
			p.addShape(out, shape)
			if first || name == "allOf" {
				always = append(always, list(shape["required"])...)
			} else {
				needed := setOf(list(shape["required"]))
				always = slices.DeleteFunc(always, func(one any) bool { return !needed[one] })
			}
			p.doc.work.spend(len(always) + len(list(shape["required"])))
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

// addShape adds the properties of one alternative. A property that differs between alternatives
// becomes an anyOf.
func (p *planner) addShape(out, shape map[string]any) {
	members := maps.Clone(object(out["properties"]))
	if members == nil {
		members = map[string]any{}
	}
	p.doc.work.spend(len(members))
	for name, member := range object(shape["properties"]) {
		had, there := members[name]
		if there && !p.doc.work.same(had, member) {
			p.doc.work.spend(len(list(object(had)["anyOf"])))
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

// compact encodes a value as JSON.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "" // no value of a document does that
	}
	return string(text)
}

// setOf returns the strings of a list.
func setOf(names []any) map[any]bool {
	set := make(map[any]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func sorted[T any](members map[string]T) []string { return slices.Sorted(maps.Keys(members)) }
