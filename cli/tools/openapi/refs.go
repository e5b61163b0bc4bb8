package openapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// maxHops is how often a reference may lead to another reference.
const maxHops = 32

// outsideError is a reference that leads out of the document, or to nothing in it.
type outsideError struct{ ref string }

func (e outsideError) Error() string {
	ref := oneLine(e.ref, 80)
	if strings.HasPrefix(e.ref, "#") {
		return fmt.Sprintf("it refers to %s, which is not in the document", ref)
	}
	return fmt.Sprintf("it refers to another document (%s): bundle them into one first, for example with `npx @redocly/cli bundle`", ref)
}

// resolve follows an object's $ref, and that of what it leads to. What stands beside a $ref goes over
// what it leads to. trail are the references that were followed.
func (d *Document) resolve(value any) (members map[string]any, trail []string, err error) {
	members = object(value)
	for range maxHops {
		ref, ok := members["$ref"].(string)
		if !ok {
			return members, trail, nil
		}
		target, ok := d.lookup(ref)
		if !ok {
			return nil, trail, outsideError{ref}
		}
		trail = append(trail, ref)
		members = overlay(object(target), members, d.old)
	}
	return nil, trail, fmt.Errorf("its reference %s leads in a circle", oneLine(trail[0], 80))
}

// overlay puts what stands beside a $ref over its target. 3.0 says that it is ignored, but
// descriptions are written there all the same.
func overlay(target, beside map[string]any, old bool) map[string]any {
	if len(beside) == 1 {
		return target
	}
	out := make(map[string]any, len(target)+len(beside))
	for name, member := range target {
		out[name] = member
	}
	for name, member := range beside {
		if name != "$ref" && (!old || name == "description" || name == "summary") {
			out[name] = member
		}
	}
	return out
}

// escapes are those of JSON pointers.
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
		switch within := at.(type) {
		case map[string]any:
			if at, ok = within[name]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(name)
			if err != nil || index < 0 || index >= len(within) {
				return nil, false
			}
			at = within[index]
		default:
			return nil, false
		}
	}
	return at, true
}

// refName is what a reference calls its target.
func refName(ref string) string {
	return oneLine(ref[strings.LastIndexByte(ref, '/')+1:], 60)
}
