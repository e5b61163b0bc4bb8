package dialect

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
)

// Encode is json.Marshal without its escapes for HTML.
func Encode(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buffer.Bytes(), "\n"), nil
}

// IsPresent reports whether a member was sent with a value other than null.
func IsPresent(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// IsObject reports whether valid JSON is an object.
func IsObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// MergeSettings returns the JSON of settings with some values replaced. Settings that are no object
// count as empty.
func MergeSettings(settings json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	var merged map[string]json.RawMessage
	if json.Unmarshal(settings, &merged) != nil || merged == nil {
		merged = map[string]json.RawMessage{}
	}
	maps.Copy(merged, values)
	encoded, _ := Encode(merged) // members that were decoded encode again
	return encoded
}

// maxShortenedBytes bounds what errors repeat of a client's words.
const maxShortenedBytes = 64

// Shorten cuts a client's word to what an error repeats of it.
func Shorten(text string) string {
	if len(text) > maxShortenedBytes {
		return strings.ToValidUTF8(text[:maxShortenedBytes], "") + "…"
	}
	return text
}

// Quote is Shorten in quotation marks.
func Quote(text string) string { return `"` + Shorten(text) + `"` }
