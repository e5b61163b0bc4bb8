package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxJSONNameChars bounds a key in a line.
const maxJSONNameChars = 120

// jsonName is a key as it is shown; an empty one is shown as such.
func jsonName(key string) string {
	if key = squeezed(cleanText(key)); key == "" {
		return `""`
	}
	return shortened(key, maxJSONNameChars)
}

// withoutBadLines takes a file with a value on each line, leaves out the lines that are no value,
// and says which these are; nil for a file of another kind, and for one that would stay as it is.
func withoutBadLines(text string) (kept []byte, warnings []string) {
	number, bad, records := 0, 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		value := strings.TrimSpace(line)
		switch {
		case value == "":
		case json.Valid([]byte(value)):
			kept = append(append(kept, value...), '\n')
			if value[0] == '{' || value[0] == '[' {
				records++
			}
		case records == 0 && strings.ContainsAny(value[len(value)-1:], "{[,"):
			return nil, nil // one value over several lines
		default:
			if bad++; bad <= maxWarnings {
				warnings = append(warnings, fmt.Sprintf("Line %d is not valid JSON and was left out.", number))
			}
		}
	}
	if records == 0 || bad == 0 {
		return nil, nil
	}
	if more := bad - maxWarnings; more > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more lines are not valid JSON and were left out.", more))
	}
	return kept, warnings
}

// jsonLine renders a value on one line: an object as "key: value" parts, an array as its items,
// a deeper one in parentheses; a string as it is. The keys keep their order, and double ones
// stay. Errors: the syntax of the value.
func jsonLine(raw json.RawMessage, separator string) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var s strings.Builder
	err := writeJSON(&s, decoder, separator, 0)
	return s.String(), err
}

// writeJSON renders the decoder's next value, which is at most a few levels deep.
func writeJSON(s *strings.Builder, decoder *json.Decoder, separator string, depth int) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		s.WriteString(jsonScalar(token, depth))
		return nil
	}
	brackets := [2]string{"", ""}
	if depth > 1 || depth > 0 && delimiter == '{' {
		brackets = [2]string{"(", ")"}
	}
	s.WriteString(brackets[0])
	for i := 0; decoder.More(); i++ {
		if i > 0 {
			s.WriteString(separator)
		}
		if delimiter == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // keys are strings
			s.WriteString(jsonName(name) + ": ")
		}
		if err := writeJSON(s, decoder, ", ", depth+1); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	s.WriteString(brackets[1])
	return nil
}

// jsonScalar shows a string as it is, one line of it within a line; everything else as written.
func jsonScalar(token json.Token, depth int) string {
	switch v := token.(type) {
	case string:
		if depth > 0 {
			return squeezed(v)
		}
		return newlines.Replace(v)
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return "null"
}
