package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// answer is an endpoint's answer, up to response_max_bytes.
type answer struct {
	status int
	header http.Header
	body   []byte
	cut    bool // there was more
	// length is what the endpoint says the body has; -1 when it does not say.
	length int64
}

// maxMediaBytes is more than any registered media type has.
const maxMediaBytes = 100

// texts are media types that are text although their name does not begin with text/.
var texts = []string{"json", "xml", "javascript", "yaml", "x-yaml", "x-www-form-urlencoded", "graphql", "x-ndjson", "jsonl", "sql", "toml"}

// text is the answer as a model can read it: JSON and text as they are, HTML without its markup,
// XML without what only programs read, anything else in words.
func (a answer) text() string {
	body := a.body
	if a.cut {
		body = wholeRunes(body)
	}
	if len(body) == 0 {
		return ""
	}
	media, params := a.media(body)
	if !isText(media, params["charset"], body) {
		return a.describe(media)
	}
	text := decodeText(body, media, params["charset"])
	switch {
	case json.Valid([]byte(text)): // whatever it calls itself
	case media == "text/html" || media == "application/xhtml+xml":
		text = htmlText(text)
	case isXML(media):
		text = xmlText(text, a.cut)
	}
	if a.cut {
		text += fmt.Sprintf("\n[cut: the answer is longer than %d bytes]", len(a.body))
	}
	return text
}

// media is the declared type, or for none and a nameless one what the bytes look like.
func (a answer) media(body []byte) (string, map[string]string) {
	media, params, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err == nil && media != "application/octet-stream" && strings.Contains(media, "/") {
		return media, params
	}
	sniffed, params, err := mime.ParseMediaType(http.DetectContentType(body))
	if err != nil {
		return "application/octet-stream", nil
	}
	if params["charset"] == "utf-8" && (!utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0) {
		return "application/octet-stream", nil
	}
	return sniffed, params
}

// describe stands for an answer that is no text.
func (a answer) describe(media string) string {
	size := fmt.Sprintf("%d", len(a.body))
	switch {
	case a.length > int64(len(a.body)):
		size = fmt.Sprintf("%d", a.length)
	case a.cut:
		size = "more than " + size
	}
	return fmt.Sprintf("[binary answer: %s, %s bytes; it cannot be shown as text]", media[:min(len(media), maxMediaBytes)], size)
}

// isText goes by the type. Text in no encoding that we know is shown all the same; text that a
// charset makes of zeros is not taken for binary.
func isText(media, label string, body []byte) bool {
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, name := range texts {
		if media == "application/"+name || strings.HasSuffix(media, "+"+name) {
			return true
		}
	}
	return label != "" && utf8.Valid(body) && bytes.IndexByte(body, 0) < 0
}

func isXML(media string) bool {
	return media == "text/xml" || media == "application/xml" || strings.HasSuffix(media, "+xml")
}

// xmlEncoding is the encoding that an XML declaration names.
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)

// decodeText is a body in UTF-8: by its byte order mark, by the charset it was sent with, or by what
// it says in itself. What cannot be decoded becomes U+FFFD.
func decodeText(body []byte, media, label string) string {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		body, label = body[3:], "utf-8"
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		body, label = body[2:], "utf-16le"
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		body, label = body[2:], "utf-16be"
	case label == "" && isXML(media):
		if found := xmlEncoding.FindSubmatch(body[:min(len(body), 512)]); found != nil {
			label = string(found[1])
		}
	case label == "" && media == "text/html" && !utf8.Valid(body):
		_, label, _ = charset.DetermineEncoding(body[:min(len(body), 1024)], media)
	}
	if encoding, name := charset.Lookup(label); encoding != nil && name != "utf-8" {
		if decoded, err := encoding.NewDecoder().Bytes(body); err == nil {
			body = decoded
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// wholeRunes takes off a character that the end of the body cuts through.
func wholeRunes(body []byte) []byte {
	for back := 1; back <= min(utf8.UTFMax, len(body)); back++ {
		last := body[len(body)-back:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return body[:len(body)-back]
			}
			break
		}
	}
	return body
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
