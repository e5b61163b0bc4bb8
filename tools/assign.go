package tools

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Assignment keeps a value of a successful answer as a dynamic variable of the session, for later
// calls and for the agent's instructions.
type Assignment struct {
	// DynamicVariable is the variable's name, which is neither secret__… nor system__….
	DynamicVariable string `json:"dynamic_variable"`
	// ValuePath leads to the value in the answer's JSON: customer.id, items[0].id, $.total;
	// $ is the whole answer.
	ValuePath string `json:"value_path"`
}

// Bounds of assignments.
const (
	maxAssignments    = 16
	maxValuePathBytes = 200
	maxPathSteps      = 16
)

// variableName is that of a session's variables.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// pathStep is .name or [index].
var pathStep = regexp.MustCompile(`^(?:\.([A-Za-z0-9_-]+)|\[([0-9]{1,6})\])`)

// parsePath takes a path apart: strings are members, ints places in arrays.
func parsePath(path string) ([]any, bool) {
	rest, rooted := strings.CutPrefix(path, "$")
	if path == "" || len(path) > maxValuePathBytes {
		return nil, false
	}
	if !rooted && rest[0] != '[' {
		rest = "." + rest
	}
	var steps []any
	for rest != "" {
		found := pathStep.FindStringSubmatch(rest)
		if found == nil || len(steps) == maxPathSteps {
			return nil, false
		}
		if found[1] != "" {
			steps = append(steps, found[1])
		} else {
			index, _ := strconv.Atoi(found[2]) // at most six digits
			steps = append(steps, index)
		}
		rest = rest[len(found[0]):]
	}
	return steps, true
}

// Assign reads the values that an answer sets. A path that leads nowhere, to null, to an object or
// an array, or to more than 4 KiB sets nothing, so that the variable keeps its value.
func Assign(wanted []Assignment, answer json.RawMessage) map[string]string {
	values := map[string]string{}
	if len(wanted) == 0 || answer == nil {
		return values
	}
	decoded := decodeJSON(answer)
	for _, a := range wanted {
		steps, ok := parsePath(a.ValuePath)
		if !ok {
			continue // it was checked when it was stored
		}
		if text, ok := scalar(follow(decoded, steps)); ok && len(text) <= maxVariableBytes {
			values[a.DynamicVariable] = text
		}
	}
	return values
}

// follow is the value at the end of the steps; nil when there is none.
func follow(value any, steps []any) any {
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			members, _ := value.(map[string]any)
			value = members[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// scalar is a string as it is, a number or boolean as JSON has it.
func scalar(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, utf8.ValidString(value)
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	}
	return "", false
}

// assignments refuses those that could never be carried out, or would reach where they must not.
func (c *checker) assignments(list []Assignment) {
	if len(list) > maxAssignments {
		c.add("assignments", "max_items", "assignments can have at most 16 entries.")
		return
	}
	seen := map[string]bool{}
	for i, a := range list {
		field := "assignments[" + strconv.Itoa(i) + "]."
		name := a.DynamicVariable
		switch {
		case !variableName.MatchString(name):
			c.add(field+"dynamic_variable", "pattern", "dynamic_variable must be a letter or _ followed by at most 127 letters, digits or _.")
		case strings.HasPrefix(name, SecretPrefix), strings.HasPrefix(name, SystemPrefix):
			c.add(field+"dynamic_variable", "reserved", "An answer cannot set variables whose names begin with secret__ or system__.")
		case seen[name]:
			c.add(field+"dynamic_variable", "duplicate", strconv.Quote(name)+" is set twice.")
		}
		seen[name] = true
		if _, ok := parsePath(a.ValuePath); !ok {
			c.add(field+"value_path", "pattern", "value_path leads to a value of the answer's JSON, e.g. customer.id or items[0].id, with at most 16 steps and 200 bytes.")
		}
	}
}
