package openapi

import (
	"encoding/json"
	"math"
	"regexp/syntax"
	"slices"
)

const (
	// maxDescription limits the description of an argument: some documents put whole manuals there.
	maxDescription = 500
	// maxPatterns limits the compiled instructions of all patterns of a tool, to half of the server's
	// limit.
	maxPatterns = 5000
	// maxNodes limits the schemas of one tool while it is made. A tool with that many exceeds
	// maxSchemaBytes.
	maxNodes = 6_000
	// maxValue and maxEnum limit the bytes of defaults and of lists of allowed values. Larger ones are
	// left out.
	maxValue, maxEnum = 2 << 10, 16 << 10
)

// typeNames are the types of JSON Schema.
var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// translator turns schemas of a document into JSON Schema 2020-12 without references.
type translator struct {
	doc *Document
	// maxLevel is the deepest level that is described. Values below it may be anything of their type.
	maxLevel int

	trail     []string // references that are being followed
	nodes     int
	patterns  int
	recursive []string // names of recursive schemas
	truncated bool     // whether levels were left out
	err       error    // the first broken reference
}

// schema translates one schema. A nil schema allows any value.
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
	t.doc.work.spend(weight(from) + len(t.trail)*len(trail)/16)
	for _, ref := range trail {
		if slices.Contains(t.trail, ref) {
			return t.recursion(from, ref)
		}
	}
	if level > t.maxLevel && hasSubschemas(from) || t.full() {
		t.truncated = true
		return t.stub(from, "Its members are left out here.")
	}
	t.trail = append(t.trail, trail...)
	defer func() { t.trail = t.trail[:len(t.trail)-len(trail)] }()
	to := t.keywords(from, level)
	if t.full() {
		return to
	}
	if t.doc.v30 {
		t.nullable(from, to)
	}
	to = t.mergeAllOf(to)
	if from["allOf"] != nil {
		t.dropReadOnly(from, to)
	}
	return to
}

// full reports whether no more schemas are visited. What was made is then not used.
func (t *translator) full() bool { return t.nodes > maxNodes || t.err != nil || t.doc.work.over() }

// dropReadOnly removes read-only properties from required. One part of an allOf may describe such a
// property while another requires it.
func (t *translator) dropReadOnly(from, to map[string]any) {
	names := slices.DeleteFunc(slices.Clone(list(to["required"])), func(one any) bool {
		_, described := object(to["properties"])[text(one)]
		return !described && t.isReadOnly(from, text(one), 0)
	})
	if to["required"] = names; len(names) == 0 {
		delete(to, "required")
	}
}

// isReadOnly looks for a read-only property in a schema and in its allOf.
func (t *translator) isReadOnly(from map[string]any, name string, hops int) bool {
	if member, ok := object(from["properties"])[name]; ok {
		return t.readOnly(member)
	}
	t.nodes++
	t.doc.work.spend(1)
	return hops < maxHops && !t.full() && slices.ContainsFunc(list(from["allOf"]), func(part any) bool {
		resolved, _, err := t.doc.resolve(part)
		return err == nil && t.isReadOnly(resolved, name, hops+1)
	})
}

// recursion replaces a schema inside itself.
func (t *translator) recursion(from map[string]any, ref string) map[string]any {
	name := refName(ref)
	if !slices.Contains(t.recursive, name) {
		t.recursive = append(t.recursive, name)
	}
	return t.stub(from, "Another "+name+", with the same members as the one around it.")
}

// stub is a schema without its subschemas.
func (t *translator) stub(from map[string]any, words string) map[string]any {
	to := map[string]any{}
	if kinds := typesOf(from); len(kinds) > 0 {
		to["type"] = typeValue(kinds)
	}
	if !slices.Contains(typesOf(from), "object") && from["properties"] == nil && from["items"] == nil && len(to) > 0 {
		words = "" // nothing is below it
	}
	if about := sentence(t.doc.description(from), words); about != "" {
		to["description"] = about
	}
	return to
}

// hasSubschemas reports whether a schema contains schemas.
func hasSubschemas(from map[string]any) bool {
	for _, name := range []string{"properties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "contains"} {
		if from[name] != nil {
			return true
		}
	}
	return object(from["additionalProperties"]) != nil
}

// typesOf returns the valid types of a schema.
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

// typeValue returns one type as text and several as a list.
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

