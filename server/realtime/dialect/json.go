package dialect

import (
	"bytes"
	"encoding/json"
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

// IsPresent says whether a member was sent with a value other than null.
func IsPresent(raw json.RawMessage) bool {
	return len(raw) > 0 && !bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
}

// IsObject says whether valid JSON is an object.
func IsObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

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
