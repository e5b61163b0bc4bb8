package openapi

import (
	"maps"
	"math"
	"regexp/syntax"
	"slices"
)

const (
	// maxDescription bounds the description of an argument; whole manuals stand in some.
	maxDescription = 500
	// maxPatterns bounds the instructions of all patterns of a tool; the server refuses twice as many.
	maxPatterns = 5000
	// maxNodes bounds the schemas of one tool while they are made; written down, as many are larger than
	// maxSchemaBytes.
	maxNodes = 6_000
	// maxValue and maxEnum bound what defaults and lists of allowed values hold, in bytes; larger
	// ones are left out.
	maxValue, maxEnum = 2 << 10, 16 << 10
)

// typeNames are the types of JSON Schema.
var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// translator makes schemas of a document into JSON Schema 2020-12 without references.
type translator struct {
	doc *Document
	// deepest is how many levels are written; what lies below is any value of its type.
	deepest int

	trail    []string // references that are being followed
	nodes    int
	patterns int
	cut      []string // schemas that hold themselves
	short    bool     // whether something lay deeper
	err      error    // the first reference that led nowhere
}

// schema translates one schema. A nil schema is any value.
func (t *translator) schema(value any, level int) map[string]any {
	if allowed, isBool := value.(bool); isBool {
		if allowed {
			return map[string]any{}
		}
		return map[string]any{"not": map[string]any{}}
	}
	t.nodes++
	from, trail, err := t.doc.resolve(value)
	if err != nil {
		if t.err == nil {
			t.err = err
		}
		return map[string]any{}
	}
	for _, ref := range trail {
		if slices.Contains(t.trail, ref) {
			return t.again(from, ref)
		}
	}
	if level > t.deepest && holds(from) || t.nodes > maxNodes {
		t.short = true
		return stub(from, "Its members are left out here.")
	}
	t.trail = append(t.trail, trail...)
	defer func() { t.trail = t.trail[:len(t.trail)-len(trail)] }()
	to := t.keywords(from, level)
	if t.doc.old {
		nullable(from, to)
	}
	to = t.joined(to)
	if from["allOf"] != nil {
		t.forget(from, to)
	}
	return to
}

// forget takes members that are only answered from what is required, when one part of an allOf
// describes them and another requires them.
func (t *translator) forget(from, to map[string]any) {
	names := slices.DeleteFunc(slices.Clone(list(to["required"])), func(one any) bool {
		_, described := object(to["properties"])[text(one)]
		return !described && t.answered(from, text(one), 0)
	})
	if to["required"] = names; len(names) == 0 {
		delete(to, "required")
	}
}

// answered looks for a member that is only answered, through the parts of a schema.
func (t *translator) answered(from map[string]any, name string, hops int) bool {
	if member, ok := object(from["properties"])[name]; ok {
		return t.readOnly(member)
	}
	t.nodes++
	return hops < maxHops && t.nodes < maxNodes && slices.ContainsFunc(list(from["allOf"]), func(part any) bool {
		resolved, _, err := t.doc.resolve(part)
		return err == nil && t.answered(resolved, name, hops+1)
	})
}

// again is what stands for a schema within itself.
func (t *translator) again(from map[string]any, ref string) map[string]any {
	name := refName(ref)
	if !slices.Contains(t.cut, name) {
		t.cut = append(t.cut, name)
	}
	return stub(from, "Another "+name+", with the same members as the one around it.")
}

// stub is a schema without what is below it.
func stub(from map[string]any, words string) map[string]any {
	to := map[string]any{}
	if kinds := typesOf(from); len(kinds) > 0 {
		to["type"] = typeValue(kinds)
	}
	if !slices.Contains(typesOf(from), "object") && from["properties"] == nil && from["items"] == nil && len(to) > 0 {
		words = "" // nothing is below it
	}
	if about := sentence(prose(text(from["description"]), maxDescription), words); about != "" {
		to["description"] = about
	}
	return to
}

// holds says whether there are schemas within a schema.
func holds(from map[string]any) bool {
	for _, name := range []string{"properties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "contains"} {
		if from[name] != nil {
			return true
		}
	}
	return object(from["additionalProperties"]) != nil
}

