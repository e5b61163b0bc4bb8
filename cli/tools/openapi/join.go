package openapi

import (
	"maps"
	"slices"
)

// joined writes allOf as one schema where its parts do not contradict each other: models follow
// that better, and an argument must be found at one place.
func (t *translator) joined(schema map[string]any) map[string]any {
	parts := list(schema["allOf"])
	if parts == nil {
		return schema
	}
	rest := maps.Clone(schema)
	delete(rest, "allOf")
	return unite(rest, parts)
}

// unite puts the parts of an allOf into a schema; those that contradict it stay in allOf.
func unite(whole map[string]any, parts []any) map[string]any {
	var left []any
	for _, part := range parts {
		if !join(whole, object(part)) {
			left = append(left, part)
		}
	}
	if left != nil {
		whole["allOf"] = left
	}
	return whole
}

// join puts one schema into another; false, and nothing is done, when they contradict each other.
func join(whole, part map[string]any) bool {
	for name, value := range part {
		had, there := whole[name]
		switch {
		case !there, same(had, value), slices.Contains([]string{"description", "default", "properties", "required", "additionalProperties"}, name):
		default:
			return false
		}
	}
	for name, member := range object(part["properties"]) {
		if had, there := object(whole["properties"])[name]; there && !same(had, member) && !join(maps.Clone(object(had)), object(member)) {
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
					join(both, object(member))
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
			// Each part forbids what the others add, taken word for word: nobody means that.
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

func same(a, b any) bool { return compact(a) == compact(b) }

// within says whether a value has at most so many bytes, about.
func within(value any, most int) bool { return weigh(value, most) >= 0 }

// weigh takes what a value weighs from what is left; it stops when nothing is.
func weigh(value any, left int) int {
	left -= 4
	switch value := value.(type) {
	case string:
		left -= len(value)
	case []any:
		for i := 0; i < len(value) && left >= 0; i++ {
			left = weigh(value[i], left)
		}
	case map[string]any:
		for name, member := range value {
			if left < 0 {
				break
			}
			left = weigh(member, left-len(name))
		}
	}
	return left
}
