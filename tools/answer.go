package tools

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// answer is an endpoint's answer, up to response_max_bytes.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    bool // there was more
}

// texts are media types that are text although their name does not begin with text/.
var texts = []string{"json", "xml", "javascript", "yaml", "x-www-form-urlencoded", "graphql", "x-ndjson"}

// text is the answer as a model can read it: JSON and text as they are, anything else in words.
func (a answer) text() string {
	if len(a.body) == 0 {
		return ""
	}
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		media = ""
	}
	if !isText(media, a.body) {
		if media == "" {
			media = http.DetectContentType(a.body)
		}
		return fmt.Sprintf("[binary answer: %s, %s%d bytes; it cannot be shown as text]", media, map[bool]string{true: "more than "}[a.cut], len(a.body))
	}
	text := strings.ToValidUTF8(string(a.body), "\uFFFD")
	if a.cut {
		text = strings.TrimSuffix(text, "\uFFFD") + fmt.Sprintf("\n[cut: the answer is longer than %d bytes]", len(a.body))
	}
	return text
}

// isText goes by the declared type, and by the bytes when there is none or a nameless one.
func isText(media string, body []byte) bool {
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, name := range texts {
		if media == "application/"+name || strings.HasSuffix(media, "+"+name) {
			return true
		}
	}
	return (media == "" || media == "application/octet-stream") && utf8.Valid(body) && !strings.ContainsRune(string(body), 0)
}

// asJSON is a whole text as JSON; nil when it is none.
func asJSON(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// cutText is text's first limit bytes with a marker, or the text when it is no longer.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes]", text[:end], end, len(text))
}
