package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// decodeJSON decodes with numbers as they were written; nil for what is no JSON.
func decodeJSON(raw json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return value
}

// deeper says whether objects and lists lie in one another more than levels deep.
func deeper(value any, levels int) bool {
	switch value := value.(type) {
	case []any:
		return levels == 0 || slices.ContainsFunc(value, func(item any) bool { return deeper(item, levels-1) })
	case map[string]any:
		if levels == 0 {
			return true
		}
		for _, member := range value {
			if deeper(member, levels-1) {
				return true
			}
		}
	}
	return false
}

// compactJSON is a decoded JSON value as text, without the HTML escapes that nobody needs here.
func compactJSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // what was decoded from JSON encodes
	return strings.TrimSuffix(out.String(), "\n")
}