// description returns the description of a schema or parameter, shortened.
func (d *Document) description(from map[string]any) string {
	written := text(from["description"])
	short, known := d.descriptions[written]
	if !known {
		short = prose(written, maxDescription)
		d.descriptions[written] = short
		d.work.spend(1 + min(len(written), 16*maxDescription)/64)
	}
	return short
}

// keywords translates the keywords of a schema. Malformed ones are left out, and so are those that
// tools do not use (examples, XML names, extensions).
func (t *translator) keywords(from map[string]any, level int) map[string]any {
	to := map[string]any{}
	if kinds := typesOf(from); len(kinds) > 0 {
		to["type"] = typeValue(kinds)
	}
	if about := t.doc.description(from); about != "" {
		to["description"] = about
	}
	for _, name := range []string{"const", "default"} {
		if value, ok := from[name]; ok && t.withinSize(value, maxValue) {
			to[name] = value
		}
	}
	if values := list(from["enum"]); len(values) > 0 && t.withinSize(values, maxEnum) {
		to["enum"] = values
	}
	if format := text(from["format"]); format != "" {
		to["format"] = format
	}
	if unique, ok := from["uniqueItems"].(bool); ok {
		to["uniqueItems"] = unique
	}
	for _, name := range []string{
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minContains", "maxContains",
	} {
		if n, ok := float(from[name]); ok && n >= 0 && n == math.Trunc(n) && n <= 1<<53 {
			to[name] = n
		}
	}
	t.bounds(from, to)
	t.pattern(from, to)
	t.object(from, to, level)
	t.composed(from, to, level)
	return to
}

// bounds translates the bounds of numbers. exclusiveMinimum and exclusiveMaximum are booleans in
// OpenAPI 3.0.
func (t *translator) bounds(from, to map[string]any) {
	if n, ok := float(from["multipleOf"]); ok && n > 0 {
		to["multipleOf"] = from["multipleOf"]
	}
	for bound, excluded := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		n := from[bound]
		_, ok := float(n)
		switch without := from[excluded].(type) {
		case bool:
			if ok && without {
				bound = excluded
			}
		case float64, json.Number:
			to[excluded] = without
		}
		if ok {
			to[bound] = n
		}
	}
}

// pattern keeps a regular expression that the server can compile. Others become part of the
// description.
func (t *translator) pattern(from, to map[string]any) {
	written := text(from["pattern"])
	if written == "" {
		return
	}
	if size := t.doc.instructions(written); size > 0 && t.patterns+size <= maxPatterns {
		t.patterns += size
		to["pattern"] = written
		return
	}
	to["description"] = sentence(text(to["description"]), "It matches "+oneLine(written, 200))
}

// instructions returns the size of a compiled pattern; 0 when it does not compile.
func (d *Document) instructions(written string) int {
	size, known := d.patterns[written]
	if !known {
		size = instructions(written)
		d.patterns[written] = size
		d.work.spend(len(written) + size)
	}
	return size
}

func instructions(written string) int {
	if len(written) > maxPatterns {
		return 0
	}
	parsed, err := syntax.Parse(written, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// object translates properties and items.
func (t *translator) object(from, to map[string]any, level int) {
	if members := object(from["properties"]); len(members) > 0 {
		written := make(map[string]any, len(members))
		for _, name := range sorted(members) { // sorted, so that limits always cut at the same place
			if t.full() {
				break
			}
			t.doc.work.spend(1)
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

// readOnly reports whether a property appears only in answers.
func (t *translator) readOnly(member any) bool {
	resolved, _, err := t.doc.resolve(member)
	if err != nil {
		return false
	}
	only, _ := resolved["readOnly"].(bool)
	beside, _ := object(member)["readOnly"].(bool)
	return only || beside
}

// required returns the required properties without read-only ones.
func (t *translator) required(from map[string]any) []any {
	var names []any
	written, members := list(from["required"]), object(from["properties"])
	t.doc.work.spend(len(written))
	seen := map[string]bool{}
	for _, value := range written {
		name, ok := value.(string)
		if ok && !seen[name] && !t.readOnly(members[name]) {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}

func (t *translator) each(values []any, level int) []any {
	var out []any
	for _, value := range values {
		if t.full() {
			break
		}
		out = append(out, t.schema(value, level))
	}
	return out
}

// composed translates allOf, anyOf and oneOf. The parts of an allOf describe the same value, so
// they are not a level deeper.
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

// nullable translates OpenAPI 3.0's nullable into a type.
func (t *translator) nullable(from, to map[string]any) {
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
		to["anyOf"] = []any{t.mergeParts(map[string]any{}, values), null}
	}
}
