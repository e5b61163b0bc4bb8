package document

import (
	"iter"
	"strings"
	"unicode"
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
func paragraphs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, at := 0, 0
		for line := range strings.Lines(text) {
			end := at + len(line)
			if strings.TrimFunc(line, IsSpace) == "" {
				if start < at && !yield(text[start:at]) {
					return
				}
				start = end
			}
			at = end
		}
		if start < at {
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

// IsSpace says whether a character is white space between words and blocks. The one of no width
// counts: it separates without being seen.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200B' }
