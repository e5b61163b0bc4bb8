package modeltext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// Body is the body of an HTTP answer, or its beginning.
type Body struct {
	// ContentType is the header of that name. Empty when there was none.
	ContentType string
	Bytes       []byte
	// Encoding is the content encoding in which Bytes still are, because it is not known or Bytes are
	// damaged. Empty: Bytes are decoded.
	Encoding string
	// Cut says that the endpoint sent more than Bytes.
	Cut bool
	// DeclaredBytes is the Content-Length. -1 when the endpoint sent none.
	DeclaredBytes int64
}

// maxMediaTypeBytes is more than any registered media type has.
const maxMediaTypeBytes = 100

// textSubtypes are subtypes of application/ that are text. They also count as suffixes: +json.
var textSubtypes = []string{
	"json", "xml", "javascript", "yaml", "x-yaml", "x-www-form-urlencoded", "graphql", "x-ndjson", "jsonl", "sql", "toml",
}

// Text returns the body as a model can read it: JSON of any content type and text unchanged, HTML
// without its markup, XML without declarations and comments, and a description of anything else.
func (b Body) Text() string {
	body := b.Bytes
	if b.Cut {
		body = trimPartialRune(body)
	}
	if len(body) == 0 {
		return ""
	}
	media, params := b.mediaType(body)
	if b.Encoding != "" {
		return b.describe(media + " encoded as " + b.Encoding)
	}
	text := decodeText(body, media, params["charset"])
	switch {
	case json.Valid([]byte(text)): // whatever its media type
	case !isText(media, params["charset"], body), looksBinary(text):
		return b.describe(media)
	case media == "text/html" || media == "application/xhtml+xml":
		text = htmlText(text)
	case isXML(media):
		text = xmlText(text, b.Cut)
	}
	if b.Cut {
		text += fmt.Sprintf("\n[cut: the answer is longer than %d bytes]", len(b.Bytes))
	}
	return text
}

// mediaType is the declared type. When none is declared, or only application/octet-stream, the type
// is guessed from the bytes.
func (b Body) mediaType(body []byte) (string, map[string]string) {
	media, params, err := mime.ParseMediaType(b.ContentType)
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

// describe describes a body that is not text.
func (b Body) describe(media string) string {
	size := fmt.Sprintf("%d", len(b.Bytes))
	switch {
	case b.DeclaredBytes > int64(len(b.Bytes)):
		size = fmt.Sprintf("%d", b.DeclaredBytes)
	case b.Cut:
		size = "more than " + size
	}
	media = media[:min(len(media), maxMediaTypeBytes)]
	return fmt.Sprintf("[binary answer: %s, %s bytes; it cannot be shown as text]", media, size)
}

// isText decides by the media type. A body of another type is text if it declares a charset and is
// valid UTF-8 without U+0000.
func isText(media, label string, body []byte) bool {
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, name := range textSubtypes {
		if media == "application/"+name || strings.HasSuffix(media, "+"+name) {
			return true
		}
	}
	return label != "" && utf8.Valid(body) && bytes.IndexByte(body, 0) < 0
}

// looksBinary says whether text, whatever its media type says, was never text: more than a tenth of
// its characters were no UTF-8 or are control characters.
func looksBinary(text string) bool {
	bad, all := 0, 0
	for _, r := range text {
		all++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) && r != '\x1b' {
			bad++
		}
	}
	return bad > 3 && bad*10 > all
}

func isXML(media string) bool {
	return media == "text/xml" || media == "application/xml" || strings.HasSuffix(media, "+xml")
}

// xmlEncoding is the encoding that an XML declaration names.
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)

// decodeText converts a body to UTF-8. The encoding is that of the byte order mark, the charset of
// the Content-Type, or the one that the document declares. Invalid bytes become U+FFFD.
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

// trimPartialRune removes a character at the end of a cut body that is not complete.
func trimPartialRune(body []byte) []byte {
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
