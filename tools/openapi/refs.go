package openapi

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// maxHops limits references that lead to references.
const maxHops = 32

// outside is the error for a reference to another document, or to nothing in this one.
func outside(ref string) error {
	if strings.HasPrefix(ref, "#") {
		return fmt.Errorf("it refers to %s, which is not in the document", oneLine(ref, 80))
	}
	return fmt.Errorf("it refers to another document (%s): bundle them into one first, for example with `npx @redocly/cli bundle`",
		oneLine(ref, 80))
}

// resolve follows the $ref of an object, and the $ref of its target. Members next to $ref override
// those of the target. trail are the references that were followed.
func (d *Document) resolve(value any) (members map[string]any, trail []string, err error) {
	members = object(value)
	for range maxHops {
		ref, ok := members["$ref"].(string)
		if !ok {
			return members, trail, nil
		}
		d.work.spend(1 + (len(ref)+len(members))/64)
		target, ok := d.lookup(ref)
		if !ok {
			return nil, trail, outside(ref)
		}
		trail = append(trail, ref)
		if len(members) > 1 {
			d.work.spend(len(object(target)))
		}
		members = overlay(object(target), members, d.v30)
	}
	return nil, trail, fmt.Errorf("its reference %s leads in a circle", oneLine(trail[0], 80))
}

// overlay applies the members next to a $ref to its target. OpenAPI 3.0 ignores them, but documents
// put descriptions there.
func overlay(target, beside map[string]any, old bool) map[string]any {
	if len(beside) == 1 {
		return target
	}
	out := make(map[string]any, len(target)+len(beside))
	maps.Copy(out, target)
	for name, member := range beside {
		if name != "$ref" && (!old || name == "description" || name == "summary") {
			out[name] = member
		}
	}
	return out
}

// escapes are the escapes of JSON pointers.
var escapes = strings.NewReplacer("~1", "/", "~0", "~")

// lookup returns the value that a reference within the document names.
func (d *Document) lookup(ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	var at any = d.root
	for step := range strings.SplitSeq(pointer, "/") {
		name, err := url.PathUnescape(step)
		if err != nil {
			name = step
		}
		name = escapes.Replace(name)
		switch parent := at.(type) {
		case map[string]any:
			if at, ok = parent[name]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(name)
			if err != nil || index < 0 || index >= len(parent) {
				return nil, false
			}
			at = parent[index]
		default:
			return nil, false
		}
	}
	return at, true
}

// refName returns the last part of a reference.
func refName(ref string) string {
	return oneLine(ref[strings.LastIndexByte(ref, '/')+1:], 60)
}
