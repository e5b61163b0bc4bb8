package openapi

import (
	"encoding/json"
	"maps"
	"slices"
)

// mergeAllOf replaces allOf by one schema as far as its parts do not contradict each other. Models
// follow one schema better, and each argument needs one description.
func (t *translator) mergeAllOf(schema map[string]any) map[string]any {
	parts := list(schema["allOf"])
	if parts == nil {
		return schema
	}
	rest := maps.Clone(schema)
	delete(rest, "allOf")
	return t.mergeParts(rest, parts)
}

// mergeParts merges the parts of an allOf into a schema. Parts that contradict it stay in allOf.
func (t *translator) mergeParts(whole map[string]any, parts []any) map[string]any {
	var left []any
	for _, part := range parts {
		if !t.mergeSchema(whole, object(part)) {
			left = append(left, part)
		}
	}
	if left != nil {
		whole["allOf"] = left
	}
	return whole
}

// mergeable are the keywords that may differ between the parts of an allOf.
var mergeable = []string{"description", "default", "properties", "required", "additionalProperties"}

// mergeSchema merges part into whole. It returns false and changes nothing when they contradict
// each other.
func (t *translator) mergeSchema(whole, part map[string]any) bool {
	members, added := object(whole["properties"]), object(part["properties"])
	t.doc.work.spend(len(part) + len(members) + len(added))
	if t.doc.work.over() {
		return false
	}
	for name, value := range part {
		had, there := whole[name]
		switch {
		case !there, slices.Contains(mergeable, name), t.doc.work.same(had, value):
		default:
			return false
		}
	}
	for name, member := range added {
		had, there := members[name]
		if there && !t.doc.work.same(had, member) && !t.mergeSchema(maps.Clone(object(had)), object(member)) {
			return false
		}
	}
	for name, value := range part {
		switch name {
		case "properties":
			whole[name] = t.mergeProperties(members, added)
		case "required":
			whole[name] = t.union(list(whole[name]), list(value))
		case "additionalProperties":
			// Taken literally, each part would forbid the properties of the others.
			if _, there := whole[name]; !there && value != false {
				whole[name] = value
			}
		default:
			if _, there := whole[name]; !there {
				whole[name] = value
			}
		}
	}
	return true
}

// mergeProperties returns the properties of two parts. They do not contradict each other.
func (t *translator) mergeProperties(members, added map[string]any) map[string]any {
	merged := make(map[string]any, len(members)+len(added))
	maps.Copy(merged, members)
	for name, member := range added {
		if had, there := members[name]; there {
			both := maps.Clone(object(had))
			t.mergeSchema(both, object(member))
			member = both
		}
		merged[name] = member
	}
	return merged
}

// union returns the names of two lists of strings, each once.
func (t *translator) union(names, more []any) []any {
	t.doc.work.spend(len(names) + len(more))
	out, seen := make([]any, 0, len(names)+len(more)), map[any]bool{}
	for _, name := range slices.Concat(names, more) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// withinSize reports whether a value has at most about that many bytes.
func (t *translator) withinSize(value any, most int) bool {
	switch value.(type) {
	case []any, map[string]any:
		t.doc.work.spend(8)
	}
	return remaining(value, most) >= 0
}

// remaining subtracts the size of a value from left. It stops as soon as the result is negative.
func remaining(value any, left int) int {
	left -= 4
	switch value := value.(type) {
	case string:
		left -= len(value)
	case json.Number:
		left -= len(value)
	case []any:
		for i := 0; i < len(value) && left >= 0; i++ {
			left = remaining(value[i], left)
		}
	case map[string]any:
		for name, member := range value {
			if left < 0 {
				break
			}
			left = remaining(member, left-len(name))
		}
	}
	return left
}
