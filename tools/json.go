package tools

import (
	"bytes"
	"encoding/json"
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

// compactJSON is a decoded JSON value as text, without the HTML escapes that nobody needs here.
func compactJSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // what was decoded from JSON encodes
	return strings.TrimSuffix(out.String(), "\n")
}
