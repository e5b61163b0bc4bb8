package tools

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/platform/jsonvalue"
)

// Assignment stores a value of a successful answer as a dynamic variable of the session, for later
// calls and for the instructions of the agent.
type Assignment struct {
	// DynamicVariable is the name of the variable. It begins neither with secret__ nor with system__.
	DynamicVariable string `json:"dynamic_variable"`
	// ValuePath is the path of the value in the JSON of the answer: customer.id, items[0].id, $.total.
	// $ is the whole answer.
	ValuePath string `json:"value_path"`
}

// Bounds of assignments.
const (
	maxAssignments    = 16
	maxValuePathBytes = 200
	maxPathSteps      = 16
)

// variableName is the form of the names of variables.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// pathStep matches .name or [index].
var pathStep = regexp.MustCompile(`^(?:\.([A-Za-z0-9_-]+)|\[([0-9]{1,6})\])`)

// parsePath splits a path into its steps: strings are members, ints are array indexes.
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

// Assign returns the variables that an answer sets. A path that leads to nothing, to null, to an
// object, to an array or to more than 4 KiB sets nothing: the variable keeps its value.
func Assign(assignments []Assignment, answer json.RawMessage) map[string]string {
	values := map[string]string{}
	if len(assignments) == 0 || answer == nil {
		return values
	}
	decoded := jsonvalue.Decode(answer)
	for _, a := range assignments {
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

// follow returns the value at the end of a path, or nil.
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

// scalar is the text of a string, a number or a boolean.
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
