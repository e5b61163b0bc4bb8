package jsonvalue

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// MaxDepth is how deep objects and lists may be nested in schemas, arguments and hardcoded members.
// It is more than anybody writes and far less than Postgres refuses.
const MaxDepth = 100

// Decode decodes JSON with numbers as json.Number. It returns nil for invalid JSON.
func Decode(raw json.RawMessage) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return value
}

// Same reports whether two JSON values are equal, however they are spaced and ordered. Numbers are
// compared as they are written: two account numbers may be one double.
func Same(a, b json.RawMessage) bool {
	x, y := Decode(a), Decode(b)
	return x != nil && reflect.DeepEqual(x, y)
}

// Compact encodes a decoded value without white space and without escapes for HTML.
func Compact(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a value that was decoded from JSON can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}

// Raw returns text that is valid JSON as it is, and nil for other text.
func Raw(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// DeeperThan says whether objects and lists are nested more than levels deep.
func DeeperThan(value any, levels int) bool {
	switch value := value.(type) {
	case []any:
		return levels == 0 || slices.ContainsFunc(value, func(item any) bool { return DeeperThan(item, levels-1) })
	case map[string]any:
		if levels == 0 {
			return true
		}
		for _, member := range value {
			if DeeperThan(member, levels-1) {
				return true
			}
		}
	}
	return false
}

// HasNUL says whether JSON has the character U+0000, which Postgres refuses in jsonb.
func HasNUL(raw json.RawMessage) bool {
	escaped := bytes.ReplaceAll(raw, []byte(`\\`), nil)
	return bytes.Contains(escaped, []byte(`\u0000`)) || bytes.IndexByte(raw, 0) >= 0
}
