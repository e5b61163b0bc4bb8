package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
			if strings.TrimFunc(text[at:end], IsSpace) == "" {
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

// looksBinary reports NUL, or more than one control character in fifty.
func looksBinary(text string) bool {
	chars, controls := 0, 0
	for _, r := range text {
		chars++
		if r == 0 {
			return true
		}
		if unicode.IsControl(r) && !IsSpace(r) {
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
	if isClean(text) {
		return text
	}
	return withoutControls(text)
}

func withoutControls(text string) string {
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

// isClean says of most texts, by their bytes, that they hold nothing cleanText would drop.
func isClean(text string) bool {
	for i := range len(text) {
		switch b := text[i]; {
		case b < ' ' && b != '\n' && b != '\t', b == 0x7F:
			return false
		case b == 0xC2, b == 0xEF: // the first bytes of U+0080 to U+009F and of U+FEFF
			return false
		}
	}
	return utf8.ValidString(text)
}

// IsSpace is white space between words and blocks. The zero-width space counts: it separates
// without being seen.
// IsSpace says whether a character is white space, the one of no width included.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200B' }