// typesOf are the names of types that a schema has, without what is no type.
func typesOf(from map[string]any) []string {
	var kinds []string
	values := list(from["type"])
	if values == nil {
		values = []any{from["type"]}
	}
	for _, value := range values {
		if name := text(value); slices.Contains(typeNames, name) && !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// typeValue is one type as text, several as a list.
func typeValue(kinds []string) any {
	if len(kinds) == 1 {
		return kinds[0]
	}
	values := make([]any, len(kinds))
	for i, kind := range kinds {
		values[i] = kind
	}
	return values
}

// keywords translates what a schema says; what tools have no use for (examples, XML names,
// extensions) and what is not well-formed is left out.
func (t *translator) keywords(from map[string]any, level int) map[string]any {
	to := map[string]any{}
	if kinds := typesOf(from); len(kinds) > 0 {
		to["type"] = typeValue(kinds)
	}
	if about := prose(text(from["description"]), maxDescription); about != "" {
		to["description"] = about
	}
	for _, name := range []string{"const", "default"} {
		if value, ok := from[name]; ok && within(value, maxValue) {
			to[name] = value
		}
	}
	if values := list(from["enum"]); len(values) > 0 && within(values, maxEnum) {
		to["enum"] = values
	}
	if format := text(from["format"]); format != "" {
		to["format"] = format
	}
	if unique, ok := from["uniqueItems"].(bool); ok {
		to["uniqueItems"] = unique
	}
	for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
		if n, ok := from[name].(float64); ok && n >= 0 && n == math.Trunc(n) && n <= 1<<53 {
			to[name] = n
		}
	}
	t.bounds(from, to)
	t.pattern(from, to)
	t.object(from, to, level)
	t.composed(from, to, level)
	return to
}

// bounds are those of numbers: 3.0 says by a boolean that the bound itself is excluded.
func (t *translator) bounds(from, to map[string]any) {
	if n, ok := from["multipleOf"].(float64); ok && n > 0 {
		to["multipleOf"] = n
	}
	for bound, excluded := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		n, ok := from[bound].(float64)
		switch without := from[excluded].(type) {
		case bool:
			if ok && without {
				bound = excluded
			}
		case float64:
			to[excluded] = without
		}
		if ok {
			to[bound] = n
		}
	}
}

// pattern keeps a regular expression that the server can check too; another is told to the model.
func (t *translator) pattern(from, to map[string]any) {
	written := text(from["pattern"])
	if written == "" {
		return
	}
	if size := instructions(written); size > 0 && t.patterns+size <= maxPatterns {
		t.patterns += size
		to["pattern"] = written
		return
	}
	to["description"] = sentence(text(to["description"]), "It matches "+oneLine(written, 200))
}

// instructions is what a pattern compiles to; 0 when it does not.
func instructions(written string) int {
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil || len(written) > maxPatterns {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// object translates members and items.
func (t *translator) object(from, to map[string]any, level int) {
	if members := object(from["properties"]); len(members) > 0 {
		written := make(map[string]any, len(members))
		for _, name := range slices.Sorted(maps.Keys(members)) { // in order, so that limits are met at the same place each time
			if t.nodes > maxNodes {
				break
			}
			if !t.readOnly(members[name]) {
				written[name] = t.schema(members[name], level+1)
			}
		}
		to["properties"] = written
		if _, ok := to["type"]; !ok {
			to["type"] = "object"
		}
	}
	if names := t.required(from); len(names) > 0 {
		to["required"] = names
	}
	for _, name := range []string{"items", "additionalProperties", "contains", "propertyNames", "not"} {
		switch value := from[name].(type) {
		case bool:
			to[name] = value
		case map[string]any:
			to[name] = t.schema(value, level+1)
		}
	}
	if values := list(from["prefixItems"]); len(values) > 0 {
		to["prefixItems"] = t.each(values, level+1)
	}
}

// readOnly says whether a member is only ever answered.
func (t *translator) readOnly(member any) bool {
	resolved, _, err := t.doc.resolve(member)
	if err != nil {
		return false
	}
	only, _ := resolved["readOnly"].(bool)
	beside, _ := object(member)["readOnly"].(bool)
	return only || beside
}

// required are the names of members that must be there, without those that are only answered.
func (t *translator) required(from map[string]any) []any {
	var names []any
	for _, value := range list(from["required"]) {
		name, ok := value.(string)
		if ok && !slices.Contains(names, value) && !t.readOnly(object(from["properties"])[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (t *translator) each(values []any, level int) []any {
	var out []any
	for _, value := range values {
		if t.nodes > maxNodes {
			break
		}
		out = append(out, t.schema(value, level))
	}
	return out
}

// composed translates what is made of several schemas. They are no level of their own: what they
// describe is the same value.
func (t *translator) composed(from, to map[string]any, level int) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		values := list(from[name])
		if len(values) == 0 {
			continue
		}
		deeper := level + 1
		if name == "allOf" {
			deeper = level
		}
		to[name] = t.each(values, deeper)
	}
}

// nullable is 3.0's word for a type that may be null.
func nullable(from, to map[string]any) {
	if is, _ := from["nullable"].(bool); !is {
		return
	}
	null := map[string]any{"type": "null"}
	if kinds := typesOf(to); len(kinds) > 0 {
		to["type"] = typeValue(append(slices.DeleteFunc(kinds, func(kind string) bool { return kind == "null" }), "null"))
	}
	if values := list(to["enum"]); values != nil && !slices.Contains(values, nil) {
		to["enum"] = append(slices.Clone(values), nil)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if values := list(to[name]); values != nil {
			to[name] = append(values, null)
		}
	}
	if values := list(to["allOf"]); values != nil && to["type"] == nil {
		delete(to, "allOf")
		to["anyOf"] = []any{unite(map[string]any{}, values), null}
	}
}
