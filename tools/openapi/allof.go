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
	return mergeParts(rest, parts)
}

// mergeParts merges the parts of an allOf into a schema. Parts that contradict it stay in allOf.
func mergeParts(whole map[string]any, parts []any) map[string]any {
	var left []any
	for _, part := range parts {
		if !mergeSchema(whole, object(part)) {
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
func mergeSchema(whole, part map[string]any) bool {
	for name, value := range part {
		had, there := whole[name]
		switch {
		case !there, equalJSON(had, value), slices.Contains(mergeable, name):
		default:
			return false
		}
	}
	for name, member := range object(part["properties"]) {
		had, there := object(whole["properties"])[name]
		if there && !equalJSON(had, member) && !mergeSchema(maps.Clone(object(had)), object(member)) {
			return false
		}
	}
	for name, value := range part {
		switch name {
		case "properties":
			members := maps.Clone(object(whole[name]))
			if members == nil {
				members = map[string]any{}
			}
			for name, member := range object(value) {
				if had, there := members[name]; there {
					both := maps.Clone(object(had))
					mergeSchema(both, object(member))
					member = both
				}
				members[name] = member
			}
			whole[name] = members
		case "required":
			names := slices.Clone(list(whole[name]))
			for _, one := range list(value) {
				if !slices.Contains(names, one) {
					names = append(names, one)
				}
			}
			whole[name] = names
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

func equalJSON(a, b any) bool { return compact(a) == compact(b) }

// withinSize reports whether a value has at most about that many bytes.
func withinSize(value any, most int) bool { return remaining(value, most) >= 0 }

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
