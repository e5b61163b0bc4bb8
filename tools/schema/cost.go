package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxSteps bounds how often a subschema is checked against a part of the arguments: about half a
// second of work at the bound. Without it forty lines of anyOf and $ref keep a processor busy for
// years, and the library cannot be interrupted.
const maxSteps = 200_000

// checkReferences refuses references that steps cannot follow: each $ref must point into the
// document, and no keyword may change what references are relative to.
func checkReferences(document any) error {
	var scan func(node any, root bool) error
	scan = func(node any, root bool) error {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				if err := scan(item, false); err != nil {
					return err
				}
			}
		case map[string]any:
			for key, member := range node {
				text, isText := member.(string)
				switch {
				case isText && key == "$ref":
					if _, ok := resolve(document, text); !ok {
						return fmt.Errorf("$ref %q points to nothing in the schema; references must begin with #/", text)
					}
				case isText && (key == "$dynamicRef" || key == "$recursiveRef" || key == "$id" && !root):
					return fmt.Errorf("%s cannot be used here", key)
				}
				if err := scan(member, false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return scan(document, true)
}

// resolve follows a JSON pointer that begins with #.
func resolve(document any, ref string) (any, bool) {
	if ref == "#" {
		return document, true
	}
	pointer, found := strings.CutPrefix(ref, "#/")
	if !found {
		return nil, false
	}
	at := document
	for step := range strings.SplitSeq(pointer, "/") {
		plain, err := url.PathUnescape(step)
		if err != nil {
			return nil, false
		}
		plain = strings.NewReplacer("~1", "/", "~0", "~").Replace(plain)
		switch node := at.(type) {
		case map[string]any:
			if at, found = node[plain]; !found {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(plain)
			if err != nil || index < 0 || index >= len(node) {
				return nil, false
			}
			at = node[index]
		default:
			return nil, false
		}
	}
	return at, true
}

// steps counts the work of a validator that never stops early.
type steps struct {
	document any
	patterns *patterns
	left     int
}

// affordable says whether checking arguments against a schema stays within maxSteps.
func affordable(document any, patterns *patterns, arguments map[string]any) bool {
	walk := steps{document: document, patterns: patterns, left: maxSteps}
	return walk.visit(document, arguments)
}

// visit spends the steps of checking value against a schema. It returns false when none are left.
func (s *steps) visit(schema, value any) bool {
	s.left--
	if s.left < 0 {
		return false
	}
	object, ok := schema.(map[string]any)
	if !ok {
		return true
	}
	for keyword, member := range object {
		if !s.keyword(keyword, member, value) {
			return false
		}
	}
	return true
}

func (s *steps) keyword(keyword string, member, value any) bool {
	list, _ := member.([]any)
	schemas, _ := member.(map[string]any)
	switch keyword {
	case "$ref":
		ref, _ := member.(string)
		target, ok := resolve(s.document, ref)
		return ok && s.visit(target, value)
	case "enum", "required":
		s.left -= len(list)
	case "allOf", "anyOf", "oneOf":
		return all(list, func(_ int, schema any) bool { return s.visit(schema, value) })
	case "not", "if", "then", "else":
		return s.visit(member, value)
	case "dependentSchemas", "dependencies":
		return every(schemas, func(_ string, schema any) bool { return s.visit(schema, value) })
	case "properties":
		members, _ := value.(map[string]any)
		return every(members, func(name string, part any) bool { return s.visit(schemas[name], part) })
	case "pattern":
		pattern, _ := member.(string)
		text, _ := value.(string)
		s.left -= s.patterns.matching(pattern, text)
	case "patternProperties":
		return every(schemas, func(pattern string, schema any) bool {
			return s.names(pattern, value) && s.parts(schema, value)
		})
	case "propertyNames":
		members, _ := value.(map[string]any)
		return every(members, func(name string, _ any) bool { return s.visit(member, name) })
	case "additionalProperties", "unevaluatedProperties", "items", "additionalItems", "contains", "unevaluatedItems":
		if keyword == "items" && list != nil { // as prefixItems, before 2020-12
			return s.prefix(list, value)
		}
		return s.parts(member, value)
	case "prefixItems":
		return s.prefix(list, value)
	}
	return s.left >= 0
}

// prefix spends the steps of checking each item of value against the schema at its place.
func (s *steps) prefix(schemas []any, value any) bool {
	items, _ := value.([]any)
	return all(schemas[:min(len(schemas), len(items))], func(i int, schema any) bool { return s.visit(schema, items[i]) })
}

// names spends the steps of matching the name of each member against the pattern.
func (s *steps) names(pattern string, value any) bool {
	members, _ := value.(map[string]any)
	return every(members, func(name string, _ any) bool {
		s.left -= s.patterns.matching(pattern, name)
		return s.left >= 0
	})
}

// parts spends the steps of checking each member or item of value against the schema.
func (s *steps) parts(schema, value any) bool {
	items, _ := value.([]any)
	members, _ := value.(map[string]any)
	return all(items, func(_ int, part any) bool { return s.visit(schema, part) }) &&
		every(members, func(_ string, part any) bool { return s.visit(schema, part) })
}

func all(list []any, visit func(int, any) bool) bool {
	for i, item := range list {
		if !visit(i, item) {
			return false
		}
	}
	return true
}

func every(members map[string]any, visit func(string, any) bool) bool {
	for name, member := range members {
		if !visit(name, member) {
			return false
		}
	}
	return true
}
