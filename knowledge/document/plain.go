package document

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"

	utf "golang.org/x/text/encoding/unicode"
)

// parsePlain keeps the text as it is written; a paragraph ends at a blank line.
func parsePlain(data []byte, charset string, _ Limits) (Document, error) {
	text, err := decodeText(data, charset)
	if err != nil {
		return Document{}, err
	}
	return plainDocument(text), nil
}

// plainDocument finds the paragraphs of a text that is clean already.
func plainDocument(text string) Document {
	var b builder
	for paragraph := range paragraphs(text) {
		b.add(Paragraph, paragraph)
	}
	return b.document()
}

// paragraphs yields the runs of lines between blank lines.
func paragraphs(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, at := 0, 0
		for at < len(text) {
			end := len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			if strings.TrimFunc(text[at:end], isSpace) == "" {
				if start < at && !yield(text[start:at]) {
					return
				}
				start = end
			}
			at = end
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// decodeText gives clean UTF-8 with \n line ends. A byte order mark decides the encoding, then
// the declared charset, then whether the bytes are UTF-8; what is left is windows-1252, the
// superset of Latin-1 that such files really are in.
// Errors: *Error Binary for bytes that are no text.
func decodeText(data []byte, charset string) (string, error) {
	decoder := decoderOf(data, charset)
	if decoder == nil && bytes.IndexByte(data, 0) >= 0 {
		return "", errBinary()
	}
	text := string(data)
	if decoder != nil {
		decoded, err := decoder.NewDecoder().Bytes(data)
		if err != nil {
			return "", &Error{Kind: Corrupt, Message: "The text is not in the encoding that it declares.", err: err}
		}
		text = string(decoded)
	}
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	if looksBinary(text) {
		return "", errBinary()
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n", "\u2028", "\n", "\u2029", "\n\n", "\u0085", "\n").Replace(text)
	return cleanText(text), nil
}

// decoderOf is nil for UTF-8.
func decoderOf(data []byte, charset string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		return nil
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}), bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return utf.UTF16(utf.LittleEndian, utf.UseBOM)
	case mostlyUTF8(data):
		return nil // true UTF-8 is never another charset by accident, whatever was declared
	}
	if declared, err := htmlindex.Get(charset); err == nil && declared != utf.UTF8 {
		return declared
	}
	return charmap.Windows1252
}

// mostlyUTF8 forgives stray bytes, e.g. a file cut in the middle of a character: valid
// multi-byte characters must outnumber the invalid bytes ten to one.
func mostlyUTF8(data []byte) bool {
	if utf8.Valid(data) {
		return true
	}
	valid, invalid := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 1:
			valid++
		}
		data = data[size:]
	}
	return valid >= 10*invalid
}

// looksBinary reports NUL, or more than one control character in fifty.
func looksBinary(text string) bool {
	chars, controls := 0, 0
	for _, r := range text {
		chars++
		if r == 0 {
			return true
		}
		if unicode.IsControl(r) && !isSpace(r) {
			controls++
		}
	}
	return controls*50 > chars
}

func errBinary() *Error {
	return &Error{Kind: Binary, Message: "The file is not text: it holds binary data."}
}

// cleanText drops control characters other than tab and newline; Postgres refuses NUL in text,
// and the others mean nothing to a reader or a model.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r == '\uFEFF':
			return -1
		}
		return r
	}, text)
}

// isSpace is white space between words and blocks. The zero-width space counts: it separates
// without being seen.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200B' }
